"""The commands ``demosaic-ntc benchmark …``, attached to the program."""

import typer

from ..arguments.help_format import Command, CommandGroup
from ..measuring import COMMANDS

benchmark = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Measure against published results.")


@benchmark.callback()
def group() -> None:
    """Measure against published results."""


for name, command in COMMANDS.items():
    benchmark.command(name, cls=Command)(command)
