"""How a batch shares out the machine."""

import psutil
import pytest

from demosaic_ntc.batch.batch import team_for, workers_that_fit
from demosaic_ntc.batch.spec import Workers
from tests.batch.works import Copy


@pytest.mark.parametrize(
    ("jobs", "threads", "most", "shares"),
    [
        (None, None, 99, [1] * 8),
        (None, None, 3, [3, 3, 2]),
        (None, None, 1, [8]),
        (3, None, 99, [3, 3, 2]),
        (None, 4, 99, [4, 4]),
        (2, 1, 99, [1, 1]),
        (12, None, 99, [1] * 12),
        (None, None, 0, [8]),
    ],
)
def test_processors_are_shared_out(
    monkeypatch: pytest.MonkeyPatch, jobs: int | None, threads: int | None, most: int, shares: list[int]
) -> None:
    monkeypatch.setattr("demosaic_ntc.batch.batch.processors", lambda: 8)
    team = team_for(Copy(), Workers(jobs=jobs, threads=threads), most)
    assert [setup.threads for setup in team] == shares


def test_workers_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Machine:
        available = 4e9

    monkeypatch.setattr(psutil, "virtual_memory", Machine)
    assert workers_that_fit(24_000_000) == 5
    assert workers_that_fit(10**9) == 1


def test_workers_are_told_their_share() -> None:
    team = team_for(Copy(), Workers(jobs=2, threads=3, memory=7), most=1)
    assert [(setup.threads, setup.memory) for setup in team] == [(3, 7), (3, 7)]
