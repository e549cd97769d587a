"""Made bursts and the benchmark of merging."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.errors import InputError
from evaluation.bursts.gains import decibels
from evaluation.bursts.made import RGGB, Burst, add_mover, make_burst
from evaluation.bursts.part import MergeBenchmark
from evaluation.bursts.ways import (
    OURS,
    SINGLE,
    WAYS,
    average_pictures,
    merge_groups,
    merge_then_demosaic,
    regress_kernels,
)
from evaluation.data.sets import ImageSet, SetImage, read_set
from evaluation.measure.case import Measurement, run
from evaluation.measure.results import Results
from evaluation.measure.store import Store
from tests.cli.waves import save_waves


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_waves(tmp_path_factory.mktemp("bursts") / "waves", [(160, 200)], 9.0)


@pytest.fixture(scope="module")
def picture(pictures: Path) -> SetImage:
    return read_set(pictures, None).pictures[0]


@pytest.fixture(scope="module")
def burst(picture: SetImage) -> Burst:
    return make_burst(picture, 4, 6.0, 0)


def test_frames_show_the_scene_where_they_say(burst: Burst) -> None:
    """The truth, read at the places of a frame, is what that frame sees."""
    affine, side = burst.affines[2], len(burst.views[0])
    y, x = np.mgrid[0:side, 0:side]
    rows, columns = (start + down * y + across * x for start, down, across in affine)
    green = map_coordinates(burst.views[0][..., 1], [rows, columns], order=3, mode="nearest")
    inner = slice(14, -14)
    assert np.abs(green - burst.views[2][..., 1])[inner, inner].max() < 0.01
    assert np.abs(affine[:, 0]).max() > 0.5


def test_noise_is_even_under_the_curve(burst: Burst) -> None:
    clean = np.asarray(RGGB.sample(burst.views[0]))
    rest = burst.mosaics[0] - clean
    dark, bright = clean < np.median(clean), clean >= np.median(clean)
    for part in (dark, bright):
        assert np.std(rest[part]) == pytest.approx(burst.deviation, rel=0.1)


def test_a_sensor_is_shifted_by_whole_pixels(picture: SetImage) -> None:
    views = make_burst(picture, 4, 0.0, 0, "shifts").views
    assert np.allclose(views[3][:-1, :-1], views[0][1:, 1:], atol=1e-6)


def test_a_mover_is_where_its_track_is(picture: SetImage) -> None:
    burst = make_burst(picture, 2, 6.0, 0)
    before = [each.copy() for each in burst.mosaics]
    track = add_mover(burst, 0.2)
    changed = np.any([after != own for after, own in zip(burst.mosaics, before, strict=True)], axis=0)
    assert changed.any()
    assert not (changed & ~track).any()


@pytest.mark.parametrize("way", [average_pictures, merge_then_demosaic, regress_kernels])
def test_simpler_ways_are_pictures_of_the_scene(way, burst: Burst) -> None:  # type: ignore[no-untyped-def]
    assert decibels(way(burst, 1), burst.views[0]) > 28


def test_the_benchmark_prints_gains(pictures: Path) -> None:
    words = ["benchmark", "merge", str(pictures), "--images", "1", "--frames", "2", "--noises", "6"]
    answer = CliRunner().invoke(app, [*words, "--no-cases"])
    assert answer.exit_code == 0, answer.output
    assert "groups" in answer.stdout
    assert "kernel regression" in answer.stdout


@pytest.mark.parametrize("wrong", [("--frames", "1"), ("--frames", "x"), ("--noises", "0")])
def test_wrong_numbers_are_wrong_usage(pictures: Path, wrong: tuple[str, str]) -> None:
    answer = CliRunner().invoke(app, ["benchmark", "merge", str(pictures), "--images", "1", *wrong])
    assert answer.exit_code == 2


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    """One picture, of which frames see 64 × 64 pixels."""
    return read_set(save_waves(tmp_path_factory.mktemp("small") / "waves", [(128, 128)], 9.0), None)


def test_the_report_has_every_way_on_the_same_burst(small: ImageSet) -> None:
    part, picture = MergeBenchmark.of([small], frames="2", sigma="6"), small.pictures[0]
    store = Store(None, part)
    shown = {}
    for case, found in run(part, part.cases):
        assert isinstance(found, Measurement)
        store.add(case, found.figures)
        assert found.restored is not None
        shown[case.method.name] = found.restored.image
    assert set(shown) == set(WAYS)
    (table,) = part.tables(Results.of(store))
    figures = {row[0].text: float(row[1].text) for row in table.rows}
    burst = make_burst(picture, 2, 6.0, 0)
    assert figures[OURS] == pytest.approx(decibels(merge_groups(burst, 1), burst.views[0]), abs=0.006)
    assert figures[OURS] > figures[SINGLE]
    (look,) = part.looks
    truth = look.versions(picture.pixels())["truth"].astype(np.float64)
    assert truth.shape == shown[OURS].shape == (128, 128, 3)  # twice as large
    for image in shown.values():
        assert np.abs(image - truth)[24:-24, 24:-24].mean() < 12


def test_a_part_of_a_report_comes_back_as_it_was_described(small: ImageSet) -> None:
    part = MergeBenchmark.of([small], frames="2,4", sigma="5,20")
    again = MergeBenchmark.from_plan(json.loads(json.dumps(part.plan)))
    assert again.work == part.work
    assert [case.key for case in again.cases] == [case.key for case in part.cases]


@pytest.mark.parametrize("wrong", [{"frames": "1"}, {"frames": ""}, {"sigma": "x"}])
def test_what_is_no_burst_is_refused(small: ImageSet, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="numbers above 1"):
        MergeBenchmark.of([small], **wrong)
