"""The benchmark of banding: its command, and that its figures would tell if nothing were removed."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from evaluation.studies import banding


def _flat() -> list[banding.CleanMosaic]:
    samples = np.random.default_rng(0).normal(4000, 30, (320, 400)).astype(np.uint16)
    return [banding.CleanMosaic(samples, Cfa.from_name("RGGB"), 512, 16512)]


def test_offsets_of_an_even_field_are_removed() -> None:
    row = banding.measure_removal("flat", _flat, 0, 2, 1)
    assert row["found"] == 1
    assert row["stripes left %"] < 15


def test_what_is_not_removed_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banding, "remove_line_noise", lambda *_: None)
    row = banding.measure_removal("flat", _flat, 1, 2, 1)
    assert row["stripes left %"] == pytest.approx(100)
    assert row["all left %"] == pytest.approx(100)


def test_command_prints_both_tables(tmp_path: Path, samples: Path) -> None:
    with Image.open(samples / "scene.png") as scene:
        scene.convert("RGB").save(tmp_path / "a.png")
    words = ["benchmark", "banding", str(tmp_path), "--raws", str(samples / "small_rggb.dng")]
    result = CliRunner().invoke(app, [*words, "--strengths", "2"])
    assert result.exit_code == 0, result.output
    assert "false alarms in clean mosaics" in result.output
    assert "offsets of lines, removed" in result.output
