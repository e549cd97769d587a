"""Clusters that are not what they should be: exit 5 and one line, soon; no result is believed unseen."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.batch.batches import PATIENCE

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
    crowd = 4 + 2 * os.getloadavg()[0] / (os.cpu_count() or 1)  # programs to a processor, at times
    assert wall < _SECONDS + crowd * busy, "besides what a busy machine makes it wait for its processor"


FILES = [
    b'{"address": 5}',
    b'{"address": "nonsense"}',
    b"\xff\xfe\0",
    b"null",
]


def check_all_refused(folders: tuple[Path, Path], schedulers: Iterable[object]) -> None:
    """Try them all at once: most of the time they wait."""
    with ThreadPoolExecutor(2) as pool:
        for answer in list(pool.map(partial(batch, folders), schedulers)):
            check_refused(answer)


def test_files_that_name_no_scheduler(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    paths = [tmp_path / f"scheduler{number}.json" for number in range(len(FILES))]
    for path, content in zip(paths, FILES, strict=True):
        path.write_bytes(content)
    check_all_refused(folders, paths)


def test_addresses_where_nobody_is(folders: tuple[Path, Path]) -> None:
    check_all_refused(folders, ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense"])


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


def test_ports_that_are_no_scheduler(folders: tuple[Path, Path], garbage: int, silent: int) -> None:
    ports = product(("tcp", "tls"), (garbage, silent))
    check_all_refused(folders, [f"{protocol}://127.0.0.1:{port}" for protocol, port in ports])
