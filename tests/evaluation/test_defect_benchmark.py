"""The benchmark of defects: small scenes, and that its figures would fall if nothing were found."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from evaluation.data.scenes import SCENES
from evaluation.studies import defects


@pytest.mark.parametrize("name", SCENES)
def test_most_that_stand_out_are_found_and_hardly_any_other(name: str) -> None:
    result = defects.search_scene(name, 512, 50, 3)
    assert result["all"] >= 95
    assert result["all, σ of noise"] > 60
    assert result["false per MP"] < 10  # two of them


def test_nothing_found_is_no_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defects, "find_defects", lambda mosaic, *_, **__: np.zeros(mosaic.shape, bool))
    assert defects.search_scene("texture", 128, 10, 0)["all"] == 0


def test_scenes_are_the_same_for_a_seed_and_within_range() -> None:
    for make in SCENES.values():
        first, second = (make(96, np.random.default_rng(5)) for _ in range(2))
        assert np.array_equal(first, second)
        assert 0 <= first.min() < first.max() <= 1


def test_command_prints_both_tables(tmp_path: Path, samples: Path) -> None:
    Image.open(samples / "scene.png").convert("RGB").save(tmp_path / "a.png")
    result = CliRunner().invoke(
        app, ["benchmark", "defects", str(tmp_path), "--side", "128", "--count", "20"]
    )
    assert result.exit_code == 0, result.output
    assert "vivid edges" in result.output
    assert "false alarms in clean mosaics" in result.output


@pytest.mark.data
@pytest.mark.slow
def test_false_alarms_on_clean_sets_are_few(data: Path) -> None:
    from evaluation.data.sets import read_set

    for name in ("kodak", "mcmaster"):
        assert defects.search_set(read_set(data / name))["false per MP"] < 5
