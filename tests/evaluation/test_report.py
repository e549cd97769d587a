from pathlib import Path

import pytest

from demosaic_ntc.errors import InputError
from evaluation.convergence import Step, Trace, thinned, traced
from evaluation.methods import Solver, catalogue
from evaluation.paper import Record, select
from evaluation.paper_tables import Row
from evaluation.report_file import ReportFile
from evaluation.report_paper import PaperPart, PaperStore, described, run_missing, summaries


def test_sections_are_kept_together_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    file = ReportFile(path)
    assert file.get("one") is None
    file.put("one", [1, 2])
    file.section("two").write({"a": "b"})
    again = ReportFile(path)
    assert (again.get("one"), again.section("two").read(), again.section("three").read()) == (
        [1, 2],
        {"a": "b"},
        None,
    )


@pytest.mark.parametrize("content", ["", "[1]", '{"format": "other"}', '{"my": "notes"}'])
def test_another_file_is_not_taken_for_a_report(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(InputError, match="holds no report"):
        ReportFile(path)


def test_repetitions_are_summed_up_from_the_file_as_they_were_measured(tmp_path: Path) -> None:
    known = catalogue(Solver())
    part = PaperPart(tuple(select(["1"], ["10"])), (known["als"], known["mean"]), (0, 1), Solver())
    file = ReportFile(tmp_path / "results.json")
    store = PaperStore(file.section("paper"), {})
    measured = list(run_missing(part, store))
    assert len(measured) == 4
    assert list(run_missing(part, store)) == []
    again = PaperStore(ReportFile(file.path).section("paper"), {})
    als, mean = summaries(again, described(part))
    errors = [
        result.nmse for result in measured if isinstance(result, Record) and result.method.name == "als"
    ]
    assert als.nmse.mean == pytest.approx(sum(errors) / 2)
    assert (als.published is not None, mean.published) == (True, None)
    assert als.published is known_row_als()
    other = {"settings": {"als": "other settings"}, "seeds": [0, 1]}
    assert summaries(again, other) == []


def known_row_als() -> object:
    """What the paper has for alternating least squares on tensors of size 10."""
    (experiment,) = select(["1"], ["10"])
    return experiment.row.published["als"]


def test_bounds_close_in_on_the_optimum() -> None:
    trace = traced(Row(4, 3, 60, 0.02))
    objectives = [step.objective for step in trace.steps]
    assert objectives == sorted(objectives, reverse=True)
    assert all(step.lower_bound <= trace.steps[-1].objective for step in trace.steps)
    assert Trace.decoded(trace.encoded()) == trace


def test_long_traces_keep_their_ends() -> None:
    steps = [Step(i, 1.0 / (i + 1), 0.0, 1) for i in range(5000)]
    kept = thinned(steps)
    assert (kept[0], kept[-1]) == (steps[0], steps[-1])
    assert len(kept) <= 402
    assert thinned(steps[:3]) == tuple(steps[:3])
