"""What tests of batches do over and over."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

REPORT = "demosaic-ntc-report.jsonl"


def injected(faults: dict[str, str]) -> str:
    """Code that lets a program's batches copy files, and go wrong at some (see `works`)."""
    return (
        "import demosaic_ntc.batch.spec\nfrom tests.batch.works import Copy, Faulty\n"
        f"demosaic_ntc.batch.spec.Convert = lambda settings: Faulty({faults!r}, Copy())"
    )


# Seconds within which a machine does under any load what it has to do at all: less than works that hang take.
PATIENCE = 240.0


def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait for something that has to happen."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@contextmanager
def new_children() -> Iterator[Callable[[], list[psutil.Process]]]:
    """The children that this process has started since; it may have others, of tests that went before."""
    before = set(psutil.Process().children())
    yield lambda: [child for child in psutil.Process().children() if child not in before]


def records(folder: Path) -> dict[str, dict[str, Any]]:
    """The last line of a folder's report for every input, by name."""
    lines = map(json.loads, (folder / REPORT).read_bytes().splitlines())
    return {Path(record["input"]).name: record for record in lines}


def statuses(folder: Path) -> dict[str, str]:
    """How the work on every input ended, by name."""
    return {name: record["status"] for name, record in records(folder).items()}


def noted(folder: Path, count: int = 1) -> bool:
    """Whether the report says of so many files that they are done."""
    report = folder / REPORT
    return report.exists() and report.read_bytes().count(b'"done"') >= count


def is_over(process: Any) -> bool:
    """Whether a process (of psutil) has ended, though nobody may have taken note yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def end_soon(processes: Iterable[Any]) -> bool:
    """Whether processes end, though their work would hang for longer."""
    until(lambda: all(map(is_over, processes)))
    return True
