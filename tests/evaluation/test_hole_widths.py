"""The benchmark of holes by their width."""

from pathlib import Path

import numpy as np
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from evaluation.studies.widths import holes


def test_holes_are_squares_apart_from_each_other() -> None:
    for width in (2, 24, 40):
        missing = holes((256, 256), width)
        assert missing.any()
        assert missing.sum() % width**2 == 0
        assert missing.mean() <= 0.25
        assert not missing[0].any()


def test_command_tells_the_error_by_width(tmp_path: Path) -> None:
    rows, columns = np.mgrid[:400, :400]
    picture = np.stack([rows, columns, rows + columns], axis=2) // 4
    Image.fromarray(picture.astype(np.uint8)).save(tmp_path / "a.png")
    words = ["benchmark", "widths", str(tmp_path), "--quality", "fast", "--widths", "4,30"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    narrow, wide = (next(line for line in lines if line[:1] == [width]) for width in ("4", "30"))
    assert narrow.count("–") > wide.count("–"), "deeper parts of the wider hole"
    assert float(wide[2]) < 0.5, "a ramp is carried on"
    assert CliRunner().invoke(app, [*words[:-1], "x"]).exit_code == 2
