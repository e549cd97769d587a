"""The command ``benchmark convert``: what conversions cost, measured in processes of their own."""

import json
import os
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from cli.app import app
from cli.commands.demo import RAW, SAMPLES
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.raw.reading import read_photo
from evaluation.commands import benchmarks
from evaluation.commands.running import THREAD_VARIABLES
from evaluation.data.raws import REAL, Raw, phone_raws, real_raws
from evaluation.measure.benchmark import cannot_run
from evaluation.measure.case import run
from evaluation.measure.convert import CONVERSION_STAGES as STAGES
from evaluation.measure.convert import ConvertBenchmark
from evaluation.measure.results import Results
from evaluation.measure.store import Store
from evaluation.methods.method import Method
from evaluation.methods.programs import ConversionCost, run_program


def measured(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["benchmark", "convert", *arguments])


def test_what_conversions_cost_is_printed_and_written_with_its_protocol(tmp_path: Path) -> None:
    target = tmp_path / "costs.json"
    arguments = (
        "--sizes",
        "0.06",
        "--quality",
        "fast",
        "--programs",
        "demosaic-ntc,libraw-ahd",
        "--json",
        str(target),
    )
    result = measured(str(SAMPLES / RAW), *arguments)
    assert result.exit_code == 0, result.stderr
    written = json.loads(target.read_text())
    by_name = {(row["image"], row["program"]): row for row in written["results"]}
    assert set(by_name) == {(n, p) for n in (RAW, "synthetic 0.06") for p in ("demosaic-ntc", "libraw-ahd")}
    ours = by_name["synthetic 0.06", "demosaic-ntc"]
    assert list(ours["stages"]) == list(STAGES)
    assert ours["cpu_seconds"] == pytest.approx(sum(ours["stages"].values()))
    assert ours["megapixels"] == pytest.approx(0.06)
    assert 50e6 < ours["peak_bytes"] < 2e9
    assert by_name[RAW, "libraw-ahd"]["stages"] == {}
    assert f"{ours['peak_bytes'] / 2**30:.2f}" in result.stdout
    for name, text in written["protocol"].items():
        assert f"{name}: {text}" in result.stdout
    again = measured(str(SAMPLES / RAW), *arguments)
    assert json.loads(target.read_text()) == written, again.stderr  # nothing is measured twice


@pytest.mark.parametrize("sizes", ["0", "a", "1000"])
def test_sizes_that_are_none_are_wrong_usage(sizes: str) -> None:
    result = measured("--sizes", sizes)
    assert result.exit_code == 2
    assert "megapixels" in result.stderr


def test_without_raws_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMOSAIC_NTC_DATA", raising=False)
    assert measured("--sizes", "").exit_code == 2


def test_raws_of_a_folder_are_those_that_can_be_decoded(tmp_path: Path) -> None:
    (tmp_path / "a.dng").write_bytes((SAMPLES / RAW).read_bytes())
    (tmp_path / "b.dng").write_bytes(b"no raw")
    (found,) = real_raws([tmp_path])
    assert (found.name, found.set) == ("a.dng", REAL)
    assert found.make(tmp_path) == tmp_path / "a.dng"


def test_a_raw_of_a_phone_is_as_noisy_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMOSAIC_NTC_DATA", str(tmp_path))
    assert phone_raws(1.0) == []
    (tmp_path / "kodak").mkdir()
    Image.new("RGB", (40, 30), (120, 120, 120)).save(tmp_path / "kodak" / "kodim04.png")
    assert phone_raws(0.0) == []
    (raw,) = phone_raws(0.03)
    assert raw.megapixels == pytest.approx(0.03, rel=0.05)
    photo = read_photo(raw.make(tmp_path))
    assert photo.size[0] * photo.size[1] == round(1e6 * raw.megapixels)
    green = (photo.mosaic[0::2, 1::2] - 1024) / (16383 - 1024)
    assert green.var() == pytest.approx(8.5e-4 * green.mean(), rel=0.08)
    assert photo.noise is not None
    assert photo.noise.slope[0] == pytest.approx(8.5e-4)


def test_a_peer_that_fails_is_told_and_ours_is_an_error(tmp_path: Path) -> None:
    def fails(source: Path, folder: Path) -> ConversionCost:
        raise OSError("no such program")

    raw = Raw(REAL, "a", "", 1.0, lambda folder: folder)
    peer = ConvertBenchmark((), (Method("other", "", "peer", fails),), (raw,))
    ((_, refusal),) = run(peer, peer.cases)
    assert "no such program" in refusal.reason  # type: ignore[union-attr]
    ours = ConvertBenchmark((), (Method("ntc", "", "ours", fails),), (raw,))
    with pytest.raises(OSError, match="no such program"):
        list(run(ours, ours.cases))


def test_a_command_that_is_not_there_or_writes_nothing_is_refused(tmp_path: Path) -> None:
    for command, reason in ((["no-such-command"], "not installed"), (["true"], "no picture")):
        with pytest.raises(Unsupported, match=reason):
            run_program(command, tmp_path / "picture.png")
    took = run_program(["touch", str(tmp_path / "picture.png")], tmp_path / "picture.png")
    assert took.seconds > 0
    assert took.peak_bytes > 0


@pytest.fixture
def part() -> ConvertBenchmark:
    raws = tuple(Raw(REAL, name, name, 2.0, cannot_run) for name in "ab")
    return ConvertBenchmark(
        (), tuple(Method(name, "", "peer", cannot_run) for name in ("ntc", "other")), raws
    )


def took(cpu: float, stages: dict[str, float]) -> dict[str, object]:
    costs = {"megapixels": 2.0, "seconds": 1.5, "cpu_seconds": cpu, "peak_bytes": 2**30, "stages": stages}
    return costs | {"machine": "a machine"}


def test_means_are_over_the_real_raws_and_of_what_is_known(part: ConvertBenchmark) -> None:
    stages = dict(zip(STAGES, (0.2, 0.4, 0.6, 0.8), strict=True))
    tripled = {name: 3 * value for name, value in stages.items()}
    store = Store(None, part, {})
    figures = (took(2.0, stages), took(1.0, {}), took(4.0, tripled), took(1.0, {}))
    for case, row in zip(part.cases, figures, strict=True):
        store.add(case, row)
    (table,) = part.tables(Results.of(store))
    *_, ours, other = table.rows
    assert [cell.text for cell in ours] == [
        *("mean of the real raws", "ntc", "2.0", "1.50", "0.20", "0.40", "0.60", "0.80", "", "")
    ]
    assert [cell.text for cell in other][3:] == ["0.50", *[""] * 6]


def test_results_are_continued(tmp_path: Path, part: ConvertBenchmark) -> None:
    Store(tmp_path / "a.json", part, {}).add(part.cases[0], took(2.0, {"decoding": 1.0}))
    again = Store(tmp_path / "a.json", part, {})
    assert [case in again for case in part.cases] == [True, False, False, False]
    (row,) = again
    assert row["stages"] == {"decoding": 1.0}


def test_other_programs_get_as_many_threads_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(benchmarks, "measure", lambda *_: None)
    benchmarks.convert(threads=2)
    assert {environment[name] for name in THREAD_VARIABLES} == {"2"}
