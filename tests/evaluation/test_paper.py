import csv
import json
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.errors import InputError, TooLarge
from evaluation.control import constant_mean
from evaluation.methods import Method, Outcome, Solver, catalogue
from evaluation.paper import Experiment, Record, Refusal, instance, run, select
from evaluation.paper_comparison import comparison_tables
from evaluation.paper_tables import TABLES, PaperMethod, Row, Table
from evaluation.plots import paper_figure
from evaluation.results import write_csv, write_json
from evaluation.summary import summarise
from evaluation.tensors import Samples

TINY = Experiment(Table("tiny", "tiny", "size", (Row(4, 3, 30),)), Row(4, 3, 30))


def spy(name: str, seen: list[Samples]) -> Method:
    def solve(samples: Samples, seed: int) -> Outcome:
        if samples.shape == TINY.row.shape:
            seen.append(samples)
        return Outcome(constant_mean(samples))

    return Method(name, "records what it is given", solve, None)


def refuse(samples: Samples, seed: int) -> Outcome:
    if samples.shape == TINY.row.shape:
        raise TooLarge("too large; choose a smaller one")
    return Outcome(constant_mean(samples))


def test_all_methods_get_the_same_samples_in_a_repetition_and_others_in_the_next() -> None:
    first: list[Samples] = []
    second: list[Samples] = []
    list(run([TINY], [spy("a", first), spy("b", second)], [0, 1]))
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0].index, first[1].index)


def test_a_repetition_depends_on_its_seed_alone() -> None:
    (_, once), (_, again) = instance(TINY.row, 5), instance(TINY.row, 5)
    np.testing.assert_array_equal(once.index, again.index)
    np.testing.assert_array_equal(once.value, again.value)


def test_results_come_one_by_one_so_that_an_interruption_keeps_the_finished_ones() -> None:
    calls: list[int] = []

    def interrupted(samples: Samples, seed: int) -> Outcome:
        if samples.shape == TINY.row.shape:
            calls.append(seed)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return Outcome(constant_mean(samples))

    finished: list[Record | Refusal] = []
    results = run([TINY], [Method("m", "", interrupted, None)], range(9))
    with pytest.raises(KeyboardInterrupt):
        finished.extend(results)
    assert [result.seed for result in finished if isinstance(result, Record)] == [0, 1]


def test_a_method_that_refuses_a_row_is_asked_once_and_the_others_go_on() -> None:
    seen: list[Samples] = []
    results = list(run([TINY], [Method("big", "", refuse, None), spy("a", seen)], range(3)))
    assert [result.reason for result in results if isinstance(result, Refusal)] == [
        "too large; choose a smaller one"
    ]
    assert len(seen) == 3


def failing(paper: PaperMethod | None, at: int) -> Method:
    def solve(samples: Samples, seed: int) -> Outcome:
        if seed == at:
            raise np.linalg.LinAlgError("Singular\nmatrix")
        return Outcome(constant_mean(samples))

    return Method("broken", "", solve, paper)


def test_a_peer_that_fails_has_no_mean_and_the_others_go_on() -> None:
    results = list(run([TINY], [failing("tncp", at=1), spy("a", [])], [2, 1, 3]))
    broken, other = summarise(results)
    assert [refusal.reason for refusal in broken.refusals] == [
        "failed (LinAlgError: Singular matrix); its figures are left out"
    ]
    assert ([record.seed for record in broken.records], broken.has_means) == ([2], False)
    assert (len(other.records), other.has_means) == (3, True)


def test_a_failure_of_ours_is_an_error() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        list(run([TINY], [failing("ntc", at=1)], [1]))


def test_a_peer_that_fails_on_its_warm_up_is_measured_nevertheless() -> None:
    (record,) = run([TINY], [failing("tncp", at=0)], [1])
    assert isinstance(record, Record)
    with pytest.raises(np.linalg.LinAlgError):
        list(run([TINY], [failing("ntc", at=0)], [1]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_estimate_that_is_not_finite_is_none(value: float) -> None:
    def solve(samples: Samples, seed: int) -> Outcome:
        return Outcome(np.full(samples.shape, value))

    (refusal,) = run([TINY], [Method("m", "", solve, None)], [0])
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("failed (")


def test_what_a_method_without_means_lacks_is_empty_in_tables_and_files(tmp_path: Path) -> None:
    experiment = select(["1"], ["10"])[0]
    results = list(run([experiment], [failing("als", at=1), spy("a", [])], [0, 1]))
    (table,) = comparison_tables(summarise(results))
    first = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert (first["method"], first["NMSE"], first["seconds"], first["MiB"]) == ("broken", "", "", "")
    assert first["paper's NMSE"] == "0.058 ± 0.002"
    assert "broken: failed (LinAlgError: Singular matrix)" in table.caption
    write_csv(tmp_path / "r.csv", results)
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    refused = [(row["method"], row["seed"], row["nmse"]) for row in rows if row["reason"]]
    assert refused == [("broken", "1", "")]
    write_json(tmp_path / "r.json", {}, results)
    content = json.loads((tmp_path / "r.json").read_text())
    assert [summary["nmse"] is None for summary in content["summaries"]] == [True, False]
    assert [(each["method"], each["seed"]) for each in content["refusals"]] == [("broken", 1)]


def test_a_plot_leaves_out_what_has_no_means() -> None:
    experiment = select(["1"], ["10"])[0]
    results = list(run([experiment], [failing("als", at=0), spy("a", [])], [0]))
    _, labels = paper_figure(summarise(results)).axes[0].get_legend_handles_labels()
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
    (record,) = run([experiment], [catalogue(Solver())["ntc"]], [0])
    assert isinstance(record, Record)
    assert record.proof is not None
    assert record.proof.status == "OPTIMAL"
    assert record.proof.objective > 0.0
    assert record.proof.objective - record.proof.lower_bound <= 1e-6


@pytest.mark.parametrize("name", list(catalogue(Solver())))
def test_every_method_beats_the_zero_tensor_or_is_known_not_to(name: str) -> None:
    (record,) = run([TINY], [catalogue(Solver())[name]], [0])
    assert isinstance(record, Record)
    assert record.peak_bytes > 2**20
    assert record.seconds > 0.0
    assert record.nmse < 1.0 or name == "tncp"


def test_summaries_have_the_mean_and_its_standard_error() -> None:
    method = spy("a", [])
    records = [Record(TINY, method, seed, float(seed), 1.0, 2**20, None) for seed in (1, 2, 3)]
    (summary,) = summarise(records)
    assert summary.nmse.mean == 2.0
    assert summary.nmse.error == pytest.approx(1.0 / np.sqrt(3.0))
    assert summary.seconds.error == 0.0


def test_a_single_repetition_has_no_standard_error() -> None:
    (summary,) = summarise([Record(TINY, spy("a", []), 0, 0.5, 1.0, 2**20, None)])
    assert summary.nmse.error is None


def test_times_are_set_against_the_paper_row_of_the_method() -> None:
    experiment = select(["1"], ["10"])[0]
    method = catalogue(Solver())["ntc-auto"]
    (summary,) = summarise([Record(experiment, method, 0, 0.5, 0.429, 2**20, None)])
    assert summary.times_faster == pytest.approx(10.0)
