"""The benchmark of lenses: its figures, and that they would tell if nothing were corrected."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.arrays import Float64
from evaluation.studies import lenses


def test_a_grid_is_straight_within_a_fifth_of_a_pixel() -> None:
    bent, straight = lenses.measure_grid()
    assert bent["largest deviation px"] > 1
    assert straight["largest deviation px"] < 0.05


@pytest.mark.parametrize("blur", lenses.BLURS)
def test_edges_keep_their_sharpness(blur: float) -> None:
    row = lenses.measure_edge(blur)
    assert row["MTF50 before"] == pytest.approx(0.1874 / blur, rel=0.03)  # of a Gaussian
    assert 95 < row["ratio %"] < 106


def test_shifts_of_colours_are_found() -> None:
    """A picture whose red is drawn 1 ‰ larger than its green: shifts grow with the radius."""
    y, x = np.mgrid[:400, :400] - 199.5

    def waves(scale: float) -> Float64:
        return np.asarray(0.4 + 0.15 * np.sin(x / scale / 4) * np.cos(y / scale / 5))

    picture = np.stack([0.8 * waves(1.002), waves(1), 0.6 * waves(1)], axis=2)
    red, blue = (lenses._radial_shifts(picture, colour) for colour in (0, 2))
    assert len(red) > 20
    assert np.median(red[:, 1] / (200 * red[:, 0])) == pytest.approx(0.002, rel=0.1)
    assert np.abs(blue[:, 1]).max() < 1e-6


def test_command_prints_its_tables(samples: Path) -> None:
    result = CliRunner().invoke(app, ["benchmark", "lenses", str(samples / "scene_rggb.dng")])
    assert result.exit_code == 0, result.output
    assert "a grid through a made lens" in result.output
    assert "slanted edges" in result.output
