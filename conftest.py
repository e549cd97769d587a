"""What the tests share: the samples, the test data, and ways to run the program."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from typer.testing import CliRunner

from cli.app import app
from tests.batch.works import Copy, Faulty

ROOT = Path(__file__).resolve().parent

# A background shell starts its commands deaf to interrupts, and they pass that on to their children.
HEARS_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"

# Tests start the program hundreds of times: what Python has compiled is kept, whatever the shell around says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Pictures say when they were made; those of the tests are compared byte by byte.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1700000000")

# The same examples on every machine, however busy: what fails, fails for everybody, and no clock is asked.
settings.register_profile(
    "ours", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ours")

Run = Callable[..., Any]
Install = Callable[[Mapping[str, str]], None]


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of small inputs with their truth."""
    return ROOT / "samples"


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be decoded in this process, where a test can see what happens or make it happen."""
    monkeypatch.setattr("demosaic_ntc.io.isolation.decoder.can_isolate", lambda _size=0: False)


@pytest.fixture(scope="session")
def small(samples: Path) -> Path:
    """A whole and small raw."""
    return samples / "small_rggb.dng"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the test data, which is not part of the project."""
    folder = os.environ.get("DEMOSAIC_NTC_DATA")
    if folder is None:
        pytest.skip("DEMOSAIC_NTC_DATA does not name the test data")
    return Path(folder)


@pytest.fixture(scope="session")
def raws(data: Path) -> list[Path]:
    """The camera raws of the test data."""
    return sorted(p for p in (data / "raw").iterdir() if p.suffix.lower() in (".cr2", ".kdc", ".dng"))


@pytest.fixture(scope="session")
def convert() -> Run:
    """Run ``demosaic-ntc IN OUT`` in this process, with an interpolation that takes no time."""

    def run(source: Path, target: Path, *options: object) -> Any:
        arguments = ["convert", *map(str, options), "--method", "bilinear", "--", str(source), str(target)]
        return CliRunner().invoke(app, arguments)

    return run


@pytest.fixture(scope="session")
def start() -> Callable[..., "subprocess.Popen[bytes]"]:
    """Start the program as a process of its own; `code` runs in it first, to inject a fault."""

    def run(
        *arguments: object, code: str = "", env: dict[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        program = f"{HEARS_INTERRUPTS}\n{code}\nfrom cli.app import app\napp()"
        return subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        )

    return run


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """Let no test leave the others deaf: a program that is interrupted ignores signals on its way out."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Let batches of this test copy files, and go wrong at those that are named (see `tests.batch.works`)."""

    def install(faults: Mapping[str, str]) -> None:
        monkeypatch.setattr(
            "demosaic_ntc.batch.spec.Convert", lambda settings: Faulty(faults, Copy(str(settings)))
        )

    return install
