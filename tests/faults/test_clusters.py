"""Clusters that are not what they should be: exit 5 and one line, soon; no result is believed unseen."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from tests.batch.helping import PATIENCE, records, until

pytest.importorskip("distributed")
pytestmark = pytest.mark.fault
ROOT = Path(__file__).resolve().parents[2]

# Well before Dask itself would give up, which is after half a minute; a busy machine takes its time as well.
_SECONDS = 20.0


@pytest.fixture
def folders(tmp_path: Path, small: Path) -> tuple[Path, Path]:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "a.dng").write_bytes(small.read_bytes())
    return tmp_path / "in", tmp_path / "out"


def batch(folders: tuple[Path, Path], scheduler: object, **environment: str) -> Any:
    """Run a batch on a cluster; it tells its seconds, without those of loading Dask."""
    source, out = folders
    words = ("batch", source, "-o", out, "--method", "bilinear", "--scheduler", scheduler)
    code = (
        "import atexit, time, distributed\nstart = time.monotonic(), time.process_time()\n"
        "took = lambda: print('took', time.monotonic() - start[0], time.process_time() - start[1])\n"
        "atexit.register(took)\nfrom cli.app import app\napp()"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def check_refused(answer: Any) -> None:
    assert answer.returncode == 5, (answer.stdout, answer.stderr)
    assert answer.stderr.count("\n") == 1, answer.stderr
    assert "Traceback" not in answer.stdout + answer.stderr
    wall, busy = map(float, answer.stdout.split("took ")[1].split())
    assert wall < _SECONDS + 4 * busy, "besides what a busy machine makes it wait for its processor"


FILES = [
    b"",
    b"{}",
    b"garbage",
    b"[" * 50_000,
    b'{"address": 5}',
    b'{"address": "nonsense"}',
    b"\xff\xfe\0",
    b"null",
]


@pytest.mark.parametrize("content", FILES, ids=range(len(FILES)))
def test_files_that_name_no_scheduler(tmp_path: Path, folders: tuple[Path, Path], content: bytes) -> None:
    (tmp_path / "scheduler.json").write_bytes(content)
    check_refused(batch(folders, tmp_path / "scheduler.json"))


@pytest.mark.parametrize(
    "address", ["missing.json", "tcp://127.0.0.1:1", "tls://127.0.0.1:1", "127.0.0.1:1", "nonsense"]
)
def test_addresses_where_nobody_is(folders: tuple[Path, Path], address: str) -> None:
    check_refused(batch(folders, address))


@pytest.fixture
def garbage() -> Iterator[int]:
    """A port that answers with nonsense."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                connection, _ = server.accept()
                with connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            except OSError:
                return

    Thread(target=answer, daemon=True).start()
    with server:
        yield server.getsockname()[1]


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes everything and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_ports_that_are_no_scheduler(
    folders: tuple[Path, Path], garbage: int, silent: int, protocol: str
) -> None:
    check_refused(batch(folders, f"{protocol}://127.0.0.1:{garbage}"))
    check_refused(batch(folders, f"{protocol}://127.0.0.1:{silent}"))


def _start(stack: ExitStack, folder: Path, *words: object, **environment: str) -> "subprocess.Popen[bytes]":
    """A process of a cluster, ended with the test."""
    command = [str(Path(sys.executable).with_name("dask")), *map(str, words), "--no-dashboard"]
    process = subprocess.Popen(
        [*command, "--scheduler-file", str(folder / "scheduler")],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def _cluster(
    stack: ExitStack, folder: Path, **environment: str
) -> "tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]":
    """A scheduler and its one worker in this environment."""
    from distributed import Client

    own = {"PYTHONPATH": str(ROOT)}  # it looks at what it passes on
    scheduler = _start(stack, folder, "scheduler", "--port", 0, "--host", "127.0.0.1", **own)
    quiet = ("--no-nanny", "--nthreads", 1, "--local-directory", folder, "--resources", "raw=1")
    worker = _start(stack, folder, "worker", *quiet, **environment)
    until((folder / "scheduler").exists)
    with Client(scheduler_file=str(folder / "scheduler"), timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
    return scheduler, worker


def test_worker_without_the_package(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Its interpreter finds everything but this package."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['demosaic_ntc'] = None\n", encoding="ascii"
    )
    with ExitStack() as stack:
        _cluster(stack, tmp_path, PYTHONPATH=str(tmp_path / "hidden"))
        answer = batch(folders, tmp_path / "scheduler")
    check_refused(answer)
    assert "cannot run demosaic-ntc" in answer.stderr


def test_worker_that_sees_another_disk(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """It writes, but not where the user looks: that is a failure."""
    (tmp_path / "elsewhere").mkdir()
    moved = (
        "import os\n_replace, _link = os.replace, os.link\n"
        f"def away(path): return str(path).replace({str(folders[1])!r}, {str(tmp_path / 'elsewhere')!r})\n"
        "os.link = lambda a, b, **k: os.rename(a, away(b)) if str(b).endswith('.png') else _link(a, b, **k)\n"
    )
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "sitecustomize.py").write_text(moved, encoding="ascii")
    with ExitStack() as stack:
        _cluster(stack, tmp_path, PYTHONPATH=f"{tmp_path / 'moved'}{os.pathsep}{ROOT}")
        answer = batch(folders, tmp_path / "scheduler")
    assert list((tmp_path / "elsewhere").iterdir()), "the worker has written"
    assert answer.returncode == 1, (answer.stdout, answer.stderr)
    assert "not where this machine sees it" in answer.stderr
    assert records(folders[1])["a.dng"]["status"] == "failed"


def test_scheduler_that_dies_is_noticed(tmp_path: Path, folders: tuple[Path, Path], small: Path) -> None:
    from tests.batch.helping import injected

    code = f"{injected({'*': 'sleep'})}\nfrom cli.app import app\napp()"
    with ExitStack() as stack:
        scheduler, worker = _cluster(stack, tmp_path, PYTHONPATH=str(ROOT))
        words = ("batch", folders[0], "-o", folders[1], "--scheduler", tmp_path / "scheduler")
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until(lambda: psutil.Process(worker.pid).children())  # which works on the file
        scheduler.kill()
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 5, errors
    assert b"Traceback" not in errors
