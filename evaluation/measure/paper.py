"""The paper's experiments, repetition by repetition.

Bugg, Chen & Aswani, arXiv:2111.04580, section 5. In a repetition every method gets the same samples of
the same random tensor, made from the repetition's seed alone: a row gives the same tensors whichever
methods run and whichever rows ran before it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Self

import numpy as np

from demosaic_ntc.errors import InputError
from demosaic_ntc.ntc.complete import DESCENTS
from demosaic_ntc.ntc.proving import ORACLES

from .. import split_names
from ..data.paper_tables import TABLES, Row, Table
from ..data.synthetic import draw_samples, random_truth
from ..methods.completions import PROOF, Completion, CompletionResult, Solver, catalogue, variants
from ..methods.method import pick_methods
from ..methods.tensors import RESOLUTION, RankOneSum, TensorSamples, nmse
from ..report.gallery import Gallery
from ..report.plots import Drawing, paper_figure
from ..report.tables import DataTable
from .benchmark import Benchmark, cannot_run
from .case import Case, Measurement, measure_cost
from .case import Row as Figures
from .protocol import machine, versions
from .results import Results
from .summary import comparison_tables, proof_table, select_with_means, summaries

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
    def place(self) -> Figures:
        """What tells it from others."""
        row = self.row
        place = {"size": row.size, "order": row.order, "samples": row.samples, "noise": row.noise}
        return {"table": self.table.name, **place}

    def is_named(self, token: str) -> bool:
        """Whether a user's token means this row: by what varies in its table, or as size^order."""
        return token in (str(self.label), f"{self.row.size}^{self.row.order}")


def select(tables: Iterable[str], rows: Sequence[str]) -> list[Experiment]:
    """The experiments of the named tables; of those, when rows are named, only these."""
    unknown = [name for name in tables if name not in TABLES]
    if unknown:
        raise InputError(f"there is no table {unknown[0]}; choose from {', '.join(TABLES)}")
    experiments = [Experiment(TABLES[name], row) for name in tables for row in TABLES[name].rows]
    for token in rows:
        if not any(experiment.is_named(token) for experiment in experiments):
            names = ", ".join(str(experiment.label) for experiment in experiments)
            raise InputError(f"there is no row {token}; choose from {names}")
    return [e for e in experiments if not rows or any(map(e.is_named, rows))]


@dataclass(frozen=True)
class PaperBenchmark(Benchmark):
    """Which experiments are repeated by which methods."""

    name = "paper"
    version = 2
    keys = ("table", "size", "order", "samples", "noise", "method", "settings", "seed")

    experiments: tuple[Experiment, ...] = ()
    seeds: tuple[int, ...] = ()
    solver: Solver = field(default_factory=Solver)

    @classmethod
    def of(
        cls,
        sets: Sequence[Any] = (),
        tables: str = "1,2,3,4",
        rows: str = "",
        seeds: Iterable[int] = (),
        methods: str | None = None,
        oracles: str = "",
        descents: str = "",
        **solver: Any,
    ) -> Self:
        experiments, how = select(split_names(tables), split_names(rows)), Solver(**solver)
        chosen = pick_methods(catalogue(how), METHODS if methods is None else split_names(methods))
        if oracles or descents:
            named_by_both = [
                _check_names(oracles, ORACLES, "oracle"),
                _check_names(descents, DESCENTS, "descent"),
            ]
            chosen = [*variants(how, *named_by_both), *(each for each in chosen if each.role != "ours")]
        return cls((), tuple(chosen), tuple(experiments), tuple(seeds), how)

    @property
    def cases(self) -> list[Case]:
        """Every repetition by every method, row by row; a method that refuses one leaves its row."""
        return [
            Case(
                {**e.place, "method": method.name, "settings": method.settings, "seed": seed},
                e.table.name,
                f"{e.row.size}^×{e.row.order}, n = {e.row.samples:,}",
                method,
                (e.row, seed),
                warmth=f"{method.name} {e.row.order}",
                row=f"{e.table.name} {e.label} {method.name}",
            )
            for e in self.experiments
            for seed in self.seeds
            for method in self.methods
        ]

    def load(self, source: tuple[Row, int]) -> tuple[RankOneSum, TensorSamples]:
        return instance(*source)

    def warm_up(self, case: Case, loaded: Any) -> object:
        """Run a method on tiny tensors of that order; a peer that fails may still do what is measured."""
        tiny = [instance(Row(3, case.source[0].order, 20, noise), seed=0)[1] for noise in (0.0, 0.1)]
        return [case.method.run(samples, 0) for samples in tiny]

    def measure(self, case: Case, loaded: tuple[RankOneSum, TensorSamples]) -> Measurement:
        truth, samples = loaded
        outcome: CompletionResult
        outcome, cost = measure_cost(lambda: case.method.run(samples, case.source[1]))
        error = nmse(outcome.estimate, truth)
        if not isfinite(error):
            raise ArithmeticError(f"the estimate's error is {error}")  # one that overflowed is no estimate
        proof = dict.fromkeys(PROOF) | dict(outcome.proof)
        return Measurement({"nmse": error} | cost | proof | {"machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
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
            **self.protocol_lines,
        }

    @property
    def plan(self) -> Figures:
        """Which code's results are meant, of which repetitions."""
        return {"settings": {m.name: m.settings for m in self.methods}, "seeds": list(self.seeds)}

    @classmethod
    def from_plan(cls, plan: Figures) -> Self:
        """The part from its plan, all rows of the paper's tables."""
        known = catalogue(Solver())
        ours = known["ntc"]  # of which the others are variants
        methods = [
            Completion(name, settings, known.get(name, ours).role, cannot_run, known.get(name, ours).paper)
            for name, settings in plan["settings"].items()
        ]
        return cls((), tuple(methods), tuple(select(TABLES, [])), tuple(plan["seeds"]))

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """Our figures beside those of the paper's tables, and what was proven about noisy tensors."""
        yield from comparison_tables(summaries(results))
        proofs = proof_table(results.frame)
        yield from [proofs] if details and proofs.rows else []

    def drawings(self, results: Results, gallery: Gallery) -> Iterator[Drawing]:
        """The paper's figures with ours."""
        if found := select_with_means(summaries(results)):
            caption = "NMSE and seconds, with bars of one standard error; dashed: the paper's means"
            yield Drawing("paper", "The paper's experiments", caption, paper_figure(found))


def _check_names(names: str, known: Iterable[str], kind: str) -> list[str]:
    """The names of oracles or descents, refused where one is not known."""
    for name in split_names(names):
        if name not in known:
            raise InputError(f"there is no {kind} {name}; choose from {', '.join(known)}")
    return list(split_names(names))


def instance(row: Row, seed: int) -> tuple[RankOneSum, TensorSamples]:
    """The random tensor and the samples of one repetition."""
    generator = np.random.default_rng([seed, row.size, row.order, row.samples])
    truth = random_truth(row.shape, generator)
    return truth, draw_samples(truth, row.samples, row.noise, generator)
