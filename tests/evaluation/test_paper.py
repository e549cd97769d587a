import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from demosaic_ntc.errors import InputError, TooLarge
from evaluation.data.paper_tables import TABLES, PaperMethod, Row, Table
from evaluation.measure import case as cases
from evaluation.measure.case import Measurement, Refusal
from evaluation.measure.paper import Experiment, PaperBenchmark, instance, select
from evaluation.measure.results import Results
from evaluation.measure.store import Store
from evaluation.measure.summary import Summary, estimate_words, select_with_means, summaries
from evaluation.methods.completions import Completion, CompletionResult, Solver, catalogue
from evaluation.methods.method import Role
from evaluation.methods.tensors import TensorSamples, constant_mean
from evaluation.report.plots import paper_figure

TINY = Experiment(Table("tiny", "tiny", "size", (Row(4, 3, 30),)), Row(4, 3, 30))


def completion(name: str, solve: Any, paper: PaperMethod | None = None, role: Role = "peer") -> Completion:
    return Completion(name, "", "ours" if paper == "ntc" else role, solve, paper)


def part_of(
    methods: Iterable[Completion], seeds: Iterable[int], experiments: Sequence[Experiment] = (TINY,)
) -> PaperBenchmark:
    return PaperBenchmark((), tuple(methods), tuple(experiments), tuple(seeds))


def run(part: PaperBenchmark) -> list[tuple[int, Measurement | Refusal]]:
    """What was done, with its seed; rows that were refused before are not."""
    found = cases.run(part, part.cases)
    return [(case.key["seed"], result) for case, result in found if result is not None]


def kept(part: PaperBenchmark, path: Path | None = None) -> Store:
    """A store with all that a part gives."""
    store = Store(path, part)
    for case, result in cases.run(part, part.cases):
        if isinstance(result, Refusal):
            store.refuse(result)
        elif isinstance(result, Measurement):
            store.add(case, result.figures)
    return store


def summed(part: PaperBenchmark) -> list[Summary]:
    return summaries(Results.of(kept(part)))


def spy(name: str, seen: list[TensorSamples]) -> Completion:
    def solve(samples: TensorSamples, seed: int) -> CompletionResult:
        if samples.shape == TINY.row.shape:
            seen.append(samples)
        return CompletionResult(constant_mean(samples))

    return completion(name, solve)


def refuse(samples: TensorSamples, seed: int) -> CompletionResult:
    if samples.shape == TINY.row.shape:
        raise TooLarge("too large; choose a smaller one")
    return CompletionResult(constant_mean(samples))


def test_all_methods_get_the_same_samples_in_a_repetition_and_others_in_the_next() -> None:
    first: list[TensorSamples] = []
    second: list[TensorSamples] = []
    run(part_of([spy("a", first), spy("b", second)], [0, 1]))
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0].index, first[1].index)


def test_a_repetition_depends_on_its_seed_alone() -> None:
    (_, once), (_, again) = instance(TINY.row, 5), instance(TINY.row, 5)
    np.testing.assert_array_equal(once.index, again.index)
    np.testing.assert_array_equal(once.value, again.value)


def test_results_come_one_by_one_so_that_an_interruption_keeps_the_finished_ones() -> None:
    calls: list[int] = []

    def interrupted(samples: TensorSamples, seed: int) -> CompletionResult:
        if samples.shape == TINY.row.shape:
            calls.append(seed)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return CompletionResult(constant_mean(samples))

    finished: list[int] = []
    part = part_of([completion("m", interrupted)], range(9))
    with pytest.raises(KeyboardInterrupt):
        finished.extend(case.key["seed"] for case, _ in cases.run(part, part.cases))
    assert finished == [0, 1]


def test_a_method_that_refuses_a_row_is_asked_once_and_the_others_go_on() -> None:
    seen: list[TensorSamples] = []
    results = run(part_of([completion("big", refuse), spy("a", seen)], range(3)))
    assert [result.reason for _, result in results if isinstance(result, Refusal)] == [
        "too large; choose a smaller one"
    ]
    assert len(seen) == 3


def failing(paper: PaperMethod | None, at: int) -> Completion:
    def solve(samples: TensorSamples, seed: int) -> CompletionResult:
        if seed == at:
            raise np.linalg.LinAlgError("Singular\nmatrix")
        return CompletionResult(constant_mean(samples))

    return completion("broken", solve, paper)


def test_a_peer_that_fails_has_no_mean_and_the_others_go_on() -> None:
    broken, other = summed(part_of([failing("tncp", at=1), spy("a", [])], [2, 1, 3]))
    assert [refusal.reason for refusal in broken.refusals] == [
        "failed (LinAlgError: Singular matrix); its figures are left out"
    ]
    assert (list(broken.frame["seed"]), broken.has_means) == ([2], False)
    assert (len(other.frame), other.has_means) == (3, True)


def test_a_failure_of_ours_is_an_error() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        run(part_of([failing("ntc", at=1)], [1]))


def test_a_peer_that_fails_on_its_warm_up_is_measured_nevertheless() -> None:
    ((_, result),) = run(part_of([failing("tncp", at=0)], [1]))
    assert isinstance(result, Measurement)
    with pytest.raises(np.linalg.LinAlgError):
        run(part_of([failing("ntc", at=0)], [1]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_estimate_that_is_not_finite_is_none(value: float) -> None:
    def solve(samples: TensorSamples, seed: int) -> CompletionResult:
        return CompletionResult(np.full(samples.shape, value))

    ((_, refusal),) = run(part_of([completion("m", solve)], [0]))
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("failed (")


def test_what_a_method_without_means_lacks_is_empty_in_tables_and_files(tmp_path: Path) -> None:
    part = part_of([failing("als", at=1), spy("a", [])], [0, 1], select(["1"], ["10"]))
    results = Results.of(kept(part, tmp_path / "r.json"))
    (table,) = part.tables(results)
    first = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert (first["method"], first["NMSE"], first["seconds"], first["MiB"]) == ("broken", "", "", "")
    assert first["paper's NMSE"] == "0.058 ± 0.002"
    assert "broken: failed (LinAlgError: Singular matrix)" in table.caption
    results.write_csv(tmp_path / "r.csv")
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    refused = [(row["method"], row["seed"], row["nmse"]) for row in rows if row["reason"]]
    assert refused == [("broken", "1", "")]
    content = json.loads((tmp_path / "r.json").read_text())
    assert [summary.encode()["nmse"] is None for summary in summaries(results)] == [True, False]
    assert [(each["method"], each["seed"]) for each in content["refusals"]] == [("broken", 1)]


def test_a_second_run_does_only_what_is_missing(tmp_path: Path) -> None:
    seen: list[TensorSamples] = []
    kept(part_of([spy("a", seen)], [0, 1]), tmp_path / "r.json")
    again = part_of([spy("a", seen)], [0, 1, 2])
    store = Store(tmp_path / "r.json", again)
    assert [case.key["seed"] for case in again.cases if case not in store] == [2]


def test_a_plot_leaves_out_what_has_no_means() -> None:
    part = part_of([failing("als", at=0), spy("a", [])], [0], select(["1"], ["10"]))
    _, labels = paper_figure(select_with_means(summed(part))).axes[0].get_legend_handles_labels()
    assert labels == ["a"]


def test_rows_are_selected_by_what_varies_in_their_table() -> None:
    assert [e.row.size for e in select(["1"], ["10", "30"])] == [10, 30]
    assert [e.row.order for e in select(["2"], ["4", "10^6"])] == [4, 6]
    assert [e.row.samples for e in select(["3", "4"], ["1000"])] == [1000, 1000]
    assert len(select(["1", "2", "3", "4"], [])) == 23


@pytest.mark.parametrize(("tables", "rows"), [(["5"], []), (["1"], ["11"])])
def test_unknown_tables_and_rows_are_refused(tables: list[str], rows: list[str]) -> None:
    with pytest.raises(InputError, match="choose from"):
        select(tables, rows)


def test_a_noisy_row_ends_with_a_proof_of_optimality() -> None:
    experiment = Experiment(TABLES["noisy"], Row(5, 3, 60, noise=0.02))
    ((_, result),) = run(part_of([catalogue(Solver())["ntc"]], [0], [experiment]))
    assert isinstance(result, Measurement)
    figures = result.figures
    assert figures["status"] == "OPTIMAL"
    assert figures["objective"] > 0.0
    assert figures["objective"] - figures["lower_bound"] <= 1e-6


@pytest.mark.parametrize("name", list(catalogue(Solver())))
def test_every_method_beats_the_zero_tensor_or_is_known_not_to(name: str) -> None:
    ((_, result),) = run(part_of([catalogue(Solver())[name]], [0]))
    assert isinstance(result, Measurement)
    assert result.figures["peak_bytes"] > 2**20
    assert result.figures["seconds"] > 0.0
    assert result.figures["nmse"] < 1.0 or name == "tncp"


def written(figures: Sequence[float], method: Completion, experiment: Experiment, seconds: float) -> Summary:
    """The summary of repetitions with these errors."""
    part = part_of([method], range(len(figures)), [experiment])
    store = Store(None, part)
    for case, nmse in zip(part.cases, figures, strict=True):
        proof = dict.fromkeys(("status", "gap", "radius", "least_radius", "cpu_seconds"))
        store.add(case, {"nmse": nmse, "seconds": seconds, "peak_bytes": 2**20, **proof})
    (summary,) = summaries(Results.of(store))
    return summary


def test_summaries_have_the_mean_and_its_standard_error() -> None:
    summary = written([1.0, 2.0, 3.0], spy("a", []), TINY, 1.0)
    nmse, seconds = summary.estimate("nmse"), summary.estimate("seconds")
    assert nmse is not None
    assert seconds is not None
    assert nmse == pytest.approx((2.0, 1.0 / np.sqrt(3.0)))
    assert seconds == (1.0, 0.0)
    assert summary.estimate("cpu_seconds") is None


def test_a_single_repetition_has_no_standard_error() -> None:
    nmse = written([0.5], spy("a", []), TINY, 1.0).estimate("nmse")
    assert nmse is not None
    assert estimate_words(nmse, ".2g") == "0.5"


def test_times_are_set_against_the_paper_row_of_the_method() -> None:
    experiment = select(["1"], ["10"])[0]
    summary = written([0.5], catalogue(Solver())["ntc-auto"], experiment, 0.429)
    assert summary.times_faster == pytest.approx(10.0)


def test_oracles_and_descents_stand_side_by_side_with_their_calls() -> None:
    how: Any = {"tables": "1", "rows": "10", "methods": "ntc,als,mean"}
    part = PaperBenchmark.of(seeds=[0], oracles="exact,highs", descents="corrective,simplex", gap=1e-5, **how)
    names = [
        f"ntc {oracle} {descent}" for oracle in ("exact", "highs") for descent in ("corrective", "simplex")
    ]
    assert [method.name for method in part.methods] == [*names, "als", "mean"]
    tiny = part_of(cast(Any, part.methods[:4]), [0, 1], [Experiment(TINY.table, Row(5, 3, 80, noise=0.2))])
    results = Results.of(kept(tiny))
    found = summaries(results)
    by_name = {summary.method.name: summary.oracle_calls for summary in found}
    assert by_name["ntc exact simplex"]["enumeration"] >= by_name["ntc exact corrective"]["enumeration"] > 0
    assert by_name["ntc highs simplex"]["highs"] > 0
    calls = found[1].frame["oracle_calls"].str.extract(r"enumeration=(\d+)").astype(float)
    assert by_name["ntc exact simplex"]["enumeration"] == calls[0].mean()
    (table, *_) = tiny.tables(results)
    cells = [row[table.columns.index("oracle calls")].text for row in table.rows]
    assert all("enumeration" in cell or "highs" in cell for cell in cells)
    assert [m.name for m in PaperBenchmark.from_plan(part.plan).methods] == [*names, "als", "mean"]


@pytest.mark.parametrize("given", [{"oracles": "cplex"}, {"descents": "wolfe"}])
def test_unknown_oracles_and_descents_are_refused(given: Any) -> None:
    with pytest.raises(InputError, match="choose from"):
        PaperBenchmark.of(tables="1", seeds=[0], **given)


def test_what_an_oracle_cannot_do_is_a_refusal_of_its_row() -> None:
    part = PaperBenchmark.of(tables="1", rows="20", seeds=[0, 1], methods="mean", oracles="exact")
    refused = [result for _, result in run(part) if isinstance(result, Refusal)]
    assert len(refused) == 1
    assert "too large for exact search" in refused[0].reason
