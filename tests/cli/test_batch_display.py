"""What is seen of a batch while it runs and at its end."""

import io
import sys
from pathlib import Path

import pytest

from cli.output.batch_display import BatchView, Forecast, show_batch
from cli.output.batch_summary import duration, megabytes, summary_lines
from demosaic_ntc.batch.job import Job, JobEnded, JobOutcome, JobProgress, JobStarted, JobStatus, Tally
from tests.batch.works import Copy


def _job(name: str) -> Job:
    return Job(Path(name), Path(name), Copy())


def test_forecast_counts_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 110.0])
    monkeypatch.setattr("cli.output.batch_display.monotonic", lambda: next(clock))
    forecast = Forecast({"read": 1.0, "solve": 3.0}, {"a": 100, "b": 100, "c": 200})
    assert forecast.seconds_left is None
    forecast.add(JobEnded(None, _job("c"), JobOutcome(JobStatus.SKIPPED)))
    forecast.add(JobStarted(0, _job("a")))
    assert forecast.done_share == 0
    forecast.add(JobProgress(0, _job("a"), "read", 0.2))
    forecast.add(JobProgress(0, _job("a"), "solve", 1 / 3))
    assert forecast.share(0) == pytest.approx(0.5), "a stage that another follows is over"
    assert forecast.done_share == pytest.approx(0.25)
    assert forecast.seconds_left == pytest.approx(30.0)
    forecast.add(JobEnded(0, _job("a"), JobOutcome(JobStatus.DONE)))
    assert forecast.done_share == pytest.approx(0.5)
    forecast.add(JobStarted(None, _job("b")))
    forecast.add(JobEnded(None, _job("b"), JobOutcome(JobStatus.FAILED)))
    assert forecast.done_share == 1


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminal_shows_a_bar_for_all_and_one_for_each_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    tally, forecast = Tally(), Forecast({"solve": 1.0}, {"a.dng": 1, "b.dng": 1})
    with show_batch(BatchView(tally, forecast, 2)) as show:
        for event in (
            JobStarted(0, _job("a.dng")),
            JobProgress(0, _job("a.dng"), "solve", 0.5),
            JobEnded(0, _job("a.dng"), JobOutcome(JobStatus.CRASHED, "signal 11", pixels=2_000_000)),
        ):
            tally.add(event)
            show(event)
    shown = terminal.getvalue()
    assert "all files" in shown
    assert "1 of 2 files, 1 failed" in shown
    assert "MP/s" in shown
    assert "crashed a.dng: signal 11" in shown


def test_elsewhere_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cli.output.batch_display._LINE_SECONDS", 0.0)
    tally, forecast = Tally(), Forecast({"solve": 1.0}, {"a.dng": 1})
    with show_batch(BatchView(tally, forecast, 3)) as show:
        event = JobEnded(None, _job("a.dng"), JobOutcome(JobStatus.DONE, pixels=10**6, notices=("dark",)))
        tally.add(event)
        show(event)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "demosaic-ntc: a.dng: dark"
    assert second.startswith("demosaic-ntc: 1 of 3 files, 0 failed, ")


def test_summary_names_no_more_failures_than_fit() -> None:
    tally = Tally()
    for number in range(30):
        tally.add(JobEnded(0, _job(f"{number}.dng"), JobOutcome(JobStatus.TIMEOUT, "too slow")))
    lines = list(summary_lines(tally, Path("report")))
    assert "timeout      30" in lines
    assert "and 10 more" in lines
    assert "timeout 19.dng: too slow" in lines


@pytest.mark.parametrize(
    ("seconds", "words"), [(4.26, "4.3 s"), (75, "1 min 15 s"), (3 * 3600 + 61, "3 h 01 min")]
)
def test_durations_read_well(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_sizes_read_well() -> None:
    assert (megabytes(1_500_000), megabytes(2_340_000_000)) == ("1.5 MB", "2.3 GB")
