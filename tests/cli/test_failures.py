import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cli.app import CommandLine
from cli.failures import ExitCode, Terminated, exit_code, exit_on_error, one_line
from cli.interrupts import signals_unwind
from demosaic_ntc.errors import DiskFull, InputError, LicenceMissing, ModelTooLarge, NotAnImage, TooLarge


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let logs of bugs go where they are found and removed again."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def failing(error: BaseException) -> typer.Typer:
    """A program whose only work is to fail."""
    program = typer.Typer(cls=CommandLine, add_completion=False, pretty_exceptions_enable=False)

    @program.callback()
    def options(debug: bool = typer.Option(False, "--debug")) -> None:
        pass

    @program.command()
    def work() -> None:
        raise error

    return program


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("a; b"), 3),
        (NotAnImage("a; b"), 3),
        (TooLarge("a; b"), 3),
        (DiskFull("a; b"), 4),
        (LicenceMissing("a; b"), 5),
        (ModelTooLarge("a; b"), 5),
        (MemoryError(), 6),
        (TimeoutError("a; b"), 6),
        (ZeroDivisionError("a"), 70),
        (KeyboardInterrupt(), 130),
        (Terminated(), 143),
    ],
)
def test_every_failure_has_its_exit_code_and_one_line(error: BaseException, code: int) -> None:
    result = CliRunner().invoke(failing(error), ["work"])
    assert result.exit_code == code == exit_code(error)
    assert result.stderr.startswith("demosaic-ntc: ")
    assert result.stderr.count("\n") == 1


def test_our_errors_are_printed_as_they_are() -> None:
    result = CliRunner().invoke(failing(InputError("no samples; give at least one")), ["work"])
    assert result.stderr == "demosaic-ntc: no samples; give at least one\n"


def test_a_bug_asks_for_a_report_and_leaves_its_traceback_in_a_log(tmp_path: Path) -> None:
    result = CliRunner().invoke(failing(ZeroDivisionError("division by zero")), ["work"])
    (log,) = tmp_path.glob("*.log")
    assert result.stderr == (
        f"demosaic-ntc: internal error (ZeroDivisionError: division by zero); "
        f"please report it with the log {log}\n"
    )
    assert "Traceback (most recent call last)" in log.read_text()
    assert version("demosaic-ntc") in log.read_text()


def test_a_bug_is_explained_where_no_log_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    result = CliRunner().invoke(failing(ZeroDivisionError("division by zero")), ["work"])
    assert "please report it with what --debug shows" in result.stderr
    assert result.exit_code == ExitCode.BUG


def test_a_failure_that_is_no_bug_leaves_no_log(tmp_path: Path) -> None:
    CliRunner().invoke(failing(InputError("a; b")), ["work"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("quiet", "said"), [(False, "demosaic-ntc: warning: slow today\n"), (True, "")])
def test_warnings_are_one_line_or_none(quiet: bool, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(), exit_on_error(debug=False, quiet=quiet):
        warnings.simplefilter("always")
        warnings.warn("slow today", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == said


def test_the_traceback_is_shown_on_request() -> None:
    result = CliRunner().invoke(failing(ZeroDivisionError("division by zero")), ["--debug", "work"])
    assert "Traceback" in result.stderr
    assert result.exit_code == ExitCode.BUG


def test_wrong_usage_stays_wrong_usage() -> None:
    result = CliRunner().invoke(failing(typer.BadParameter("no such row")), ["work"])
    assert result.exit_code == ExitCode.USAGE
    assert "no such row" in result.stderr


def test_an_exit_chosen_by_a_command_is_kept() -> None:
    result = CliRunner().invoke(failing(typer.Exit(ExitCode.SOME_FAILED)), ["work"])
    assert result.exit_code == ExitCode.SOME_FAILED
    assert result.stderr == ""


@pytest.fixture
def handlers() -> Iterator[dict[signal.Signals, Any]]:
    """What is done about signals; it is the same again after a test that was ended by one."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)]
)
def test_signals_unwind_the_stack_before_the_program_ends(
    handlers: dict[signal.Signals, Any], sent: signal.Signals, code: ExitCode
) -> None:
    cleaned = []

    def work() -> None:
        with signals_unwind(), exit_on_error(debug=False):
            try:
                os.kill(os.getpid(), sent)
            finally:
                cleaned.append("yes")

    with pytest.raises(typer.Exit) as ended:
        work()
    assert ended.value.exit_code == code
    assert cleaned == ["yes"]
    assert all(signal.getsignal(number) is not handler for number, handler in handlers.items())


def test_handlers_are_as_before_when_no_signal_came(handlers: dict[signal.Signals, Any]) -> None:
    with signals_unwind():
        pass
    assert {number: signal.getsignal(number) for number in handlers} == handlers


def test_who_ignores_interrupts_goes_on_ignoring_them(handlers: dict[signal.Signals, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with signals_unwind():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_control_characters_cannot_break_the_line() -> None:
    assert one_line("a\nb\x1b[31mc\té") == "a\\nb\\x1b[31mc\\té"
