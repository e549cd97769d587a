import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.tiff_tags import DOUBLE, Field
from demosaic_ntc.raw.noise import NOISE_PROFILE
from samples.dng import Camera, write_dng

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_facts_of_a_raw_are_shown() -> None:
    result = _run("info", SAMPLES / "scene_grbg.dng")
    assert result.exit_code == 0
    for fact in ("Synthetic camera", "256×192", "GRBG", "512", "16383", "camera (2, 1, 1.6, 1)", "DNG", "MB"):
        assert fact in result.stdout, fact


def test_when_and_how_a_photo_was_taken_is_told() -> None:
    shown = _run("info", SAMPLES / "small_rggb.dng")
    assert "taken          2024-05-17 10:30:00, 35 mm, 1/250 s, f/5.6, ISO 200" in shown.stdout
    (fact,) = json.loads(_run("info", SAMPLES / "small_rggb.dng", "--json").stdout)
    assert (fact["taken"]["date"], fact["taken"]["f_number"]) == ("2024-05-17T10:30:00", 5.6)


def test_json_is_a_list_with_one_object_per_file() -> None:
    result = _run("info", SAMPLES / "small_rggb.dng", SAMPLES / "small_xtrans.dng", "--json")
    first, second = json.loads(result.stdout)
    assert (first["cfa"], second["cfa"]) == ("RGGB", "XTRANS")
    assert (first["width"], first["height"], first["orientation"]) == (48, 36, 1)
    assert second["estimated_seconds"]["normal"] > first["estimated_seconds"]["normal"] > 0


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.dng").write_bytes(b"text")
    result = _run("info", tmp_path / "bad.dng", SAMPLES / "small_rggb.dng")
    assert result.exit_code == 1
    assert "bad.dng: is not a raw file" in result.stderr
    assert "48×36" in result.stdout


def test_a_single_bad_file_has_its_own_exit_code(tmp_path: Path) -> None:
    (tmp_path / "bad.dng").write_bytes(b"text")
    result = _run("info", tmp_path / "bad.dng")
    assert (result.exit_code, result.stdout) == (3, "")


def test_noise_of_the_profile_is_shown_and_may_be_given_instead(tmp_path: Path) -> None:
    """Of a span of 15000: √(4e-4·0.18 + 1e-6) is 0.85 % of white, √1e-6 is 15 sample values."""
    path, mosaic = tmp_path / "a.dng", np.full((40, 60), 3000, np.uint16)
    profile = {NOISE_PROFILE: Field(DOUBLE, (4e-4, 1e-6))}
    write_dng(path, mosaic, Cfa.from_name("RGGB"), Camera(black=1000, white=16000), changed=profile)
    line = "at mid grey 0.85 % of white, read noise 15 DN (the file's profile, stated 0.85 %)"
    assert line in _run("info", path).stdout
    shown = _run("info", path, "--noise", "0,4e-6").stdout
    assert "at mid grey 0.2 % of white, read noise 30 DN (given, stated 0.85 %)" in shown


def test_noise_that_the_samples_contradict_is_shown_beside_what_they_show(tmp_path: Path) -> None:
    """Of a span of 15000: a deviation of 30 is 0.2 % of white, of 60 it is 0.4 %."""
    path, noise = tmp_path / "a.dng", 30 * np.random.default_rng(0).standard_normal((192, 256))
    profile = {NOISE_PROFILE: Field(DOUBLE, (0.0, 16e-6))}
    mosaic = np.round(4000 + noise).astype(np.uint16)
    write_dng(path, mosaic, Cfa.from_name("RGGB"), Camera(black=1000, white=16000), changed=profile)
    shown = _run("info", path).stdout
    assert re.search(r"\(the file's profile, scaled, stated 0.4 %, measured 0\.(19|2|21) %\)", shown)
    done = _run(path, tmp_path / "a.png")
    assert done.exit_code == 0, done.stderr
    assert re.search(r"noise removed: 0\.(19|2|21) % of white at mid grey \(.*scaled\)", done.stdout)
    assert "note           the file's noise profile states 0.4 % of white at mid grey" in shown
    (fact,) = json.loads(_run("info", path, "--json").stdout)
    assert fact["noise"]["stated_mid_grey"] == pytest.approx(0.004)
    assert fact["noise"]["measured_mid_grey"] == pytest.approx(0.002, rel=0.1)
    assert "--noise" in fact["notices"][0]


def test_noise_is_estimated_where_no_profile_states_it() -> None:
    (fact,) = json.loads(_run("info", SAMPLES / "scene_grbg.dng", "--json").stdout)
    assert fact["noise"]["source"] == "estimated"
    assert 0 <= fact["noise"]["mid_grey"] < 1e-3  # the generated scene has none but its rounding


@pytest.mark.parametrize("noise", ["1e-4", "1e-4,-1", "nan,0", "a,b", "1,2,3"])
def test_noise_that_makes_no_sense_is_wrong_usage(noise: str) -> None:
    result = _run("info", SAMPLES / "small_rggb.dng", f"--noise={noise}")
    assert result.exit_code == 2
    assert "--noise" in result.stderr


def test_levels_at_which_colours_saturate_are_shown(tmp_path: Path) -> None:
    light = np.tile(np.linspace(0.05, 3.0, 240), (240, 1))
    levels = np.tile([[15900, 15200], [15200, 14800]], (120, 120))
    mosaic = np.minimum(1000 + 15000 * light * np.tile([[0.5, 1], [1, 0.6]], (120, 120)), levels)
    path = tmp_path / "clipped.dng"
    write_dng(path, mosaic.astype(np.uint16), Cfa.from_name("RGGB"), Camera(black=1000, white=16000))
    assert "16000, used 15900 (red), 15200 (green), 14800 (blue)" in _run("info", path).stdout
    (facts,) = json.loads(_run("info", path, "--json").stdout)
    assert (facts["white"], facts["white_used"]) == (16000, 15200)
    assert facts["white_by_colour"] == [15900, 15200, 14800]
