"""The commands ``demosaic-ntc benchmark …``: measurements beside the published ones."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demosaic_ntc.errors import InputError

from .benchmark_all import everything, report
from .benchmark_convert import convert
from .benchmark_demosaic import demosaic
from .benchmark_errors import errors
from .benchmark_inpaint import inpaint
from .benchmark_noise import noise
from .benchmarking import check_targets, progress_bar, results_console, split_names, usage
from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.methods import Method, Solver
    from evaluation.paper import Experiment, Record, Refusal

benchmark = typer.Typer(no_args_is_help=True, help="Measure against published results.")

CONTROL = "mean"


@benchmark.callback()
def group() -> None:
    """Measure against published results."""


@dataclass(slots=True)
class Finished:
    """The results so far; they are kept whatever happens next."""

    results: list["Record | Refusal"] = field(default_factory=list)

    @property
    def noisy(self) -> list["Record"]:
        """The repetitions with noise, where optimality has to be proven."""
        kind = evaluation("paper").Record
        return [each for each in self.results if isinstance(each, kind) and each.experiment.row.noise > 0]


@dataclass(frozen=True, slots=True)
class Targets:
    """Where the results go besides the screen."""

    json: Path | None
    csv: Path | None
    plot: Path | None

    def check(self) -> None:
        """Refuse before hours of work what could not be written after them."""
        check_targets(self.json, self.csv, self.plot)
        if self.plot is not None:
            if find_spec("matplotlib") is None:
                raise InputError("plots need matplotlib; install demosaic-ntc[benchmark]")
            evaluation("plots").check_format(self.plot)


@benchmark.command()
def paper(
    table: Annotated[str, typer.Option(help="Tables of the paper, 1 to 4, or noisy.")] = "1,2,3,4",
    rows: Annotated[
        str, typer.Option(help="Only these rows: size in table 1, order in 2, samples in 3 and 4, or 10^6.")
    ] = "",
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of each row.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first repetition.")] = 0,
    methods: Annotated[
        str, typer.Option(help=f"Methods to compare; {CONTROL} always runs as a control.")
    ] = "ntc,ntc-least,ntc-auto,als,silrtc,tncp",
    gap: Annotated[float, typer.Option(min=0.0, help="Certified gap at which our solver stops.")] = 1e-6,
    deadline: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds our solver may take for one tensor.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write everything to this JSON file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a line per repetition to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the results (png, pdf or svg).")] = None,
) -> None:
    """Repeat the experiments of the paper and print our figures beside its.

    An interrupted run prints and writes the repetitions that are finished.
    """
    seeds, targets = range(seed, seed + reps), Targets(json, csv, plot)
    solver: Solver = evaluation("methods").Solver(gap, deadline)
    with usage():
        experiments: list[Experiment] = evaluation("paper").select(split_names(table), split_names(rows))
        chosen = _choose(methods, solver)
        targets.check()
    finished = Finished()
    try:
        _collect(finished, experiments, chosen, seeds)
    except Exception:
        targets = replace(targets, plot=None)  # a drawing does not tell that half of it is missing
        raise
    finally:
        _report(finished, evaluation("protocol").protocol(seeds, chosen, solver), targets)


def _choose(names: str, solver: "Solver") -> list["Method"]:
    """The methods of that name, and the control."""
    known: dict[str, Method] = evaluation("methods").catalogue(solver)
    chosen: list[Method] = evaluation("choosing").picked(known, [*split_names(names), CONTROL])
    return chosen


def _collect(
    finished: Finished, experiments: list["Experiment"], methods: list["Method"], seeds: Iterable[int]
) -> None:
    """Run everything; each result is in `finished` as soon as it is there."""
    module = evaluation("paper")
    seeds = list(seeds)
    with progress_bar(len(experiments) * len(methods) * len(seeds)) as advance:
        for result in module.run(experiments, methods, seeds):
            finished.results.append(result)
            is_over = isinstance(result, module.Refusal)
            advance(_description(result), len(seeds) - seeds.index(result.seed) if is_over else 1)


def _description(result: "Record | Refusal") -> str:
    """What was just done, for the progress bar."""
    experiment = result.experiment
    size = evaluation("paper_comparison").tensor_size(experiment)
    return f"{size}, n = {experiment.row.samples:,}: {result.method.name}"


def _report(finished: Finished, protocol: dict[str, str], targets: Targets) -> None:
    """Write and print what is finished."""
    from .text_tables import text_table

    _write(finished, protocol, targets)  # before anything is printed: whoever reads along may have stopped
    console, module = results_console(), evaluation("paper_comparison")
    summaries = evaluation("summary").summarise(finished.results)
    for table in module.comparison_tables(summaries):
        console.print(text_table(table))
    if finished.noisy:
        console.print(text_table(module.proof_table(finished.noisy)))
    for words in module.refusal_words(summaries):
        console.print(words, markup=False)
    for name, text in protocol.items():
        console.print(f"{name}: {text}", markup=False)


def _write(finished: Finished, protocol: dict[str, str], targets: Targets) -> None:
    """Write the files that were asked for."""
    results = evaluation("results")
    if targets.json is not None:
        results.write_json(targets.json, protocol, finished.results)
    if targets.csv is not None:
        results.write_csv(targets.csv, finished.results)
    summaries = evaluation("summary").summarise(finished.results)
    if targets.plot is not None and any(summary.has_means for summary in summaries):
        evaluation("plots").write_plot(targets.plot, summaries)


benchmark.command("all")(everything)
benchmark.command()(report)
benchmark.command()(demosaic)
benchmark.command()(inpaint)
benchmark.command()(errors)
benchmark.command()(noise)
benchmark.command()(convert)
