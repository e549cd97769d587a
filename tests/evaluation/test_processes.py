"""Commands in processes of their own: how they end, what they took, and limits."""

import signal
import sys

import pytest

from evaluation.methods.processes import ProcessLimits, ProcessResult, make_command, module_paths, run_command


def run(program: str, **allowance: float) -> ProcessResult:
    return run_command([sys.executable, "-c", program], ProcessLimits(**allowance))


def test_output_errors_and_exit_codes_are_told() -> None:
    ended = run("import sys; print('made'); print('why', file=sys.stderr); sys.exit(3)")
    assert (ended.code, ended.output, ended.errors, ended.exceeded) == (3, "made\n", "why\n", "")
    assert ended.cpu_seconds > 0


def test_much_output_stops_nobody() -> None:
    assert len(run("print('a' * 1_000_000)").output) == 1_000_001


def test_a_signal_is_a_negative_code() -> None:
    assert run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").code == -signal.SIGSEGV


def test_what_takes_too_long_is_ended() -> None:
    ended = run("import time; time.sleep(60)", seconds=0.3)
    assert (ended.code, ended.exceeded) == (-signal.SIGKILL, "time")
    assert 0.3 < ended.seconds < 30


def test_what_needs_too_much_memory_is_ended() -> None:
    ended = run("kept = b'1' * 400_000_000; import time; time.sleep(60)", memory=200e6, seconds=50)
    assert (ended.code, ended.exceeded) == (-signal.SIGKILL, "memory")
    assert ended.peak_bytes > 200e6


@pytest.mark.skipif(sys.platform != "linux", reason="the mark of a process is Linux's")
def test_memory_is_that_of_the_process_alone() -> None:
    mine = b"1" * 300_000_000
    waiting = "import time; time.sleep(0.2)"
    assert run(waiting).peak_bytes < 200e6
    assert 300e6 < run(f"kept = b'1' * {len(mine)}; {waiting}").peak_bytes < 500e6


def test_the_program_is_found_from_anywhere() -> None:
    ended = run_command(make_command("--version"), environment=module_paths())
    assert ended.code == 0, ended.errors
    assert "demosaic-ntc" in ended.output
