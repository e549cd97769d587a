"""How a failed command speaks: one line on stderr, ``reason; what to do``, and an exit code.

==== ==========================================
code meaning
==== ==========================================
0    everything was done
1    the run finished, some files failed
2    wrong usage
3    the input cannot be used
4    the output cannot be written
5    the solver, its licence or the cluster is not available
6    a time or memory limit was reached
70   a bug in this program
130  interrupted (SIGINT)
143  terminated (SIGTERM)
==== ==========================================
"""

import errno
import platform
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any

import typer

from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Merging, Settings
from demosaic_ntc.errors import ClusterError, InputError, OutputError, SolverError
from demosaic_ntc.recipe import settings_of

from .limits import TooLittleMemory
from .streams import StdoutFailed, hang_up


class ExitCode(IntEnum):
    """What the shell is told."""

    OK = 0
    SOME_FAILED = 1
    USAGE = 2
    INPUT = 3
    OUTPUT = 4
    SOLVER = 5
    LIMIT = 6
    BUG = 70
    INTERRUPTED = 130
    TERMINATED = 143


class Terminated(BaseException):
    """SIGTERM arrived; not an `Exception`, so that only clean-up code sees it on its way out."""


# The first row that matches decides; whatever matches none is a bug in this program.
_CODES: tuple[tuple[type[BaseException], ExitCode], ...] = (
    (InputError, ExitCode.INPUT),
    (OutputError, ExitCode.OUTPUT),
    (SolverError, ExitCode.SOLVER),
    (ClusterError, ExitCode.SOLVER),
    (MemoryError, ExitCode.LIMIT),
    (StdoutFailed, ExitCode.OUTPUT),
    (TimeoutError, ExitCode.LIMIT),
    (KeyboardInterrupt, ExitCode.INTERRUPTED),
    (Terminated, ExitCode.TERMINATED),
)


# Error numbers of a machine that has run out of memory, open files, processes or threads.
_OF_THE_MACHINE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}

# How libraries word it that do not pass on the system's error number.
_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread", "out of memory")
_NO_FILES = ("too many open files",)


def exit_code(error: BaseException) -> ExitCode:
    """The exit code of an error; an OSError that nobody has explained is not taken for a bug."""
    known = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if known is not None:
        return known
    if _is_at_the_end(error):
        return ExitCode.LIMIT
    return ExitCode.OUTPUT if isinstance(error, OSError) and error.errno is not None else ExitCode.BUG


def _is_at_the_end(error: BaseException) -> bool:
    """Whether an error, or any cause of it, says that the machine has run out of something."""
    seen: BaseException | None = error
    while seen is not None:
        message = str(seen).lower() if isinstance(seen, (ImportError, RuntimeError, OSError)) else ""
        if getattr(seen, "errno", None) in _OF_THE_MACHINE or isinstance(seen, MemoryError):
            return True
        if any(words in message for words in (*_NO_MEMORY, *_NO_FILES)):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def explanation(error: BaseException, log: str | None = None) -> str:
    """The line that tells a user what is wrong and what to do; `log` holds a bug's traceback."""
    match exit_code(error):
        case ExitCode.INTERRUPTED:
            return "interrupted"
        case ExitCode.TERMINATED:
            return "terminated"
        case ExitCode.LIMIT if _is_out_of_files(error):
            return "too many open files; raise the limit (ulimit -n) or give fewer --jobs"
        case ExitCode.LIMIT if not isinstance(error, (TimeoutError, TooLittleMemory)):
            return "out of memory; choose a smaller input or give the program more memory"
        case ExitCode.OUTPUT if isinstance(error, StdoutFailed):
            return f"stdout cannot be written ({error.strerror}); send it elsewhere"
        case ExitCode.OUTPUT if isinstance(error, OSError):
            place = f"{error.filename}: " if error.filename is not None else ""
            return f"{place}the system refused ({error.strerror}); check the path and try again"
        case ExitCode.BUG:
            evidence = f"the log {log}" if log else "what --debug shows"
            return f"internal error ({type(error).__name__}: {error}); please report it with {evidence}"
        case _:
            return str(error)


def _is_out_of_files(error: BaseException) -> bool:
    """Whether the limit that was reached is the one on open files."""
    chain = (error, error.__cause__, error.__context__)
    return any(getattr(each, "errno", None) in (errno.EMFILE, errno.ENFILE) for each in chain)


def write_log(error: BaseException) -> str | None:
    """Write the traceback to a log in the temporary folder; return its path, None where that fails."""
    from importlib.metadata import version

    facts = f"demosaic-ntc {version('demosaic-ntc')}, Python {sys.version}, {platform.platform()}, {sys.argv}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="demosaic-ntc-", suffix=".log", delete=False, encoding="utf-8", errors="replace"
        ) as log:
            log.writelines((facts, "\n\n", *traceback.format_exception(error)))
    except OSError:
        return None
    return log.name


def one_line(text: str) -> str:
    """The text as one safe line: settings as options, control characters (of file names, say) escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in replace_flags(text))


@contextmanager
def exit_on_error(*, debug: bool, quiet: bool = False) -> Iterator[None]:
    """Turn any failure inside into its line on stderr and its exit code, any warning into its line."""
    try:
        with _warnings_in_one_line(quiet=quiet):
            yield
            if sys.stdout is not None:
                sys.stdout.flush()  # what cannot be written is told here, not when the interpreter ends
    except (Exception, KeyboardInterrupt, Terminated) as error:
        if _is_typers_own(error):
            raise
        if debug:
            typer.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        if isinstance(error, StdoutFailed):
            hang_up()
        code = exit_code(error)
        log = write_log(error) if code is ExitCode.BUG else None
        typer.echo(f"demosaic-ntc: {one_line(explanation(error, log))}", err=True)
        raise typer.Exit(code) from None


@contextmanager
def _warnings_in_one_line(*, quiet: bool) -> Iterator[None]:
    """Show warnings without the lines of source that Python adds, or not at all."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet:
            typer.echo(f"demosaic-ntc: warning: {one_line(str(message))}", err=True)

    previous, warnings.showwarning = warnings.showwarning, show
    try:
        yield
    finally:
        warnings.showwarning = previous


def _is_typers_own(error: BaseException) -> bool:
    """Whether typer itself handles the error: wrong usage, an exit or a closed pipe."""
    own = isinstance(error, (typer.Exit, typer.Abort)) or hasattr(error, "exit_code")
    return own or (isinstance(error, OSError) and error.errno == errno.EPIPE)


def print_lines(lines: Iterable[str]) -> None:
    """Print to stdout; if it is closed or full, the work stays done and the exit code says so."""
    try:
        for line in lines:
            typer.echo(one_line(line))
        sys.stdout.flush()
    except OSError as error:
        hang_up()
        print_note(f"stdout cannot be written ({error.strerror}); what was done stays done")
        raise typer.Exit(ExitCode.SOME_FAILED) from None


def print_note(text: str) -> None:
    """Print a note to stderr, if anybody reads it."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"demosaic-ntc: {one_line(text)}\n")  # where a progress bar lets it through
        sys.stderr.flush()


#: The options of settings that messages name; those of a batch are called as it calls them.
SETTINGS = {
    **{name: f"--{name}" for name in ("jobs", "memory", "name", "output", "report", "resume", "timeout")},
    **{
        name: each.option
        for kind in (Settings, Merging, RepairSettings)
        for name, each in settings_of(kind).items()
    },
}

_NAMED = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")


def replace_flags(text: str) -> str:
    """The text with `` `max_pixels` `` as ``--max-pixels`` and `` `wb=auto` `` as ``--wb auto``."""
    return _NAMED.sub(_flag, text)


def _flag(found: re.Match[str]) -> str:
    """A setting as an option; what only looks like one stays."""
    name, value = found.groups()
    if name not in SETTINGS:
        return found[0]
    return SETTINGS[name] + (f" {value}" if value else "")


@contextmanager
def wrong_usage(*kinds: type[Exception]) -> Iterator[None]:
    """Report errors of these kinds as wrong usage of the command."""
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(one_line(str(error))) from error
