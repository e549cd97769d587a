"""The commands ``demosaic-ntc benchmark …``: measurements beside the published ones."""

import typer

benchmark = typer.Typer(no_args_is_help=True, help="Measure against published results.")


@benchmark.callback()
def group() -> None:
    """Measure against published results."""
