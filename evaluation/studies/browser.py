"""A headless Chromium, driven over a pair of pipes by the DevTools protocol; no package is needed for it.

https://chromedevtools.github.io/devtools-protocol/, messages of JSON separated by zero bytes.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 240.0  # seconds: machines may be busy

# The browser reads its commands from descriptor 3 and answers on descriptor 4.
LAUNCH = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> str | None:
    """The browser's program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of a browser."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, self._commands = os.pipe()
        self._answers, theirs_out = os.pipe()
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
        talk = ("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank")
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), program, *options, *talk],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._count = 0
        self._unread = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @property
    def pid(self) -> int:
        """The number of the browser's first process."""
        return self._process.pid

    def close(self) -> None:
        """End the browser and everything it started."""
        os.close(self._commands)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._answers)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what happens meanwhile is kept as events."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        """The next message of the browser."""
        deadline = monotonic() + PATIENCE
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser has ended"
            self._unread += read
        message, _, self._unread = self._unread.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def visit(self, address: str) -> None:
        """Open an address and wait until its page is drawn."""
        self.call("Page.navigate", url="about:blank")  # what the last page still says is not this one's
        self.settle()
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.run("new Promise(done => document.readyState === 'complete' ? done() : (onload = done))")
        self.settle()

    def run(self, script: str) -> Any:
        """The value of an expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, condition: str, patience: float = PATIENCE) -> None:
        """Wait until an expression is true."""
        deadline = monotonic() + patience
        while not self.run(f"Boolean({condition})"):
            assert monotonic() < deadline, f"never came true: {condition}"
            self.settle()

    def settle(self) -> None:
        """Wait until the pictures that are shown are decoded and drawn."""
        self.run("new Promise(done => setTimeout(() => requestAnimationFrame(done), 60))")

    def resize(self, width: int, height: int, ratio: float = 1, *, touch: bool = False) -> None:
        """Give the page another screen."""
        screen = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": touch}
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.settle()
