"""The paper's experiments as a part of a report: every repetition is kept, and none is repeated."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .convergence import Trace
from .data_table import DataTable
from .drawing import Drawing
from .methods import Method, Proof, Solver, catalogue
from .paper import Experiment, Record, Refusal, attempt, instance, warm_up
from .paper_comparison import comparison_tables, refusal_words
from .paper_tables import TABLES
from .plots import paper_figure
from .protocol import SOLVER_LAYERS, engine, machine
from .report_plots import convergence
from .results import flat
from .store import ResultStore
from .summary import Summary, summarise
from .viewer_page import Scene

FORMAT = "demosaic-ntc benchmark paper 2"

#: Ours, baselines of the paper as published, what its TNCP figures measure, and a method without a model.
METHODS = ("ntc", "ntc-least", "ntc-auto", "als", "silrtc", "mean-elsewhere", "mean")


@dataclass(frozen=True, slots=True)
class PaperKey:
    """What a repetition depends on: two results with the same key are interchangeable."""

    table: str
    size: int
    order: int
    samples: int
    noise: float
    method: str
    settings: str
    seed: int


@dataclass(frozen=True, slots=True)
class PaperResult:
    """One repetition as plain values; what a method does not prove is None."""

    table: str
    size: int
    order: int
    samples: int
    noise: float
    method: str
    settings: str
    seed: int
    nmse: float
    seconds: float
    peak_bytes: int
    status: str | None
    objective: float | None
    lower_bound: float | None
    gap: float | None
    radius: float | None
    iterations: int | None
    oracle_calls: str | None
    least_radius: float | None
    cpu_seconds: float | None
    machine: str

    @property
    def key(self) -> PaperKey:
        """What this result depends on."""
        place = (self.table, self.size, self.order, self.samples, self.noise)
        return PaperKey(*place, self.method, self.settings, self.seed)


class PaperStore(ResultStore[PaperResult]):
    """The repetitions of this run and of earlier ones."""

    form = FORMAT
    kind = PaperResult
    key_kind = PaperKey
    unbounded = ()


@dataclass(frozen=True, slots=True)
class PaperPart:
    """Which experiments are repeated by which methods."""

    experiments: tuple[Experiment, ...]
    methods: tuple[Method, ...]
    seeds: tuple[int, ...]
    solver: Solver

    def settings(self, method: Method) -> str:
        """How a method is called; ours changes with its code."""
        ours = f", gap {self.solver.gap:g}, {engine(SOLVER_LAYERS)}" if method.is_ours else ""
        return method.explanation + ours

    def key(self, experiment: Experiment, method: Method, seed: int) -> PaperKey:
        """What a repetition depends on."""
        row = experiment.row
        place = (experiment.table.name, row.size, row.order, row.samples, row.noise)
        return PaperKey(*place, method.name, self.settings(method), seed)

    @property
    def keys(self) -> list[PaperKey]:
        """All repetitions."""
        return [
            self.key(experiment, method, seed)
            for experiment in self.experiments
            for seed in self.seeds
            for method in self.methods
        ]


def run_missing(part: PaperPart, store: PaperStore) -> Iterator[Record | Refusal]:
    """Do what is not in the store, one repetition after the other; a method that refuses a row leaves it."""
    warm = set[tuple[str, int]]()
    for experiment in part.experiments:
        running = list(part.methods)
        for seed in part.seeds:
            wanted = [method for method in running if part.key(experiment, method, seed) not in store]
            if not wanted:
                continue
            truth, samples = instance(experiment.row, seed)
            for method in wanted:
                if (method.name, experiment.row.order) not in warm:
                    warm_up(method, experiment.row.order)
                    warm.add((method.name, experiment.row.order))
                result = attempt(experiment, method, seed, truth, samples)
                if isinstance(result, Refusal):
                    running.remove(method)
                    store.refuse(part.key(experiment, method, seed), result.reason)
                else:
                    settings = part.settings(method)
                    store.add(PaperResult(**flat(result), settings=settings, machine=machine()))
                yield result


def described(part: PaperPart) -> dict[str, Any]:
    """The part as JSON has it: which code's results are meant, of which repetitions."""
    return {
        "settings": {method.name: part.settings(method) for method in part.methods},
        "seeds": list(part.seeds),
    }


def summaries(
    results: Iterable[PaperResult], plan: dict[str, Any], reasons: Mapping[PaperKey, str] | None = None
) -> list[Summary]:
    """Means over the repetitions that a described part means, table by table in the paper's order."""
    methods, settings, seeds = catalogue(Solver()), plan["settings"], plan["seeds"]

    def is_meant(key: PaperKey | PaperResult) -> bool:
        return settings.get(key.method) == key.settings and key.seed in seeds

    done = [_record(result, methods[result.method]) for result in results if is_meant(result)]
    refused = [
        Refusal(_experiment(key), methods[key.method], key.seed, reason)
        for key, reason in (reasons or {}).items()
        if is_meant(key)
    ]
    return summarise(sorted([*done, *refused], key=lambda result: _position(result, list(settings))))


def _position(result: Record | Refusal, methods: list[str]) -> tuple[int, int, int]:
    """Where a repetition stands: tables in the paper's order, then rows, then methods as they were chosen."""
    experiment = result.experiment
    return list(TABLES).index(experiment.table.name), experiment.label, methods.index(result.method.name)


def _experiment(key: PaperKey | PaperResult) -> Experiment:
    """The row of the paper that a repetition belongs to."""
    table = TABLES[key.table]
    place = (key.size, key.order, key.samples, key.noise)
    row = next(row for row in table.rows if (row.size, row.order, row.samples, row.noise) == place)
    return Experiment(table, row)


def _record(result: PaperResult, method: Method) -> Record:
    """A repetition as the experiments know it."""
    figures = (result.seed, result.nmse, result.seconds, result.peak_bytes)
    return Record(_experiment(result), method, *figures, _proof(result), result.cpu_seconds)


def _proof(result: PaperResult) -> Proof | None:
    """What was proven, if anything."""
    if result.status is None:
        return None
    bounds = (result.objective, result.lower_bound, result.gap, result.radius)
    objective, lower_bound, gap, radius = (value or 0.0 for value in bounds)
    iterations = result.iterations or 0
    return Proof(result.status, objective, lower_bound, gap, radius, iterations, {}, result.least_radius)


@dataclass(frozen=True, slots=True)
class PaperView:
    """The repetitions of the paper's experiments, and how some completions converged."""

    summaries: tuple[Summary, ...]
    traces: tuple[Trace, ...]

    @property
    def tables(self) -> Iterator[DataTable]:
        """Our figures beside the paper's."""
        yield from comparison_tables(self.summaries)

    @property
    def refused(self) -> list[str]:
        """What could not be run, and why."""
        return refusal_words(self.summaries)

    @property
    def drawings(self) -> Iterator[Drawing]:
        """The paper's figures with ours, and convergence."""
        if any(summary.has_means for summary in self.summaries):
            caption = "NMSE and seconds, with bars of one standard error; dashed: the paper's means"
            yield Drawing("paper", "The paper's experiments", caption, paper_figure(self.summaries))
        if self.traces:
            caption = "objective and proven lower bound by iteration: the optimum lies between them"
            yield Drawing("convergence", "Convergence", caption, convergence(self.traces))

    @property
    def scenes(self) -> Iterator[Scene]:
        """Tensors are no pictures."""
        yield from ()
