"""A browser's page with the hands of whoever tests it: mouse, fingers and keys."""

import base64
from pathlib import Path
from typing import Any

from evaluation.studies import browser

_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "End": 35, "ArrowLeft": 37, "ArrowRight": 39}
_CONTROL = 2  # of DevTools' modifiers


class Browser(browser.Browser):
    """One page of a browser, with hands."""

    def open(self, path: Path) -> None:
        """Open a file and wait until it is drawn."""
        self.visit(path.as_uri())

    def reload(self) -> None:
        """Load the page again and wait until it is there."""
        self.events.clear()
        self.call("Page.reload")
        # Asked in between, the old page would answer, or be gone before it has.
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press, move and let go."""
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for share in (0.3, 0.7, 1.0):
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)
        self.settle()

    def touch(self, kind: str, *points: tuple[float, float]) -> None:
        """A touch event with all fingers that are down."""
        fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press and release a key; one that writes a letter also says which."""
        code = _CODES.get(key, ord(key.upper()) if key.isalpha() and len(key) == 1 else 0)
        written = len(key) == 1 and not modifiers & _CONTROL
        letter = {"text": key} if written else {"text": "\r"} if key == "Enter" else {}
        shared: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **letter)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)
        self.settle()

    def screenshot(self, target: Path, *, whole: bool = False) -> None:
        """Write what is seen, or the whole page, as PNG."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        target.write_bytes(base64.b64decode(picture["data"]))

    def complaints(self) -> list[dict[str, Any]]:
        """Errors and warnings on the console, exceptions, and whatever was asked of a network."""
        kinds = (
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
            "Network.loadingFailed",
        )
        loud = [event for event in self.events if event.get("method") in kinds and not _is_called_off(event)]
        asked = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        fetched = [e for e in asked if not e["params"]["request"]["url"].startswith(("file:", "data:"))]
        return [*loud, *fetched]


def _is_called_off(event: dict[str, Any]) -> bool:
    """Whether it tells of something that the page, or whoever left it, no longer wanted."""
    return bool(event.get("params", {}).get("canceled"))
