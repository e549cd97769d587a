"""The attack itself: a seed says everything, and what is wrong is found and minimised."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.batch.batches import PATIENCE
from tests.faults import attack, targets
from tests.faults.mutants import Mutant, tried
from tests.faults.targets import ROOM, TARGETS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.fault


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    """Close the studio that mutants have opened."""
    yield
    ROOM.close()


def _first_of(target: str) -> int:
    """The first seed of those that attack something."""
    return next(seed for seed in range(10_000) if Mutant.of(seed).target == target)


def test_seed_makes_the_same_mutant_every_time() -> None:
    made = [Mutant.of(seed) for seed in range(300)]
    assert made == [Mutant.of(seed) for seed in range(300)]
    assert all(len(mutant.mutations) in (0, Mutant.count(mutant.seed)) for mutant in made)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_mutants_of_every_day(tmp_path: Path, target: str) -> None:
    answer = tried(Mutant.of(_first_of(target)), tmp_path / "work")
    assert answer in ("ok", "refused"), answer


def test_surprise_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprising(*_: Any) -> Any:
        raise KeyError("a bug")

    monkeypatch.setattr(targets, "read_picture", surprising)
    mutant = Mutant.of(_first_of("read_picture"))
    assert tried(mutant, tmp_path / "work").startswith("finding read_picture")


def test_finding_is_minimised_to_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Needing:
        """A program that goes wrong by the second and third mutation together."""

        def ask(self, line: str) -> str:
            return "finding" if {"2", "3"} <= set(line.split()[1:]) else "ok"

    monkeypatch.setattr(Mutant, "count", staticmethod(lambda seed: 5))
    assert attack._minimised(77, Needing()) == [2, 3]  # type: ignore[arg-type]


def test_minutes_and_seed_are_given(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.faults.attack", "--minutes", "0.02", "--seed", "5"]
    answer = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "seed 5" in answer.stdout
    assert "findings: none" in answer.stdout
