"""A studio that is served, and what tests ask of it."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import numpy as np
from PIL import Image

from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.studio.serving.launch import Studio, opened_studio, server_of
from tests.batch.batches import PATIENCE


def waves(height: int = 90, width: int = 120, dtype: type = np.uint8) -> Any:
    """A smooth colour picture."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [0.5 + 0.4 * np.sin(x / a) * np.cos(y / b) for a, b in ((9, 7), (11, 13), (17, 5))]
    return np.rint(np.stack(planes, axis=2) * np.iinfo(dtype).max).astype(dtype)


@dataclass
class Served:
    """A studio and a browser that has opened its page."""

    studio: Studio
    client: httpx.Client

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.studio.place.port}"

    def stranger(self, **headers: str) -> httpx.Client:
        """A client without a cookie."""
        return httpx.Client(
            base_url=f"{self.origin}{self.studio.place.path}", headers=headers, timeout=PATIENCE
        )

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def post(self, path: str, plain: Any = None) -> httpx.Response:
        return self.client.post(path, json={} if plain is None else plain)

    def picture(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self.get("/api/state").json()["pictures"][number - 1]
        return found

    def upload(self, content: bytes, name: str = "photo.png") -> int:
        """Upload a picture, wait until it is open, and return its number."""
        answer = self.client.post("/api/pictures", content=content, headers={"X-Name": name})
        assert answer.status_code == 200, answer.text
        number: int = answer.json()["number"]
        self.opened(number)
        return number

    def opened(self, number: int) -> dict[str, Any]:
        """Wait until a picture is open, or has failed to."""
        found: dict[str, Any] = waited(lambda: self._if_opened(number))
        return found

    def _if_opened(self, number: int) -> dict[str, Any] | None:
        picture = self.picture(number)
        return picture if picture["sheet"] or picture["failure"] else None

    def task(self, answer: httpx.Response) -> dict[str, Any]:
        """Wait until a task that was begun is over."""
        assert answer.status_code == 200, answer.text
        task = self.studio.wishes.crew.tasks[answer.json()["task"]]
        waited(lambda: task.is_over or None)
        return task.plain()

    def stroke(self, number: int, *points: tuple[float, float], radius: float = 2.0) -> None:
        plain = {"tool": "brush", "radius": radius, "points": [list(point) for point in points]}
        answer = self.post(f"/api/pictures/{number}/mask", plain)
        assert answer.status_code == 200, answer.text

    def tile(self, number: int, layer: str, level: int = 0) -> Any:
        answer = self.get(f"/api/pictures/{number}/tiles/{layer}/{level}/0/0")
        assert answer.status_code == 200, answer.text
        with Image.open(BytesIO(answer.content)) as image:
            return np.array(image)


def waited(question: Any) -> Any:
    """The first answer that is not None."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        answer = question()
        if answer is not None:
            return answer
        time.sleep(0.05)
    raise AssertionError("nothing happened")


@contextmanager
def served(sources: Sequence[Path], limits: InputLimits | None = None) -> Iterator[Served]:
    """A studio in a thread of this process, with its page opened."""
    with opened_studio(sources, limits or InputLimits()) as studio:
        ready = Event()
        server = server_of(studio, lambda address: ready.set())
        thread = Thread(target=server.run, kwargs={"sockets": [studio.listener]})
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            origin = f"http://127.0.0.1:{studio.place.port}"
            base = f"{origin}{studio.place.path}"
            with httpx.Client(base_url=base, headers={"Origin": origin}, timeout=PATIENCE) as client:
                assert client.get("/", params={"token": studio.place.secret}).status_code == 200
                yield Served(studio, client)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def png(pixels: Any) -> bytes:
    """Pixels as a PNG."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def heard(served: Served, wanted: str) -> dict[str, Any]:
    """The first event of a kind that a new listener hears."""
    with served.client.stream("GET", "/api/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                event: dict[str, Any] = json.loads(line[6:])
                if event["kind"] == wanted:
                    return event
    raise AssertionError(f"the stream has ended: {stream.status_code}")
