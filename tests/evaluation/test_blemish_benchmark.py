"""The benchmark of blemishes: what it draws, and that its figures would fall if nothing were found."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from evaluation.data.blemishes import KINDS, add_blemishes
from evaluation.studies import blemishes


def calm() -> NDArray[np.uint8]:
    rows, columns = np.mgrid[:240, :320]
    grain = np.random.default_rng(0).normal(0, 1, (240, 320))
    levels = np.stack([80 + rows / 8 + grain, 100 + columns / 8 + grain, 90 + grain], axis=2)
    return np.asarray(np.rint(levels), np.uint8)


def test_blemishes_are_the_same_for_a_seed_apart_and_of_all_kinds() -> None:
    first, second = (add_blemishes(calm(), np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first.pixels, second.pixels)
    assert {each.kind for each in first.blemishes} == set(KINDS)
    touched = np.zeros(first.pixels.shape[:2], int)
    for each in first.blemishes:
        touched[each.box] += each.whole
        assert not (each.core & ~each.whole).any()
    assert touched.max() == 1
    assert np.array_equal(first.pixels[touched == 0], calm()[touched == 0])


def test_on_calm_ground_most_is_found_and_covered_and_nothing_else() -> None:
    result = blemishes.search(calm(), 0.5, np.random.default_rng(1))
    assert len(result.found) >= 4
    assert np.mean([found for _, found in result.found]) >= 0.7
    assert np.mean(result.covered) > 0.9
    assert result.false_clean == 0


def test_nothing_found_is_no_recall_and_everything_found_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blemishes, "find_blemishes", lambda image, **_: np.zeros(image.shape[:2], bool))
    nothing = blemishes.search(calm(), 0.5, np.random.default_rng(1))
    assert not any(found for _, found in nothing.found)
    assert nothing.marked == nothing.false == 0

    def corner(image: NDArray[np.uint8], **_: float) -> NDArray[np.bool_]:
        mask = np.zeros(image.shape[:2], bool)
        mask[::12, 0] = True
        return mask

    monkeypatch.setattr(blemishes, "find_blemishes", corner)
    wrong = blemishes.search(calm(), 0.5, np.random.default_rng(1))
    assert wrong.false_clean == 20
    assert wrong.false >= 15


def test_command_prints_its_table(tmp_path: Path) -> None:
    Image.fromarray(calm()).save(tmp_path / "a.png")
    result = CliRunner().invoke(app, ["benchmark", "blemishes", str(tmp_path), "--draws", "1"])
    assert result.exit_code == 0, result.output
    assert "light spots" in result.output
    assert "1 draws, seed 0" in result.output
