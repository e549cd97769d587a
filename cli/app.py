"""The program ``demosaic-ntc``: its commands and what they share.

Commands import what they need when they run: ``--help`` must answer at once, and compiled kernels,
image libraries and plots take seconds to load.
"""

import atexit
import gc
import os
import sys
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from demosaic_ntc.machine import keep_freed_memory

from .arguments.finite import leave_paths_alone
from .arguments.help_format import Command, CommandGroup
from .commands.bad_pixels import bad_pixels
from .commands.batch import batch
from .commands.compare import compare
from .commands.convert import convert
from .commands.demo import demo
from .commands.info import info
from .commands.inpaint import inpaint
from .commands.merge import merge
from .commands.prepare import prepare
from .commands.studio import studio
from .commands.watch import watch
from .failures import exit_code, exit_on_error, explanation
from .interrupts import signals_unwind
from .limits import check_limits, forget_odd_date
from .measuring import COMMANDS
from .streams import StdoutFailed, hang_up, sound_streams

DEFAULT_COMMAND = "convert"

# Pictures are worked on in threads of our own: those of BLAS would only spin beside them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# When the interpreter ends it looks for garbage in all that was loaded, and the system frees it anyway.
atexit.register(gc.freeze)


class CommandLine(CommandGroup):
    """The commands; one of them is meant when none is named, and a failure explains itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read ``photo.dng out.png`` as ``convert photo.dng out.png``."""
        return super().parse_args(ctx, self.insert_default_command(ctx, args))

    def insert_default_command(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command after the program's own options unless a command is named there.

        The program's own options are all flags: the first token that is none of them is the command's place.
        """
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        place = next((i for i, token in enumerate(args) if token not in own), len(args))
        named = place == len(args) or args[place] in self.commands
        if named or DEFAULT_COMMAND not in self.commands:
            return args
        self._refuse_typo(ctx, args[place])
        return [*args[:place], DEFAULT_COMMAND, *args[place:]]

    def _refuse_typo(self, ctx: Any, token: str) -> None:
        """Refuse what is no file and looks like a command that was typed wrong."""
        if token.startswith("-") or "." in token or os.path.lexists(token):
            return
        for likely in get_close_matches(token, self.commands, n=1):
            ctx.fail(f"There is no command {token!r}; did you mean {likely!r}?")

    def main(self, *arguments: Any, **named: Any) -> Any:
        """Run the program on streams that are there; --help and --version may fail before a command runs."""
        with sound_streams():
            try:
                return super().main(*arguments, **named)
            except StdoutFailed as error:
                hang_up()
                typer.echo(f"demosaic-ntc: {explanation(error)}", err=True)
                sys.exit(exit_code(error))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a failure becomes one line and an exit code, a signal unwinds the stack."""
        with signals_unwind(), exit_on_error(debug=bool(ctx.params.get("debug"))):
            forget_odd_date()
            check_limits()
            keep_freed_memory()
            return super().invoke(ctx)


app = typer.Typer(
    cls=CommandLine,
    name="demosaic-ntc",
    help="Convert camera raws and repair damaged pictures, without a trained network.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"demosaic-ntc {version('demosaic-ntc')}")
        raise typer.Exit


@app.callback()
def program(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")] = False,
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Convert camera raws and repair damaged pictures, without a trained network."""


benchmark = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Measure against published results.")


@benchmark.callback()
def group() -> None:
    """Measure against published results."""


for _command in (convert, merge, inpaint, studio, batch, watch, info, bad_pixels, demo, compare, prepare):
    app.command(_command.__name__.replace("_", "-"), cls=Command)(_command)
for _name, _measure in COMMANDS.items():
    benchmark.command(_name, cls=Command)(_measure)
app.add_typer(benchmark, name="benchmark")
leave_paths_alone(app)
