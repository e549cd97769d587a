"""Effort spared and not: distances of blocks, and pictures restored both ways."""

from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.demosaicing.group_demosaic import APART
from evaluation.data.sets import read_set
from evaluation.studies.effort import block_distances, compare_noisy, compare_raw, everywhere
from tests.waves import waves


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a picture of which one half is even."""
    picture = np.moveaxis(waves(3, 96, 96), 0, 2)
    picture[:48] = 0.5
    iio.imwrite(tmp_path / "waves.png", (255 * picture).astype(np.uint8))
    return tmp_path


def test_distances_are_those_of_blocks_in_255ths() -> None:
    one = np.zeros((40, 33, 3), np.float32)
    other = one.copy()
    other[16:32, :16, 1] = 2 / 255
    found = block_distances(one, other)
    assert found.shape == (2, 2)
    assert found[1, 0] == pytest.approx(2 / np.sqrt(3))
    assert found[0].tolist() == [0, 0]


def test_groups_are_everywhere_as_long_as_that_lasts(folder: Path) -> None:
    usual = dict(APART)
    with everywhere():
        assert set(APART.values()) == {-1.0}
    assert usual == APART
    row = compare_noisy("waves", read_set(folder).pictures, 0.0, "fast")
    assert row["median"] < 1
    assert row["dB"] == pytest.approx(row["dB, everywhere"], abs=1.0)


def test_a_raw_is_compared_with_itself_under_full_effort(small: Path) -> None:
    row = compare_raw(small, "fast")
    assert 0 <= row["median"] <= row["99 %"] < 5
    assert row["CPU s/MP"] > 0


def test_the_command_takes_raws_and_pictures(small: Path, folder: Path) -> None:
    given = ["benchmark", "effort", str(small), str(folder), "--sigma", "2", "--quality", "fast"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0
    assert "small_rggb.dng" in result.stdout
    assert "Effort spared on noisy mosaics" in result.stdout
    assert CliRunner().invoke(app, [*given[:-3], "x"]).exit_code == 2


def test_without_anything_to_compare_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMOSAIC_NTC_DATA", raising=False)
    result = CliRunner().invoke(app, ["benchmark", "effort"])
    assert result.exit_code == 2
    assert "there are no raws" in result.output
