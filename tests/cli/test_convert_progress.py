"""What a terminal shows while a picture is made, and that nothing is shown where nobody looks."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.batch.batches import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def _on_a_terminal(*arguments: object) -> str:
    """What the program writes to a terminal on its stderr."""
    ours, its = pty.openpty()
    command = [sys.executable, "-c", "from cli.app import app; app()", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
    assert process.wait(timeout=PATIENCE) == 0
    return shown.decode()


def test_stages_and_shares_are_shown_on_a_terminal(tmp_path: Path, small: Path) -> None:
    shown = _on_a_terminal(small, tmp_path / "a.png", "--method", "bilinear")
    assert "writing" in shown
    assert "100%" in shown


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_shows_nothing(tmp_path: Path, small: Path, option: str) -> None:
    assert _on_a_terminal(small, tmp_path / "a.png", "--method", "bilinear", option) == ""


def test_no_bar_where_stderr_is_no_terminal(tmp_path: Path, small: Path) -> None:
    command = [sys.executable, "-c", "from cli.app import app; app()", str(small), str(tmp_path / "a.png")]
    answer = subprocess.run([*command, "--method", "bilinear"], cwd=ROOT, capture_output=True, check=True)
    assert answer.stderr == b""
