"""The table of looks: lumas of known pictures, and what is compared with what."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from evaluation.measure.metrics import luma, measure_clipping, newly_clipped
from evaluation.studies import looks
from evaluation.studies.looks import Brightness, look_table, measure


def test_luma_is_the_weighted_median() -> None:
    pixels = np.zeros((3, 3, 3), np.uint8)
    pixels[0], pixels[1] = (0, 200, 0), (100, 100, 100)
    assert luma(pixels) == pytest.approx(100, abs=0.1)


def test_pixels_are_clipped_where_any_channel_is_at_its_end() -> None:
    neutral = np.full((2, 5, 3), 254, np.uint8)
    neutral[0, 0, 2] = 255
    picture = neutral.copy()
    picture[0, 1:3, 0] = 255
    assert measure_clipping(neutral) == pytest.approx(0.1)
    assert measure_clipping(picture) == pytest.approx(0.3)
    assert newly_clipped(picture, neutral) == pytest.approx(0.2)


def test_a_raw_without_a_picture_of_the_camera_has_one_look(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "OTHER", "no-such-program")
    found = measure(small)
    assert found.ours.keys() == {"auto"}
    assert (found.camera, found.other) == (None, None)
    assert found.neutral < found.ours["auto"]
    assert 0 <= found.newly_clipped < 0.01


def test_the_table_tells_differences_to_the_camera() -> None:
    shown = look_table([Brightness("a.cr2", 60, {"auto": 110, "camera": 95}, 100, None, 0.001)]).rows[0]
    texts = [cell.text for cell in shown]
    assert texts == ["a.cr2", "60", "110 (+10%)", "95 (-5%)", "100", "", "0.10%"]


def test_the_command_prints_the_table(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "OTHER", "no-such-program")
    result = CliRunner().invoke(app, ["benchmark", "looks", str(small)])
    assert result.exit_code == 0
    assert "small_rggb.dng" in result.stdout
    assert "Median luma of 255" in " ".join(result.stdout.split())
