"""The benchmark of highlights: scenes whose truth is known, figures of known errors, and the table."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from evaluation.data.highlights import ClippedScene, clip_picture, make_other_scenes, make_scenes
from evaluation.data.sets import read_set
from evaluation.methods.highlights import OURS, PEERS, WAYS, align, clip, reconstruct
from evaluation.studies.highlights import Measured, compare, measure, roll_off, tables
from samples.make_samples import rounded
from samples.scene import scene


@pytest.fixture(scope="module")
def clipped() -> ClippedScene:
    return clip_picture("scene", rounded(scene(96, 128)), 0.1)


def test_a_known_share_of_a_picture_is_clipped(clipped: ClippedScene) -> None:
    regions = clipped.regions()
    assert regions["clipped"].mean() == pytest.approx(0.1, abs=0.02)
    assert np.array_equal(regions["1–2 channels"] | regions["all three"], regions["clipped"])
    assert not (regions["ring"] & regions["clipped"]).any()
    limits = np.array(clipped.levels)[Cfa.from_name("RGGB").window(slice(0, 96), slice(0, 96)).astype(int)]
    assert (clipped.mosaic <= limits.astype(np.float32)).all()
    assert np.isclose(clipped.mosaic, limits).any()


def test_further_scenes_are_of_pictures_that_end_in_white(tmp_path: Path) -> None:
    pixels = rounded(scene(96, 128)) // 2
    pixels[80:88, 100:116] = 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    sets = [read_set(tmp_path)]
    assert not list(make_scenes(sets, []))
    (other,) = make_other_scenes(sets, [])
    assert other.is_kept_out
    assert not other.known[80:88, 100:116].any()
    assert 0.9 < other.known.mean() < 1
    assert other.cfa == Cfa.from_name("GBRG")


def test_the_truth_has_no_error_and_clipping_has(clipped: ClippedScene) -> None:
    assert all(not value for value in compare(clipped.truth, clipped).values())
    brighter = compare(2 * clipped.truth, clipped)
    assert brighter["stops"] == pytest.approx(1.0, abs=1e-3)
    assert brighter["hue"] == pytest.approx(0.0, abs=1e-3)
    ours, other = (compare(way(clipped), clipped)["stops"] for way in (reconstruct, clip))
    assert ours is not None
    assert other is not None
    assert 0 < ours < 0.9 * other


def test_the_rendering_rolls_off_and_keeps_the_hue() -> None:
    light = np.linspace(0, 9, 50).reshape(5, 10, 1) * np.array([1.0, 0.5, 0.25])
    shown = roll_off(light)
    assert shown.max() < 1
    assert np.all(np.diff(shown[..., 0].ravel()) > 0)
    assert shown[..., 1] == pytest.approx(shown[..., 0] / 2)
    assert roll_off(light / 20) == pytest.approx(light / 20)


def test_pictures_are_brought_in_line(clipped: ClippedScene) -> None:
    dim = clipped.truth[2:-2, 1:-1] * np.array([0.5, 0.25, 0.75])
    aligned = align(dim, clipped)
    assert aligned[2:-2, 1:-1] == pytest.approx(clipped.truth[2:-2, 1:-1], rel=0.02)


def test_libraw_is_compared_and_programs_that_are_missing_are_not(
    clipped: ClippedScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = measure(clipped, WAYS)
    assert set(found.ways) == set(WAYS) - set(PEERS)
    assert found.ways["LibRaw blend"]["clipped"] != found.ways["LibRaw reconstruct"]["clipped"]
    assert found.is_ahead is None


def test_the_table_counts_scenes_where_others_are_ahead() -> None:
    figures = dict.fromkeys(("1–2 channels", "all three", "ring", "stops", "hue"))
    found = [
        Measured(name, kept, {OURS: {**figures, "clipped": 2.0}, PEERS[0]: {**figures, "clipped": other}})
        for name, kept, other in (("a", False, 3.0), ("b", True, 1.0))
    ]
    *means, scenes = tables(found)
    assert [table.title.rsplit("(", 1)[1] for table in means] == ["chosen on)", "kept out)", "all)"]
    assert scenes.notes == ("Ours is behind the best of other programs in 1 of 2 scenes.",)


def test_the_command_prints_the_table(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.fromarray(rounded(scene(96, 128)) // 2).save(folder / "a.png")
    result = CliRunner().invoke(app, ["benchmark", "highlights", str(folder), "--ways", "clip"])
    assert result.exit_code == 0, result.output
    assert "ΔE00" in result.stdout
    none = CliRunner().invoke(app, ["benchmark", "highlights", str(folder), "--ways", "clip", "--others"])
    assert none.exit_code == 2  # the picture does not end in white
    refused = CliRunner().invoke(app, ["benchmark", "highlights", str(folder), "--ways", "wish"])
    assert refused.exit_code == 2
