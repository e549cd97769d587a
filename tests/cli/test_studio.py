"""The command ``studio``: what it needs, what it refuses, and that it ends when it is interrupted."""

import builtins
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from tests.batch.batches import PATIENCE


def test_without_its_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("demosaic_ntc.studio"):
            raise ModuleNotFoundError("No module named 'starlette'", name="starlette")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    result = CliRunner().invoke(app, ["studio"])
    assert result.exit_code == 5
    assert "studio needs starlette; pip install 'demosaic-ntc[studio]'" in result.stderr


def test_a_wrong_path_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["studio", str(tmp_path / "none.png")])
    assert result.exit_code == 3
    assert "none.png: there is no such file" in result.stderr


def test_it_shows_its_address_and_ends_on_an_interrupt(
    start: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path
) -> None:
    pytest.importorskip("starlette")
    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    with start("studio", tmp_path, "--no-browser") as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode()
        assert address.startswith("http://127.0.0.1:")
        assert "/?token=" in address
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_a_browser_that_stays_holds_up_nothing_and_is_not_told_the_secret(
    start: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody on a machine sees what programs are started with."""
    pytest.importorskip("starlette")
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" >"{told}.new"; mv "{told}.new" "{told}"; exec sleep 600\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with start("studio") as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        end = time.monotonic() + PATIENCE
        while not told.exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        with urlopen(address, timeout=PATIENCE) as page:
            assert page.status == 200
        secret = address.partition("token=")[2]
        assert secret not in told.read_text()
        doorway = Path(told.read_text().removeprefix("file://"))
        assert secret in doorway.read_text()
        assert stat.S_IMODE(doorway.stat().st_mode) == 0o600
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert not doorway.exists()


def test_what_a_killed_studio_left_is_cleared_by_the_next(
    start: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("starlette")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    other = tmp_path / "demosaic-ntc-studio-of-somebody"
    other.mkdir()
    with start("studio", "--no-browser") as killed:
        assert killed.stdout is not None
        killed.stdout.readline()
        left = set(tmp_path.glob("demosaic-ntc-studio-*")) - {other}
        assert len(left) == 1
        with start("studio", "--no-browser") as second:
            assert second.stdout is not None
            second.stdout.readline()
            assert all(folder.exists() for folder in left)  # of one that runs
            killed.kill()
            killed.wait(PATIENCE)
            second.send_signal(signal.SIGINT)
            second.wait(PATIENCE)
    with start("studio", "--no-browser") as third:
        assert third.stdout is not None
        third.stdout.readline()
        assert not any(folder.exists() for folder in left)
        third.send_signal(signal.SIGINT)
        third.wait(PATIENCE)
    assert list(tmp_path.glob("demosaic-ntc-studio-*")) == [other]
