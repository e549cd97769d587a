"""Cases are run one after the other, whatever happens to one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from demosaic_ntc.errors import DiskFull, Unsupported
from evaluation.measure.benchmark import Benchmark
from evaluation.measure.case import Case, Measurement, Refusal, run
from evaluation.methods.method import Method, Role

Work = Callable[[Case], str]


def does_nothing(case: Case) -> str:
    return case.method.name


def raises(error: BaseException) -> Work:
    def work(case: Case) -> str:
        if case.method.name == "broken":
            raise error
        return case.method.name

    return work


@dataclass(frozen=True)
class Doing(Benchmark):
    """Nothing is measured: whatever is wanted happens."""

    name = "doing"
    keys = ("method",)

    doing: Work = does_nothing
    first: Work = does_nothing

    @property
    def cases(self) -> list[Case]:
        return [Case({"method": m.name}, "set", "a", m, "a.png", warmth=m.name) for m in self.methods]

    @property
    def protocol(self) -> dict[str, str]:
        return {}

    def load(self, source: str) -> str:
        return source

    def warm_up(self, case: Case, loaded: Any) -> object:
        return self.first(case)

    def measure(self, case: Case, loaded: Any) -> Measurement:
        return Measurement({"done": self.doing(case)})

    @classmethod
    def of(cls, *_: Any, **__: Any) -> "Doing":
        raise NotImplementedError

    def tables(self, results: Any, *, details: bool = False) -> Any:
        raise NotImplementedError


def results(roles: dict[str, Role], work: Work = does_nothing, first: Work = does_nothing) -> list[Any]:
    methods = tuple(Method(name, "", role, print) for name, role in roles.items())
    part = Doing((), methods, work, first)
    return [result for _, result in run(part, part.cases)]


@pytest.mark.parametrize("error", [ValueError(), MemoryError(), DiskFull("full"), np.linalg.LinAlgError()])
def test_a_peer_that_fails_does_not_stop_the_others(error: Exception) -> None:
    refusal, other = results({"broken": "peer", "other": "peer"}, raises(error))
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith(f"failed ({type(error).__name__}")
    assert other.figures == {"done": "other"}


@pytest.mark.parametrize("role", ["ours", "part"])
def test_what_is_ours_may_refuse_but_not_fail(role: Role) -> None:
    (refusal,) = results({"broken": role}, raises(Unsupported("not this; leave it out")))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "not this; leave it out"
    with pytest.raises(ValueError, match="bug"):
        results({"broken": role}, raises(ValueError("bug")))
    with pytest.raises(ValueError, match="bug"):
        results({"broken": role}, first=raises(ValueError("bug")))


def test_a_warm_up_that_fails_does_not_matter_and_is_not_repeated() -> None:
    warmed: list[str] = []

    def first(case: Case) -> str:
        warmed.append(case.method.name)
        raise ValueError

    part = Doing((), (Method("broken", "", "peer", print),), first=first)
    found = [result for _, result in run(part, part.cases * 2)]
    assert [each.figures for each in found if isinstance(each, Measurement)] == [{"done": "broken"}] * 2
    assert warmed == ["broken"]


def test_a_row_that_was_refused_is_left() -> None:
    part = Doing((), (Method("broken", "", "peer", print),), raises(ValueError()))
    (case,) = part.cases
    row = [Case(case.key, "set", image, case.method, image, row="one") for image in "ab"]
    first, second = (result for _, result in run(part, row))
    assert isinstance(first, Refusal)
    assert second is None


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit()])
def test_a_peer_does_not_swallow_an_interruption(stop: BaseException) -> None:
    with pytest.raises(type(stop)):
        results({"broken": "peer"}, raises(stop))


def test_a_library_that_explains_itself_over_pages_is_cut_short() -> None:
    (refusal,) = results({"broken": "peer"}, raises(ValueError("word\n" * 999)))
    assert isinstance(refusal, Refusal)
    assert len(refusal.reason) < 400
    assert refusal.reason.endswith("word …); its figures are left out")
