import json
from pathlib import Path

import pytest

from demosaic_ntc.errors import InputError
from evaluation.commands.parts import (
    convert_part,
    demosaic_part,
    errors_part,
    inpaint_part,
    noise_part,
    paper_part,
    speed_part,
    tensors_part,
)
from evaluation.data.paper_tables import Row
from evaluation.data.sets import Picture, PictureSet
from evaluation.measure.case import Measured, run
from evaluation.measure.convergence import Step, Trace, thinned, traced
from evaluation.measure.paper import PaperPart, select
from evaluation.measure.part import Part
from evaluation.measure.results import Results
from evaluation.measure.store import ReportFile, Store
from evaluation.methods.completions import Solver, catalogue
from evaluation.methods.method import Effort
from evaluation.report.gallery import Gallery
from evaluation.report.paper import summaries
from evaluation.report.parts import PARTS, kept_results


def test_sections_are_kept_together_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    file = ReportFile(path)
    assert file.get("one") is None
    file.put("one", [1, 2])
    file.put("two", {"a": "b"})
    again = ReportFile(path)
    assert (again.get("one"), again.get("two"), again.get("three")) == ([1, 2], {"a": "b"}, None)


@pytest.mark.parametrize("content", ["", "[1]", '{"format": "other"}', '{"my": "notes"}'])
def test_another_file_is_not_taken_for_a_report(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(InputError, match="holds no report"):
        ReportFile(path)


def test_repetitions_are_summed_up_from_the_file_as_they_were_measured(tmp_path: Path) -> None:
    known = catalogue(Solver())
    part = PaperPart((), (known["als"], known["mean"]), tuple(select(["1"], ["10"])), (0, 1))
    file = ReportFile(tmp_path / "results.json")
    file.put("paper plan", part.plan)
    store, errors = Store(file, part), []
    for case, result in run(part, part.cases):
        assert isinstance(result, Measured)
        store.add(case, result.figures)
        errors += [result.figures["nmse"]] if case.method.name == "als" else []
    assert all(case in store for case in part.cases)
    als, mean = summaries(kept_results(ReportFile(file.path))["paper"])
    estimate = als.estimate("nmse")
    assert estimate is not None
    assert estimate.mean == pytest.approx(sum(errors) / 2)
    assert (als.published is not None, mean.published) == (True, None)
    assert als.published is known_row_als()
    other = PaperPart.revived({"settings": {"als": "other settings"}, "seeds": [0, 1]})
    assert summaries(Results.of(Store(ReportFile(file.path), other, {}))) == []


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


def nothing_measured() -> dict[str, Part]:
    """Every part of a report, on one picture, before anything was measured."""
    sets = (PictureSet("set", (Picture(Path("a.png"), "sha", 400, 400),)),)
    return {
        "demosaic": demosaic_part(sets, None, "RGGB", 10, Effort()),
        "tensors": tensors_part(sets, None, 10, Effort()),
        "noise": noise_part(sets, None, "5,10", 10, Effort()),
        "inpaint": inpaint_part(sets, None, "dead,random:50", Effort()),
        "errors": errors_part(sets, "RGGB", "random:50", 10, Effort()),
        "speed": speed_part(sets, "fast"),
        "convert": convert_part([], "0.02", "libraw-ahd"),
        "paper": paper_part("1,noisy", "10", [0]),
    }


@pytest.mark.parametrize("name", PARTS)
def test_a_part_without_results_shows_no_figures_and_comes_back_from_its_plan(
    name: str, tmp_path: Path
) -> None:
    part, shown = nothing_measured()[name], PARTS[name]
    assert isinstance(part, shown.kind)
    again = shown.kind.revived(json.loads(json.dumps(part.plan)))
    keys = [case.key for case in part.cases]
    assert len(keys) > 0
    assert [case.key for case in again.cases if case.key in keys] == keys
    for details in (False, True):
        found = list(shown.tables(Results.of(Store(None, part)), details=details))
        assert all(cell.value is None for table in found for row in table.rows for cell in row)
    results = Results.of(Store(None, again, {}), stamped=False)
    assert list(shown.drawings(results, Gallery(tmp_path, whole=False))) == []
