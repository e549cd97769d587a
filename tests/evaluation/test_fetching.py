"""Sets by name, from a server on this machine: nothing here asks a network."""

import re
import shutil
import socket
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import evaluation.data.fetching as module
from cli.app import app
from demosaic_ntc.errors import InputError
from evaluation.data.fetching import KNOWN_SETS, check_folder, fetch, locate


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder and remembers what was asked for."""

    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of two pictures on a loopback server, known under the name `waves`; the cache is empty."""
    folder = tmp_path / "server"
    folder.mkdir()
    generator = np.random.default_rng(0)
    for number in (1, 2):
        Image.fromarray(generator.integers(0, 255, (40, 48, 3)).astype(np.uint8)).save(
            folder / f"{number}.png"
        )
    web = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    Thread(target=web.serve_forever, daemon=True).start()
    checksums = {n: sha256((folder / f"{n}.png").read_bytes()).hexdigest() for n in (1, 2)}
    address = f"http://127.0.0.1:{web.server_port}"
    lines = [f"wave{n}.png sha256:{checksums[n]} {address}/{n}.png" for n in (1, 2)]
    (tmp_path / "waves.txt").write_text("\n".join(["# two waves", "# licence: free", *lines]))
    monkeypatch.setattr(module, "KNOWN_SETS", {"waves": tmp_path / "waves.txt"})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("DEMOSAIC_NTC_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    Handler.asked.clear()
    yield folder
    web.shutdown()
    web.server_close()


def test_a_set_is_downloaded_once_and_its_licence_told(server: Path, tmp_path: Path) -> None:
    told: list[str] = []
    folder = fetch("waves", told.append)
    assert folder == tmp_path / "cache" / "demosaic-ntc" / "sets" / "waves"
    assert sorted(path.name for path in folder.iterdir()) == ["wave1.png", "wave2.png"]
    assert (folder / "wave2.png").read_bytes() == (server / "2.png").read_bytes()
    assert sorted(Handler.asked) == ["/1.png", "/2.png"]
    assert "two waves; licence: free" in told[1]
    told.clear()
    assert fetch("waves", told.append) == folder
    assert (len(Handler.asked), told) == (2, [])


def test_only_what_is_missing_or_damaged_is_downloaded_again(server: Path) -> None:
    folder = fetch("waves", lambda _: None)
    Handler.asked.clear()
    (folder / "wave2.png").write_bytes(b"damaged")
    fetch("waves", lambda _: None)
    assert Handler.asked == ["/2.png"]
    assert (folder / "wave2.png").read_bytes() == (server / "2.png").read_bytes()


def test_a_tampered_file_is_refused_and_not_kept(server: Path, tmp_path: Path) -> None:
    content = bytearray((server / "2.png").read_bytes())
    content[-20] ^= 1
    (server / "2.png").write_bytes(content)
    with pytest.raises(
        InputError, match=r"/2\.png: is not the picture of the set waves \(another checksum\)"
    ):
        fetch("waves", lambda _: None)
    kept = tmp_path / "cache" / "demosaic-ntc" / "sets" / "waves"
    assert [path.name for path in kept.iterdir()] == ["wave1.png"]


@pytest.mark.usefixtures("server")
def test_without_a_network_it_says_exactly_what_to_put_where(
    tmp_path: Path,
) -> None:
    with socket.socket() as port:  # one where nobody listens
        port.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{port.getsockname()[1]}"
    registry = module.KNOWN_SETS["waves"]
    registry.write_text(re.sub("http://[^/]*", closed, registry.read_text()))
    with pytest.raises(InputError, match="waves is not here") as failure:
        fetch("waves", lambda _: None)
    assert f"put its 2 files wave1.png … wave2.png into {tmp_path / 'cache'}" in str(failure.value)
    assert "DEMOSAIC_NTC_DATA" in str(failure.value)


def test_the_users_own_folder_comes_first_and_is_checked(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "data" / "waves"
    own.mkdir(parents=True)
    monkeypatch.setenv("DEMOSAIC_NTC_DATA", str(tmp_path / "data"))
    shutil.copy(server / "1.png", own / "wave1.png")
    with pytest.raises(InputError, match=r"wave2\.png: is missing"):
        fetch("waves", lambda _: None)
    shutil.copy(server / "1.png", own / "wave2.png")
    with pytest.raises(InputError, match=r"wave2\.png: is not the picture of the set waves"):
        fetch("waves", lambda _: None)
    shutil.copy(server / "2.png", own / "wave2.png")
    assert fetch("waves", lambda _: None) == own
    assert Handler.asked == []


@pytest.mark.usefixtures("server")
def test_a_folder_that_is_there_is_meant_before_a_set(tmp_path: Path) -> None:
    (tmp_path / "waves").mkdir()
    for path in (Path("waves"), Path("other")):
        assert locate(path, lambda _: None) == path
    assert Handler.asked == []


@pytest.mark.usefixtures("server")
def test_the_benchmark_takes_names() -> None:
    result = CliRunner().invoke(app, ["benchmark", "demosaic", "waves", "--methods", "bilinear"])
    assert result.exit_code == 0, result.stderr
    assert "waves: means over 2 pictures" in result.stdout
    assert "licence: free" in result.stderr


@pytest.mark.data
@pytest.mark.parametrize("name", KNOWN_SETS)
def test_the_test_data_are_the_known_sets(data: Path, name: str) -> None:
    assert check_folder(data / name, name) == data / name
    assert len(KNOWN_SETS[name].read_text().splitlines()) == {"kodak": 2 + 24, "mcmaster": 2 + 18}[name]
