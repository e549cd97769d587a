"""The paper's experiments, repetition by repetition.

Bugg, Chen & Aswani, arXiv:2111.04580, section 5. In a repetition every method gets the same samples of
the same random tensor, made from the repetition's seed alone: a row gives the same tensors whichever
methods run and whichever rows ran before it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Self

import numpy as np

from demosaic_ntc.errors import InputError

from ..data.paper_tables import TABLES, Row, Table
from ..data.synthetic import draw_samples, random_truth
from ..methods.completions import Completion, Outcome, Proof, Solver, catalogue
from ..methods.metrics import RESOLUTION, nmse
from ..methods.tensors import RankOneSum, Samples
from .case import Case, Measured, costed
from .case import Row as Figures
from .part import Part, cannot_run
from .protocol import machine, versions

#: Ours, baselines of the paper as published, what its TNCP figures measure, and a method without a model.
METHODS = ("ntc", "ntc-least", "ntc-auto", "als", "silrtc", "mean-elsewhere", "mean")


@dataclass(frozen=True, slots=True)
class Experiment:
    """A row of a table."""

    table: Table
    row: Row

    @property
    def label(self) -> int:
        """The value by which this row differs from the others of its table."""
        return int(getattr(self.row, self.table.varies))

    @property
    def name(self) -> str:
        """The size as the paper writes it, all modes are alike, and the number of samples."""
        return f"{self.row.size}^×{self.row.order}, n = {self.row.samples:,}"

    def is_named(self, token: str) -> bool:
        """Whether a user's token means this row: by what varies in its table, or as size^order."""
        return token in (str(self.label), f"{self.row.size}^{self.row.order}")


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


@dataclass(frozen=True, slots=True)
class Repetition:
    """An experiment with a seed: a random tensor and samples of it."""

    experiment: Experiment
    seed: int


@dataclass(frozen=True)
class PaperPart(Part):
    """Which experiments are repeated by which methods."""

    name = "paper"
    version = 2
    keys = ("table", "size", "order", "samples", "noise", "method", "settings", "seed")

    experiments: tuple[Experiment, ...] = ()
    seeds: tuple[int, ...] = ()
    solver: Solver = field(default_factory=Solver)

    @property
    def cases(self) -> list[Case]:
        """Every repetition by every method, row by row; a method that refuses one leaves its row."""
        return [
            self._repeated(experiment, seed, method)
            for experiment in self.experiments
            for seed in self.seeds
            for method in self.methods
        ]

    def _repeated(self, experiment: Experiment, seed: int, method: Any) -> Case:
        """One repetition by one method."""
        row, table = experiment.row, experiment.table.name
        place = {"size": row.size, "order": row.order, "samples": row.samples, "noise": row.noise}
        key = {"table": table, **place, "method": method.name, "settings": method.settings, "seed": seed}
        return Case(
            key,
            table,
            experiment.name,
            method,
            Repetition(experiment, seed),
            warmth=f"{method.name} {row.order}",
            row=f"{table} {experiment.label} {method.name}",
        )

    def load(self, source: Repetition) -> tuple[RankOneSum, Samples]:
        """The random tensor and the samples of a repetition."""
        return instance(source.experiment.row, source.seed)

    def warm_up(self, case: Case, loaded: Any) -> object:
        """Run a method on tiny tensors of that order; a peer that fails may still do what is measured."""
        order = case.source.experiment.row.order
        tiny = [instance(Row(3, order, 20, noise), seed=0)[1] for noise in (0.0, 0.1)]
        return [case.method.run(samples, 0) for samples in tiny]

    def measure(self, case: Case, loaded: tuple[RankOneSum, Samples]) -> Measured:
        """Run one method once and compare its estimate with the truth."""
        truth, samples = loaded
        outcome: Outcome
        outcome, cost = costed(lambda: case.method.run(samples, case.source.seed))
        error = {"nmse": _finite(nmse(outcome.estimate, truth))}
        return Measured(error | cost | proof_figures(outcome.proof) | {"machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        """What a reader must know to repeat the measurement."""
        deadline = "no deadline" if self.solver.deadline is None else f"{self.solver.deadline:g} s"
        return {
            "machine": machine(),
            "versions": versions("gurobipy", "highspy"),
            "repetitions": f"{len(self.seeds)}, seeds {self.seeds[0]} to {self.seeds[-1]}, the same tensors "
            "for all methods",
            "truth": "ten random 0-1 rank-one tensors, weighted by uniform numbers over their sum",
            "samples": "cells drawn with replacement; noise, where there is any, is cut off at 0",
            "solver": f"gap {self.solver.gap:g}, {deadline}",
            "seconds": "wall clock of one call on these samples; kernels are compiled before",
            "CPU seconds": "the same call on all threads; what the paper's seconds are divided by",
            "NMSE": f"over all entries; exact to about {RESOLUTION:g}",
            "±": "standard error of the mean",
            "memory": "peak resident memory of the process during the call, libraries included",
            "paper": "arXiv:2111.04580: 100 repetitions on a 2.3 GHz Core i5; times are of another machine",
            **self.told,
        }

    @property
    def plan(self) -> Figures:
        """Which code's results are meant, of which repetitions."""
        settings = {method.name: method.settings for method in self.methods}
        return {"settings": settings, "seeds": list(self.seeds)}

    @classmethod
    def revived(cls, plan: Figures) -> Self:
        """The part from its plan, all rows of the paper's tables."""
        known = catalogue(Solver())
        methods = [
            Completion(name, settings, known[name].role, cannot_run, known[name].paper)
            for name, settings in plan["settings"].items()
        ]
        return cls((), tuple(methods), tuple(select(TABLES, [])), tuple(plan["seeds"]))


def instance(row: Row, seed: int) -> tuple[RankOneSum, Samples]:
    """The random tensor and the samples of one repetition."""
    generator = np.random.default_rng([seed, row.size, row.order, row.samples])
    truth = random_truth(row.shape, generator)
    return truth, draw_samples(truth, row.samples, row.noise, generator)


def _finite(error: float) -> float:
    """The error of an estimate; one that overflowed is no estimate."""
    if not isfinite(error):
        raise ArithmeticError(f"the estimate's error is {error}")
    return error


def proof_figures(proof: Proof | None) -> Figures:
    """What a method proved, as plain values; None where it proves nothing."""
    names = ("status", "objective", "lower_bound", "gap", "radius", "iterations", "least_radius")
    calls = " ".join(f"{kind}={count}" for kind, count in proof.oracle_calls.items()) if proof else None
    return {name: getattr(proof, name, None) for name in names} | {"oracle_calls": calls}
