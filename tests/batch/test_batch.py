"""Batches from Python: planned as a whole, run, and told as they go."""

import shutil
from pathlib import Path

import pytest

from demosaic_ntc.batch.batch import plan_batch, run_batch
from demosaic_ntc.batch.job import Event, JobEnded, JobStarted, JobStatus
from demosaic_ntc.batch.spec import BatchTask, Rules, Workers
from demosaic_ntc.developing.settings import Engine, Output, Settings
from demosaic_ntc.errors import Clash, ClusterError, DemosaicNtcError, InputError
from demosaic_ntc.workflows.api import develop

QUICK = Settings(engine=Engine(method="bilinear"))


@pytest.fixture
def shoot(tmp_path: Path, small: Path) -> Path:
    """A folder with two raws and a file that is none."""
    folder = tmp_path / "shoot"
    folder.mkdir()
    for name in ("a.dng", "b.dng"):
        shutil.copy(small, folder / name)
    (folder / "c.dng").write_bytes(b"no raw")
    return folder


def test_folder_is_worked_through_and_told(shoot: Path, tmp_path: Path) -> None:
    told: list[Event] = []
    task = BatchTask.convert(shoot, tmp_path / "out", QUICK, workers=Workers(jobs=1))
    tally = run_batch(task, told.append)
    assert (tally.counts[JobStatus.DONE], tally.failed) == (2, 1)
    assert tally.failures[0].job.source == shoot / "c.dng"
    assert {event.job.source.name for event in told if isinstance(event, JobStarted)} == {
        "a.dng",
        "b.dng",
        "c.dng",
    }
    assert sum(isinstance(event, JobEnded) for event in told) == 3
    picture = develop(shoot / "a.dng", method="bilinear")
    assert (tmp_path / "out" / "a.png").stat().st_size > 0
    assert tally.pixels == 2 * picture.image.shape[0] * picture.image.shape[1]


def test_what_is_there_stays_unless_the_rules_say_otherwise(shoot: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.png").write_bytes(b"mine")

    def counts(rules: Rules) -> dict[JobStatus, int]:
        task = BatchTask.convert(
            shoot / "a.dng", tmp_path / "out", QUICK, rules=rules, workers=Workers(jobs=1)
        )
        return dict(run_batch(task).counts)

    assert counts(Rules()) == {JobStatus.SKIPPED: 1}
    assert counts(Rules(resume=True)) == {JobStatus.SKIPPED: 1}
    assert (tmp_path / "out" / "a.png").read_bytes() == b"mine"
    assert counts(Rules(overwrite=True)) == {JobStatus.DONE: 1}


def test_plan_touches_nothing_and_refuses_clashes(shoot: Path, tmp_path: Path) -> None:
    task = BatchTask.convert([shoot], tmp_path / "out", QUICK, format="tif")
    plan = plan_batch(task)
    assert [job.target.name for job in plan.jobs] == ["a.tif", "b.tif", "c.tif"]
    assert plan.decide() == list(plan.jobs)
    assert not (tmp_path / "out").exists()
    (shoot / "below").mkdir()
    shutil.copy(shoot / "a.dng", shoot / "below" / "a.dng")
    sources = [shoot / "a.dng", shoot / "below" / "a.dng"]
    with pytest.raises(Clash, match="would both become"):
        plan_batch(BatchTask.convert(sources, tmp_path / "out", QUICK))


def test_nothing_found_is_nothing_done(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run_batch(BatchTask.convert(tmp_path / "empty", tmp_path / "out")).counts.total() == 0


@pytest.mark.parametrize(
    ("settings", "format", "reason"),
    [
        (Settings(output=Output(bits=16)), "jpg", "8 bits per channel"),
        (Settings(engine=Engine(half=True)), "dng", "size of the sensor"),
        (QUICK, "bmp", "bmp"),
    ],
)
def test_results_that_cannot_be_are_refused_at_once(
    tmp_path: Path, settings: Settings, format: str, reason: str
) -> None:
    with pytest.raises(DemosaicNtcError, match=reason):
        BatchTask.convert(tmp_path, tmp_path / "out", settings, format=format)


def test_repair_needs_masks_and_makes_no_dng(tmp_path: Path) -> None:
    task = BatchTask.repair(tmp_path, tmp_path / "out")
    assert not task.search.takes("photo_mask.png")
    with pytest.raises(InputError, match="of raws only"):
        BatchTask.repair(tmp_path, tmp_path / "out", format="dng")


def test_scheduler_that_is_none_is_a_cluster_error(shoot: Path, tmp_path: Path) -> None:
    nowhere = Workers(scheduler=str(tmp_path / "missing.json"))
    with pytest.raises(ClusterError):
        run_batch(BatchTask.convert(shoot, tmp_path / "out", QUICK, workers=nowhere))
