import json
from pathlib import Path
from typing import Any

import pytest

from demosaic_ntc.errors import InputError
from evaluation.data.paper_tables import Row
from evaluation.data.sets import ImageSet, SetImage
from evaluation.measure.benchmark import Benchmark
from evaluation.measure.case import Measurement, run
from evaluation.measure.convergence import thin, trace_completion
from evaluation.measure.paper import PaperBenchmark, select
from evaluation.measure.results import Results
from evaluation.measure.store import ReportFile, Store
from evaluation.measure.summary import summaries
from evaluation.methods.completions import Solver, catalogue
from evaluation.report.gallery import Gallery
from evaluation.report.report import PARTS, load_results


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
    part = PaperBenchmark((), (known["als"], known["mean"]), tuple(select(["1"], ["10"])), (0, 1))
    file = ReportFile(tmp_path / "results.json")
    file.put("paper plan", part.plan)
    store, errors = Store(file, part), []
    for case, result in run(part, part.cases):
        assert isinstance(result, Measurement)
        store.add(case, result.figures)
        errors += [result.figures["nmse"]] if case.method.name == "als" else []
    assert all(case in store for case in part.cases)
    als, mean = summaries(load_results(ReportFile(file.path))["paper"])
    estimate = als.estimate("nmse")
    assert estimate is not None
    assert estimate[0] == pytest.approx(sum(errors) / 2)
    assert (als.published_figures is not None, mean.published_figures) == (True, None)
    assert als.published_figures is known_row_als()
    other = PaperBenchmark.from_plan({"settings": {"als": "other settings"}, "seeds": [0, 1]})
    assert summaries(Results.of(Store(ReportFile(file.path), other, {}))) == []


def known_row_als() -> object:
    """What the paper has for alternating least squares on tensors of size 10."""
    (experiment,) = select(["1"], ["10"])
    return experiment.row.published["als"]


def test_bounds_close_in_on_the_optimum() -> None:
    trace = trace_completion(Row(4, 3, 60, 0.02))
    objectives = [step["objective"] for step in trace["steps"]]
    assert objectives == sorted(objectives, reverse=True)
    assert all(step["lower_bound"] <= objectives[-1] for step in trace["steps"])
    assert json.loads(json.dumps(trace)) == trace


def test_long_traces_keep_their_ends() -> None:
    steps = [{"iteration": i, "objective": 1.0 / (i + 1)} for i in range(5000)]
    kept = thin(steps)
    assert (kept[0], kept[-1]) == (steps[0], steps[-1])
    assert len(kept) <= 402
    assert thin(steps[:3]) == steps[:3]


def nothing_measured() -> dict[str, Benchmark]:
    """Every part of a report, on one picture, before anything was measured."""
    sets = (ImageSet("set", (SetImage(Path("a.png"), "sha", 400, 400),)),)
    options: dict[str, dict[str, Any]] = {
        "noise": {"sigma": "5,10"},
        "inpaint": {"masks": "dead,random:50"},
        "errors": {"masks": "random:50"},
        "speed": {"qualities": "fast"},
        "convert": {"raws": [], "sizes": "0.02", "programs": "libraw-ahd"},
        "paper": {"tables": "1,noisy", "rows": "10", "seeds": [0]},
    }
    return {name: kind.of(sets, **options.get(name, {})) for name, kind in PARTS.items()}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_without_results_shows_no_figures_and_comes_back_from_its_plan(
    name: str, tmp_path: Path
) -> None:
    part = nothing_measured()[name]
    assert isinstance(part, PARTS[name])
    again = PARTS[name].from_plan(json.loads(json.dumps(part.plan)))
    keys = [case.key for case in part.cases]
    assert len(keys) > 0
    assert [case.key for case in again.cases if case.key in keys] == keys
    for details in (False, True):
        found = list(part.tables(Results.of(Store(None, part)), details=details))
        assert all(cell.value is None for table in found for row in table.rows for cell in row)
    results = Results.of(Store(None, again, {}), stamped=False)
    assert list(again.drawings(results, Gallery(tmp_path, whole=False))) == []
