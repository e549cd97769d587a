"""Decoders that crash, hang or explode: one line and exit 3; other files are not affected."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.regressions.program import PATIENCE, REPORT, ROOT, Answer, customise, run
from tests.made_raws import made

pytestmark = [pytest.mark.fault, pytest.mark.skipif(sys.platform != "linux", reason="Linux only")]
QUICK = ("--method", "bilinear")

# Put before any other module: LibRaw does what a hostile file could make it do, if the file is wide enough.
_HOSTILE = """
import ctypes, os, rawpy

class RawPy(rawpy.RawPy):
    def unpack(self):
        if self.sizes.raw_width > 100:
            {harm}
        super().unpack()

rawpy.RawPy = RawPy
"""
_HARMS = {
    "crash": "ctypes.string_at(0)",
    "abort": "os.abort()",
    "bomb": "bytes(2**40)",
    "exit": "os._exit(0)",
}


def _with(folder: Path, harm: str) -> dict[str, Any]:
    """What makes decoders do harm."""
    return {"PYTHONPATH": customise(folder, _HOSTILE.format(harm=_HARMS[harm]))}


@pytest.fixture
def hostile(samples: Path, source: Path) -> Path:
    """A wide raw beside a small one."""
    shutil.copy(samples / "scene_rggb.dng", source / "b.dng")
    return source / "b.dng"


def _check_told(answer: Answer, path: Path) -> None:
    lines = [line for line in answer.errors.splitlines() if "preparing kernels" not in line]
    assert answer.code == 3, answer.errors
    assert len(lines) == 1
    assert str(path) in lines[0]


@pytest.mark.parametrize("harm", _HARMS)
@pytest.mark.parametrize("command", ["convert", "info", "bad-pixels"])
def test_harm_is_one_line(tmp_path: Path, hostile: Path, harm: str, command: str) -> None:
    target = tmp_path / "a.png"
    words: dict[str, tuple[object, ...]] = {
        "convert": (hostile, target, *QUICK),
        "info": (hostile,),
        "bad-pixels": (hostile, "-o", target),
    }
    _check_told(run(command, *words[command], patience=PATIENCE, **_with(tmp_path, harm)), hostile)
    assert not target.exists()


@pytest.mark.parametrize("harm", ["crash", "bomb"])
def test_batches_go_on(tmp_path: Path, hostile: Path, source: Path, out: Path, harm: str) -> None:
    answer = run("batch", source, "-o", out, *QUICK, "--jobs", 1, patience=PATIENCE, **_with(tmp_path, harm))
    assert answer.code == 1
    assert (out / "a.png").exists()
    assert not (out / "b.png").exists()
    records = [json.loads(line) for line in (out / REPORT).read_text().splitlines()]
    (told,) = {record["reason"] for record in records if record.get("reason")}
    assert "the decoder crashed (signal 11, SIGSEGV)" in told or "far more memory" in told


def test_times_are_those_of_the_zone(tmp_path: Path, samples: Path) -> None:
    """LibRaw tells local time, for which the system reads a file."""
    raw = tmp_path / "a.mrw"
    raw.write_bytes(made("bayer.mrw").content)
    told = [run("info", "--json", raw, *more, TZ="Pacific/Auckland") for more in ((), ("--no-isolate",))]
    assert told[0].output == told[1].output
    assert told[0].code == 0


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_decoders_open_nothing_once_they_have_started(tmp_path: Path, small: Path) -> None:
    log = tmp_path / "calls"
    code = f"from cli.app import app; app({['convert', str(small), str(tmp_path / 'a.png'), *QUICK]!r})"
    calls = "trace=seccomp,recvmsg,sendto,%file,%network,execve,fork,vfork,clone,clone3"
    command = ["strace", "-f", "-o", str(log), "-s", "4096", "-e", calls, sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={"PYTHONPATH": str(ROOT)})
    seen = [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    ((place, decoder),) = [
        (number, pid)
        for number, (pid, call) in enumerate(seen)
        if call.startswith("seccomp(SECCOMP_SET_MODE")
    ]
    later = [call for pid, call in seen[place + 1 :] if pid == decoder]
    assert any("SCM_RIGHTS" in call for call in later)  # its input comes as an open file
    usual = re.compile(r'recvmsg|sendto|newfstatat\(\d+, "",|[+<-]')
    assert [call for call in later if not usual.match(call)] == []
