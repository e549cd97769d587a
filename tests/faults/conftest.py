"""What the faults share: batches to inject them into, and a count of what was tried."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app

TRIED: Counter[str] = Counter()
LOST: list[str] = []

Batch = Callable[..., Any]
Fill = Callable[..., Path]


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    """Run ``demosaic-ntc batch in -o out`` in this process, with an interpolation that takes no time."""
    (tmp_path / "out").mkdir(exist_ok=True)

    def run(*options: object, sources: Iterable[Path] = (), output: Path | None = None) -> Any:
        words = ["batch", "-o", output or tmp_path / "out", "--jobs", 2, "--method", "bilinear", *options]
        return CliRunner().invoke(app, [*map(str, words), "--", *map(str, sources or [tmp_path / "in"])])

    return run


@pytest.fixture
def fill(tmp_path: Path, small: Path) -> Fill:
    """Make a folder of small raws with these names."""

    def make(*names: str) -> Path:
        folder = tmp_path / "in"
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_bytes(small.read_bytes())
        return folder

    return make


@pytest.fixture
def tried() -> Counter[str]:
    """Where a test that tries many things at once counts them."""
    return TRIED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Count every fault and bad input that was tried, and those that cost something."""
    report = yield
    if report.when == "call":
        TRIED["bad inputs" if "bad_input" in item.nodeid else "faults"] += 1
        if report.failed:
            LOST.append(item.nodeid)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much was tried, and whether anything was lost."""
    if TRIED:
        tried = ", ".join(f"{count} {what}" for what, count in sorted(TRIED.items()))
        verdict = f"{len(LOST)} of them cost something" if LOST else "nothing was lost"
        terminalreporter.write_line(f"tried {tried}: {verdict}")
