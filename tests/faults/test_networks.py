"""Clusters of hosts that are really apart, in network namespaces: links are cut, hosts die, hosts are slow.

Needs root and ``ip netns``. Whatever happens, every file ends once, every picture is whole, and the
namespaces are gone afterwards.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.batch.batches import PATIENCE, REPORT, injected, until

pytest.importorskip("distributed")
pytestmark = [pytest.mark.fault, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
FILES = [f"{number:02}" for number in range(12)]

NAME = f"dntc{os.getpid()}"  # of the namespaces

# A link that is silent for so long is taken for cut; Dask's own default is half a minute.
_SILENCE = "12s"


def ip(*words: str, check: bool = True) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=check).stdout


def remove_hosts() -> None:
    """Remove the namespaces of this test, and whatever runs in them."""
    for name in re.findall(rf"^{NAME}-\w+", ip("netns", "list"), re.MULTILINE):
        for pid in ip("netns", "pids", name, check=False).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        ip("netns", "delete", name)


@dataclass
class Hosts:
    """A hub with a scheduler, two hosts with a worker each, and a cable from the hub to each of them."""

    folder: Path
    stack: ExitStack

    def start(self, host: object, *words: object) -> Any:
        """Start a process on a host."""
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": _SILENCE,
        }
        command = ["ip", "netns", "exec", f"{NAME}-{host}", sys.executable, *map(str, words)]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=self.folder, env=env, stdout=pipe, stderr=pipe)
        self.stack.callback(process.communicate)
        self.stack.callback(process.kill)
        return process

    def start_worker(self, number: int) -> Any:
        """Start the worker of a host, which takes one file at a time."""
        address = f"tcp://10.77.{number}.1:8786"
        quiet = ("--no-nanny", "--no-dashboard", "--local-directory", self.folder / f"worker{number}")
        return self.start(number, "-m", "dask", "worker", address, "--resources", "raw=1", *quiet)

    def plug(self, number: int) -> None:
        """Add a host with a cable to the hub."""
        hub, far = f"{NAME}-hub", f"{NAME}-{number}"
        ip("netns", "add", far)
        ip("-n", hub, "link", "add", f"v{number}", "type", "veth", "peer", "name", "e0", "netns", far)
        for host, device, last in ((hub, f"v{number}", 1), (far, "e0", 2)):
            ip("-n", host, "address", "add", f"10.77.{number}.{last}/24", "dev", device)
            for each in (device, "lo"):
                ip("-n", host, "link", "set", each, "up")

    def set_link(self, number: int, state: str) -> None:
        """Cut the cable of a host (down), or mend it (up)."""
        ip("-n", f"{NAME}-hub", "link", "set", f"v{number}", state)

    def pids(self, number: int) -> list[int]:
        """All that runs on a host."""
        return [int(pid) for pid in ip("netns", "pids", f"{NAME}-{number}").split()]

    def batch(self, out: Path, *options: str) -> Any:
        """Start a batch at the hub that copies slowly, and waits for workers for a moment only."""
        patience = "from demosaic_ntc.batch.workers import cluster\ncluster._ALONE_SECONDS = 8.0"
        code = f"{injected({'*': 'linger'})}\n{patience}\nfrom cli.app import app\napp()"
        words = ("batch", self.folder / "in", "-o", out, "--scheduler", "tcp://127.0.0.1:8786", *options)
        return self.start("hub", "-c", code, *words)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """A scheduler at the hub, workers on two hosts, and files to work on."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and `ip`")
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for name in FILES:
        (tmp_path / "in" / f"{name}.dng").write_text(name)
    with ExitStack() as stack:
        stack.callback(remove_hosts)
        if subprocess.run(["ip", "netns", "add", f"{NAME}-hub"], capture_output=True, check=False).returncode:
            pytest.skip("network namespaces cannot be made here")
        made = Hosts(tmp_path, stack)
        for number in (1, 2):
            made.plug(number)
        made.start("hub", "-m", "dask", "scheduler", "--port", "8786", "--no-dashboard")
        for number in (1, 2):
            made.start_worker(number)
        waiting = (
            "import distributed; distributed.Client('127.0.0.1:8786', timeout=200).wait_for_workers(2, 200)"
        )
        waiter = made.start("hub", "-c", waiting)
        assert waiter.wait(PATIENCE) == 0, waiter.stderr.read()
        yield made
    assert NAME not in ip("netns", "list")


def records(out: Path) -> list[dict[str, Any]]:
    report = out / REPORT
    return [json.loads(line) for line in report.read_bytes().splitlines()] if report.exists() else []


def is_under_way(hosts: Hosts, out: Path) -> bool:
    """Whether some files are done, and both hosts have one in work."""
    return len(records(out)) >= 2 and all(len(hosts.pids(number)) > 1 for number in (1, 2))


def check_all_done_once(process: Any, out: Path) -> None:
    """Every file has one line, every picture is whole, nothing else lies around, the exit code is 0."""
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors
    assert Counter(Path(record["input"]).stem for record in records(out)) == dict.fromkeys(FILES, 1)
    # One that was cut off between publishing a file and saying so has left it to be found by another.
    statuses = Counter(record["status"] for record in records(out))
    assert statuses["done"] >= len(FILES) - 1
    assert statuses["done"] + statuses["skipped"] == len(FILES)
    assert {path.stem: path.read_text() for path in out.glob("*.png")} == {name: name for name in FILES}
    until(lambda: sorted(os.listdir(out)) == sorted([REPORT, *(f"{name}.png" for name in FILES)]))


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(1.5, id="comes back", marks=pytest.mark.load), pytest.param(600.0, id="stays cut")],
)
def test_cut_link(hosts: Hosts, tmp_path: Path, seconds: float) -> None:
    out = tmp_path / "out"
    process = hosts.batch(out)
    until(lambda: is_under_way(hosts, out))
    hosts.set_link(1, "down")
    if seconds < PATIENCE:
        time.sleep(seconds)
        hosts.set_link(1, "up")
    check_all_done_once(process, out)


@pytest.mark.load
def test_killed_host(hosts: Hosts, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = hosts.batch(out)
    until(lambda: is_under_way(hosts, out))
    hosts.set_link(1, "down")  # as in a power cut: nobody hears a word of it
    for pid in hosts.pids(1):
        os.kill(pid, signal.SIGKILL)
    check_all_done_once(process, out)


@pytest.mark.load
def test_slow_host(hosts: Hosts, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = hosts.batch(out)
    until(lambda: is_under_way(hosts, out))
    while process.poll() is None:
        for pause, number in ((0.9, signal.SIGSTOP), (0.1, signal.SIGCONT)):
            for pid in hosts.pids(1):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            time.sleep(pause)
    check_all_done_once(process, out)


def test_no_host_is_left(hosts: Hosts, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = hosts.batch(out)
    until(lambda: is_under_way(hosts, out))
    for number in (1, 2):
        hosts.set_link(number, "down")
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 5, errors
    assert b"no worker is left; go on with --resume when some are back" in errors
    done = len(records(out))
    assert done < len(FILES)
    for number in (1, 2):
        hosts.set_link(number, "up")
        hosts.start_worker(number)
    again = hosts.batch(out, "--resume")
    assert again.wait(PATIENCE) == 0
    assert {path.stem: path.read_text() for path in out.glob("*.png")} == {name: name for name in FILES}
