"""Promises that a studio once broke: its identity, its names, what it leaves behind."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.faults.regressions.program import PATIENCE, start, until, write_picture

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")
httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.fault

# Seconds after which a server that has said its address is taken to be silent.
_SILENCE = 60.0


@dataclass(frozen=True)
class Page:
    """A studio that runs, and a browser that has opened its page."""

    process: "subprocess.Popen[bytes]"
    address: str
    client: Any

    @property
    def base(self) -> str:
        """The address that all requests begin with."""
        return self.address.partition("?")[0].rstrip("/")

    @property
    def origin(self) -> str:
        return "/".join(self.address.split("/")[:3])

    def ask(self, method: str, path: str, **more: Any) -> Any:
        headers = {"Origin": self.origin, **more.pop("headers", {})}
        return self.client.request(method, f"{self.base}/api/{path}", headers=headers, **more)

    def upload(self, name: str, content: bytes) -> Any:
        return self.ask("POST", "pictures", content=content, headers={"X-Name": quote(name)})

    def is_open(self) -> bool:
        """Whether the first picture can be worked on."""
        return bool(self.ask("GET", "state").json()["pictures"][0]["sheet"])


@contextmanager
def studio(*words: object, **environment: str) -> Iterator[Page]:
    """A studio while the block lasts; it is interrupted at its end."""
    process = start("studio", *words, **environment)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        with httpx.Client(timeout=_SILENCE) as client:
            yield Page(process, address, client)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def opened(*words: object, **environment: str) -> Iterator[Page]:
    """A studio whose page has been opened, without a browser."""
    with studio(*words, "--no-browser", **environment) as page:
        assert page.client.get(page.address).status_code == 200
        yield page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A studio that tests share."""
    picture = tmp_path_factory.mktemp("studio") / "a.png"
    write_picture(picture)
    with opened(picture) as page:
        assert until(page.is_open)
        yield page


@pytest.mark.parametrize("foreign", ['prefs={"a":1}', "flag", "user=José"])
def test_cookies_of_other_services_lock_nobody_out(page: Page, foreign: str) -> None:
    ours = "; ".join(f"{name}={value}" for name, value in page.client.cookies.items())
    sent = f"{foreign}; {ours}; {foreign}".encode()
    assert httpx.get(f"{page.base}/api/state", headers={b"Cookie": sent}).status_code == 200


def test_cookie_is_bound_to_a_path_of_its_own(page: Page) -> None:
    """Cookies go to every port of a machine, but not to every path."""
    (cookie,) = page.client.cookies.jar
    assert cookie.path not in ("", "/")


@pytest.mark.parametrize("path", ["pictures/{}/mask.png", "pictures/1/tiles/before/{}/0/0"])
def test_numbers_without_end_are_refused(page: Page, path: str) -> None:
    assert 400 <= page.ask("GET", path.format("9" * 5000)).status_code < 500


def test_long_names_are_no_bug(page: Page, tmp_path: Path) -> None:
    write_picture(tmp_path / "b.png")
    answer = page.upload(f"{'照' * 120}.png", (tmp_path / "b.png").read_bytes())
    assert answer.status_code < 500, answer.text


def test_save_pressed_twice_gives_two_files(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png")
    (tmp_path / "a.mask.png").unlink()
    with opened(tmp_path / "a.png") as page:
        assert until(page.is_open)
        stroke = {"tool": "brush", "radius": 2.0, "points": [[9, 9]]}
        assert page.ask("POST", "pictures/1/mask", json=stroke).status_code == 200
        wanted = {"format": "png", "quality": "fast"}
        for _ in range(2):
            assert page.ask("POST", "pictures/1/save", json=wanted).status_code == 200
        assert until(lambda: len(list(tmp_path.glob("a_*.png"))) == 2, _SILENCE), os.listdir(tmp_path)


def test_command_to_copy_has_no_control_characters(tmp_path: Path, small: Path) -> None:
    raw = tmp_path / "a\x1b]0;x\x07.dng"
    raw.write_bytes(small.read_bytes())
    with opened(raw) as page:
        assert until(page.is_open)
        answer = page.ask("POST", "pictures/1/command", json={"look": "neutral", "format": "png"})
        assert answer.status_code == 200, answer.text
        assert json.loads(answer.text)["command"].isprintable()


def test_pictures_of_a_killed_studio_are_cleared_by_the_next(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png")
    place = tmp_path / "temporary"
    place.mkdir()
    with opened(tmp_path / "a.png", TMPDIR=str(place)) as page:
        assert until(page.is_open)
        page.process.kill()
        page.process.wait(PATIENCE)
        assert list(place.glob("*studio*"))
    with opened(TMPDIR=str(place)):
        pass
    assert not list(place.glob("*studio*"))


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that notes what it is started with beside it, and stays in the foreground."""
    program = tmp_path / "browser"
    program.write_text(
        '#!/bin/sh\nprintf %s "$1" >"$0.new"; mv "$0.new" "$0.told"\nexec sleep 300 >/dev/null 2>&1\n'
    )
    program.chmod(0o755)
    return program


def test_browser_in_the_foreground_holds_up_nothing(browser: Path) -> None:
    with studio(BROWSER=f"{browser} %s") as page:
        assert page.client.get(page.address).status_code == 200


def test_browser_is_not_told_the_secret(browser: Path) -> None:
    """Everybody on a machine sees what programs are started with."""
    told = browser.with_name("browser.told")
    with studio(BROWSER=f"{browser} %s") as page:
        assert until(told.exists)
        assert page.address.partition("token=")[2] not in told.read_text()
        # A server that waits for its browser does not hear an interrupt.
        page.process.kill()
