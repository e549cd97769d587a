"""A wait for kernels: no clock of work counts it, and whoever wants to hears of it."""

import logging
import time

import pytest

from demosaic_ntc.jit import waiting
from demosaic_ntc.jit.waiting import read_work_clock, report_to, wait
from demosaic_ntc.run import Deadline


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The moment, to be set."""
    moment = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    monkeypatch.setattr(waiting, "_clock", waiting._WorkClock())
    return moment


def test_the_clock_stands_still_during_waits(now: list[float]) -> None:
    start, deadline = read_work_clock(), Deadline.after(10.0)
    now[0] += 3.0
    assert read_work_clock() - start == 3.0
    with wait():
        now[0] += 50.0
        assert read_work_clock() - start == 3.0
        with wait():
            now[0] += 50.0
        assert read_work_clock() - start == 3.0
    now[0] += 1.0
    assert read_work_clock() - start == 4.0
    assert deadline.remaining == 6.0


def test_a_wait_is_told_to_whoever_asked_last() -> None:
    told: list[tuple[str, int, int]] = []
    with report_to(lambda ready, total: told.append(("outer", ready, total))):
        with report_to(lambda ready, total: told.append(("inner", ready, total))), wait() as report:
            report(1, 2)
        with wait() as report:
            report(2, 2)
    assert told == [("inner", 1, 2), ("outer", 2, 2)]


def test_otherwise_one_line_of_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(waiting, "_reports", [waiting._Log()])
    with caplog.at_level(logging.WARNING, "demosaic_ntc"), wait() as report:
        report(0, 3)
        report(1, 3)
    assert [each.getMessage() for each in caplog.records] == [
        "preparing kernels for this machine, once: 0 of 3"
    ]
