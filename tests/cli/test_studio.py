"""The command ``studio``: what it needs, what it refuses, and that it ends when it is interrupted."""

import builtins
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
