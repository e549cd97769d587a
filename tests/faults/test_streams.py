"""Standard streams that are closed, full or broken: they cost no picture, and no exit code means a bug."""

import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.fault

PROGRAM = f"{quote(sys.executable)} -c 'from cli.app import app; app()'"


def shell(command: str, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Run the program by a shell that does things to its streams."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command.replace("PROGRAM", PROGRAM)],
        cwd=folder,
        env=env,
        capture_output=True,
        check=False,
    )


CLOSED = ["<&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full", "2>&- <&-", "2>/dev/null <&-"]


@pytest.mark.parametrize("streams", CLOSED)
def test_conversion(tmp_path: Path, small: Path, streams: str) -> None:
    answer = shell(f"PROGRAM {quote(str(small))} o.png --method bilinear {streams}", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "o.png").read_bytes().startswith(b"\x89PNG")
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize("streams", [">&- 2>&-", "2>/dev/full"])
def test_repair(tmp_path: Path, samples: Path, streams: str) -> None:
    damaged, mask = (quote(str(samples / name)) for name in ("scene_damaged.png", "scene_mask.png"))
    words = f"inpaint {damaged} {mask} o.png --method biharmonic"
    answer = shell(f"PROGRAM {words} {streams}", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "o.png").stat().st_size > 0


@pytest.mark.parametrize("streams", ["<&- >&- 2>&-", "2>/dev/full"])
def test_batch(tmp_path: Path, small: Path, streams: str) -> None:
    (tmp_path / "out").mkdir()
    answer = shell(f"PROGRAM batch {quote(str(small))} -o out --method bilinear {streams}", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "out" / "small_rggb.png").stat().st_size > 0


@pytest.mark.parametrize(
    "words", ["small.dng o.png --method bilinear", "batch small.dng -o . --method bilinear"]
)
def test_full_stdout_costs_no_picture(tmp_path: Path, small: Path, words: str) -> None:
    (tmp_path / "small.dng").write_bytes(small.read_bytes())
    answer = shell(f"PROGRAM {words} >/dev/full", tmp_path)
    assert answer.returncode == 1, answer.stderr
    lines = [
        line for line in answer.stderr.splitlines() if b" of 1 files, " not in line
    ]  # how far it is, now and then
    assert len(lines) == 1, answer.stderr
    assert b"what was done stays done" in lines[0]
    assert list(tmp_path.glob("*.png"))


@pytest.mark.parametrize(
    "words",
    [
        *("info SMALL --json", "demo --tensor --size 4 --samples 20"),
        *("--version", "--help", "convert --help"),
    ],
)
def test_full_stdout_of_what_only_speaks(tmp_path: Path, small: Path, words: str) -> None:
    answer = shell(f"PROGRAM {words.replace('SMALL', quote(str(small)))} >/dev/full", tmp_path)
    assert answer.returncode == 4, answer.stderr
    assert answer.stderr.count(b"\n") == 1, answer.stderr
    assert b"stdout cannot be written" in answer.stderr


def test_broken_pipe_is_no_news(tmp_path: Path, small: Path) -> None:
    answer = shell(f"PROGRAM info {quote(str(small))} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert answer.stdout.strip() in (b"0", b"1"), answer.stderr
    assert b"Traceback" not in answer.stderr


def test_failures_keep_their_codes_without_streams(tmp_path: Path) -> None:
    assert shell("PROGRAM none.dng o.png 2>&-", tmp_path).returncode == 3
    assert shell("PROGRAM none.dng o.png >&- 2>&-", tmp_path).returncode == 3
    assert shell("PROGRAM none.dng o.xyz 2>&- ", tmp_path).returncode == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_letters_that_a_terminal_lacks(tmp_path: Path, small: Path, encoding: str) -> None:
    target = "bl\N{LATIN SMALL LETTER A WITH DIAERESIS}tter\N{CAMERA}.png"
    command = f"PYTHONIOENCODING={encoding} PROGRAM {quote(str(small))} '{target}' --method bilinear"
    answer = shell(command, tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / target).exists()


def test_open_files_run_out(tmp_path: Path, small: Path) -> None:
    answer = shell(f"ulimit -n 12; PROGRAM {quote(str(small))} o.png --method bilinear", tmp_path)
    assert answer.returncode in (0, 6), answer.stderr
    assert b"Traceback" not in answer.stderr
    batch = f"PROGRAM batch {quote(str(small))} -o out --method bilinear"
    answer = shell(f"mkdir out; ulimit -n 12; {batch}", tmp_path)
    assert answer.returncode in (0, 6), answer.stderr
    assert b"please report" not in answer.stderr


@pytest.mark.parametrize("limit", [300_000, 450_000, 1_500_000])
def test_memory_runs_out(tmp_path: Path, small: Path, limit: int) -> None:
    answer = shell(f"ulimit -v {limit}; PROGRAM {quote(str(small))} o.png --method bilinear", tmp_path)
    assert answer.returncode in (0, 6), (answer.returncode, answer.stderr)
    assert b"interrupted" not in answer.stderr
    assert b"Traceback" not in answer.stderr
