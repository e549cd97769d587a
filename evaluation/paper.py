"""The paper's experiments, repetition by repetition.

Bugg, Chen & Aswani, arXiv:2111.04580, section 5. In a repetition every method gets the same samples of
the same random tensor, made from the repetition's seed alone: a row gives the same tensors whichever
methods run and whichever rows ran before it.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from time import perf_counter, process_time

import numpy as np

from demosaic_ntc.errors import InputError, TooLarge
from demosaic_ntc.memory import peak_bytes, reset_peak

from .methods import Method, Proof
from .metrics import nmse
from .paper_tables import TABLES, Row, Table
from .peers import reason
from .synthetic import draw_samples, random_truth
from .tensors import RankOneSum, Samples


@dataclass(frozen=True, slots=True)
class Experiment:
    """A row of a table."""

    table: Table
    row: Row

    @property
    def label(self) -> int:
        """The value by which this row differs from the others of its table."""
        return int(getattr(self.row, self.table.varies))

    def is_named(self, token: str) -> bool:
        """Whether a user's token means this row: by what varies in its table, or as size^order."""
        return token in (str(self.label), f"{self.row.size}^{self.row.order}")


@dataclass(frozen=True, slots=True)
class Record:
    """What one method did in one repetition of one experiment."""

    experiment: Experiment
    method: Method
    seed: int
    nmse: float
    seconds: float
    peak_bytes: int
    proof: Proof | None
    cpu_seconds: float | None = None  # on all threads


@dataclass(frozen=True, slots=True)
class Refusal:
    """A method that could not do a repetition of an experiment, and why."""

    experiment: Experiment
    method: Method
    seed: int
    reason: str


def select(tables: Iterable[str], rows: Iterable[str]) -> list[Experiment]:
    """The experiments of the named tables; of those, when rows are named, only these."""
    unknown = [name for name in tables if name not in TABLES]
    if unknown:
        raise InputError(f"there is no table {unknown[0]}; choose from {', '.join(TABLES)}")
    experiments = [Experiment(TABLES[name], row) for name in tables for row in TABLES[name].rows]
    for token in rows:
        if not any(experiment.is_named(token) for experiment in experiments):
            names = ", ".join(str(experiment.label) for experiment in experiments)
            raise InputError(f"there is no row {token}; choose from {names}")
    wanted = list(rows)
    return [e for e in experiments if not wanted or any(e.is_named(token) for token in wanted)]


def run(
    experiments: Iterable[Experiment], methods: Iterable[Method], seeds: Iterable[int]
) -> Iterator[Record | Refusal]:
    """Run all methods on all repetitions of all experiments, one result after the other.

    A method that refuses a repetition is not asked for the others of that row: it has no mean there.
    """
    methods, seeds = list(methods), list(seeds)
    for experiment in experiments:
        running = list(methods)
        for method in methods:
            warm_up(method, experiment.row.order)
        for seed in seeds:
            truth, samples = instance(experiment.row, seed)
            for method in list(running):
                result = attempt(experiment, method, seed, truth, samples)
                if isinstance(result, Refusal):
                    running.remove(method)
                yield result


def instance(row: Row, seed: int) -> tuple[RankOneSum, Samples]:
    """The random tensor and the samples of one repetition."""
    generator = np.random.default_rng([seed, row.size, row.order, row.samples])
    truth = random_truth(row.shape, generator)
    return truth, draw_samples(truth, row.samples, row.noise, generator)


def attempt(
    experiment: Experiment, method: Method, seed: int, truth: RankOneSum, samples: Samples
) -> Record | Refusal:
    """Run one method once and measure it; whatever goes wrong in a peer is a refusal, in ours an error."""
    reset_peak()
    start, cpu = perf_counter(), process_time()
    try:
        outcome = method.solve(samples, seed)
        seconds, cpu, peak = perf_counter() - start, process_time() - cpu, peak_bytes()
        error = _finite(nmse(outcome.estimate, truth))
    except Exception as failure:
        if method.is_ours and not isinstance(failure, TooLarge):
            raise
        return Refusal(experiment, method, seed, reason(failure))
    return Record(experiment, method, seed, error, seconds, peak, outcome.proof, cpu)


def _finite(error: float) -> float:
    """The error of an estimate; one that overflowed is no estimate."""
    if not isfinite(error):
        raise ArithmeticError(f"the estimate's error is {error}")
    return error


def warm_up(method: Method, order: int) -> None:
    """Run a method on tiny tensors of that order: kernels are compiled and loaded before time is taken.

    A peer that fails on them may still do what is measured.
    """
    for noise in (0.0, 0.1):
        _, samples = instance(Row(3, order, 20, noise), seed=0)
        with suppress(*() if method.is_ours else (Exception,)):
            method.solve(samples, 0)
