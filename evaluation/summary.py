"""Means over repetitions, with their standard errors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .methods import Method
from .paper import Experiment, Record, Refusal
from .paper_tables import Published


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of some repetitions and its standard error (None for a single repetition)."""

    mean: float
    error: float | None

    @classmethod
    def of(cls, values: list[float]) -> "Estimate":
        """Estimate a mean from independent repetitions."""
        error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else None
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True, slots=True)
class Summary:
    """All repetitions of one method on one experiment; with one that it refused there are no means."""

    experiment: Experiment
    method: Method
    records: tuple[Record, ...]
    refusals: tuple[Refusal, ...] = ()

    @property
    def has_means(self) -> bool:
        """Whether every repetition has its figures."""
        return bool(self.records) and not self.refusals

    @property
    def nmse(self) -> Estimate:
        """The accuracy."""
        return Estimate.of([record.nmse for record in self.records])

    @property
    def seconds(self) -> Estimate:
        """The time."""
        return Estimate.of([record.seconds for record in self.records])

    @property
    def cpu_seconds(self) -> Estimate | None:
        """The time on all threads, which other programs on the machine hardly change; None if not taken."""
        taken = [record.cpu_seconds for record in self.records if record.cpu_seconds is not None]
        return Estimate.of(taken) if taken and len(taken) == len(self.records) else None

    @property
    def radii(self) -> tuple[float, float] | None:
        """The mean least radius, where one was sought: proven, and reached."""
        bounds = [(p.least_radius, p.radius) for r in self.records if (p := r.proof)]
        known = [(lower, upper) for lower, upper in bounds if lower is not None]
        return tuple(np.mean(known, axis=0).tolist()) if known else None

    @property
    def worst_gap(self) -> float | None:
        """The largest certified gap, of methods that certify."""
        return max((record.proof.gap for record in self.records if record.proof), default=None)

    @property
    def statuses(self) -> Mapping[str, int]:
        """How often the method ended in which way."""
        names = [record.proof.status for record in self.records if record.proof]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    @property
    def published(self) -> Published | None:
        """What the paper has for this method and experiment."""
        return self.experiment.row.published.get(self.method.paper) if self.method.paper else None

    @property
    def times_faster(self) -> float | None:
        """The paper's seconds over ours, on all threads where they were taken; the machines differ."""
        if self.published is None or not self.has_means:
            return None
        return self.published.seconds / (self.cpu_seconds or self.seconds).mean

    @property
    def peak_bytes(self) -> int:
        """The largest resident memory."""
        return max(record.peak_bytes for record in self.records)


def summarise(results: Iterable[Record | Refusal]) -> list[Summary]:
    """Group the results by experiment and method, in the order in which they came."""
    groups: dict[tuple[str, int, str], list[Record | Refusal]] = {}
    for result in results:
        key = (result.experiment.table.name, result.experiment.label, result.method.name)
        groups.setdefault(key, []).append(result)
    return [_summary(group) for group in groups.values()]


def _summary(group: list[Record | Refusal]) -> Summary:
    """The results of one method on one experiment."""
    records = tuple(result for result in group if isinstance(result, Record))
    refusals = tuple(result for result in group if isinstance(result, Refusal))
    return Summary(group[0].experiment, group[0].method, records, refusals)
