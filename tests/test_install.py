"""The installed program, used away from the checkout; the wheel itself is tried by .ci/run."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("demosaic-ntc")

Answer = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def answer(tmp_path: Path) -> Answer:
    """Run a program in an empty folder, without anything on the path but what is installed."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(word) for word in words], cwd=tmp_path, env=env, capture_output=True, text=True
        )

    return run


def test_program_knows_its_version(answer: Answer) -> None:
    assert answer(PROGRAM, "--version").stdout == f"demosaic-ntc {version('demosaic-ntc')}\n"


def test_program_converts(answer: Answer, small: Path, tmp_path: Path) -> None:
    done = answer(PROGRAM, small, "out.png", "--method", "bilinear")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.png").stat().st_size > 0


def test_commands_find_the_measurements_beside_them(answer: Answer) -> None:
    done = answer(
        PROGRAM, "benchmark", "paper", "--table", "1", "--rows", "10", "--methods", "mean", "--reps", "1"
    )
    assert done.returncode == 0, done.stderr
    assert "NMSE" in done.stdout


def test_no_generic_name_is_taken(answer: Answer) -> None:
    code = (
        "import importlib.util as u; print([n for n in ('cli', 'evaluation', 'samples') if u.find_spec(n)])"
    )
    assert answer(sys.executable, "-c", code).stdout == "[]\n"
