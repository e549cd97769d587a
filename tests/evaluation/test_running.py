from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc.errors import DiskFull, Unsupported
from evaluation.datasets import Picture
from evaluation.demosaicers import Role
from evaluation.pictures import Bytes
from evaluation.running import Refusal, run_all


@dataclass(frozen=True)
class Named:
    name: str
    role: Role


@dataclass(frozen=True)
class Task:
    picture: Picture
    method: Named
    set: str = "set"

    @property
    def key(self) -> str:
        return self.method.name

    @property
    def warmth(self) -> str:
        return self.method.name


@pytest.fixture
def picture(tmp_path: Path) -> Picture:
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "a.png")
    return Picture(tmp_path / "a.png", "sha", 4, 4)


def does_nothing(job: Task, truth: Bytes) -> str:
    return job.method.name


def raises(error: BaseException) -> Callable[[Task, Bytes], str]:
    def work(job: Task, truth: Bytes) -> str:
        if job.method.name == "broken":
            raise error
        return job.method.name

    return work


@pytest.mark.parametrize("error", [ValueError(), MemoryError(), DiskFull("full"), np.linalg.LinAlgError()])
def test_a_peer_that_fails_does_not_stop_the_others(picture: Picture, error: Exception) -> None:
    jobs = [Task(picture, Named("broken", "peer")), Task(picture, Named("other", "peer"))]
    refusal, other = run_all(jobs, does_nothing, raises(error))
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith(f"failed ({type(error).__name__}")
    assert other == "other"


@pytest.mark.parametrize("role", ["ours", "part"])
def test_what_is_ours_may_refuse_but_not_fail(picture: Picture, role: Role) -> None:
    jobs = [Task(picture, Named("broken", role))]
    (refusal,) = run_all(jobs, does_nothing, raises(Unsupported("not this; leave it out")))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "not this; leave it out"
    with pytest.raises(ValueError, match="bug"):
        list(run_all(jobs, does_nothing, raises(ValueError("bug"))))
    with pytest.raises(ValueError, match="bug"):
        list(run_all(jobs, raises(ValueError("bug")), does_nothing))


def test_a_warm_up_that_fails_does_not_matter_and_is_not_repeated(picture: Picture) -> None:
    warmed: list[str] = []

    def warm_up(job: Task, truth: Bytes) -> None:
        warmed.append(job.method.name)
        raise ValueError

    jobs = [Task(picture, Named("broken", "peer"))] * 2
    assert list(run_all(jobs, warm_up, does_nothing)) == ["broken", "broken"]
    assert warmed == ["broken"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit()])
def test_a_peer_does_not_swallow_an_interruption(picture: Picture, stop: BaseException) -> None:
    with pytest.raises(type(stop)):
        list(run_all([Task(picture, Named("broken", "peer"))], does_nothing, raises(stop)))


def test_a_library_that_explains_itself_over_pages_is_cut_short(picture: Picture) -> None:
    (refusal,) = run_all(
        [Task(picture, Named("broken", "peer"))], does_nothing, raises(ValueError("word\n" * 999))
    )
    assert isinstance(refusal, Refusal)
    assert len(refusal.reason) < 400
    assert refusal.reason.endswith("word …); its figures are left out")
