"""The command line towards people: help at 80 columns, typos, folders, raws in the wrong place, hints."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from cli.app import app


def _run(*words: object, columns: int = 80) -> Any:
    return CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": str(columns)})


def _commands(group: Any, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """All commands, those of groups as well."""
    found: list[tuple[str, ...]] = [prefix]
    for name, command in getattr(group, "commands", {}).items():
        found += _commands(command, (*prefix, name))
    return found


@pytest.mark.parametrize("command", _commands(typer.main.get_command(app)), ids=" ".join)
def test_help_fits_into_80_columns_and_speaks_no_types(command: tuple[str, ...]) -> None:
    result = _run(*command, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert not re.search(r"<\w+|\[x|<=x|VALUE", result.stdout)
    assert result.stdout.startswith("Usage: ")


def test_choices_and_defaults_are_told() -> None:
    text = " ".join(_run("convert", "--help").stdout.split())
    assert "--look auto|neutral|camera" in text
    assert "--color-space srgb|adobe|prophoto|rec2020|p3|camera Colour space" in text
    assert "--quality fast|normal|best How much effort ntc spends. [default: normal]" in text
    assert "-q, --quiet Errors only." in text


@pytest.mark.parametrize(
    ("typed", "meant"), [("convrt", "convert"), ("inpant", "inpaint"), ("bacth", "batch")]
)
def test_typos_are_answered_with_the_command_that_was_meant(typed: str, meant: str) -> None:
    result = _run(typed, "a", "b")
    assert result.exit_code == 2
    assert f"did you mean '{meant}'" in result.stderr


def test_a_file_that_is_called_like_a_typo_is_a_file(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "convrt").write_bytes(small.read_bytes())
    assert _run("convrt", "a.png", "--method", "bilinear").exit_code == 0


def test_a_folder_names_the_command_for_folders(tmp_path: Path) -> None:
    result = _run(tmp_path, tmp_path / "a.png")
    assert result.exit_code == 3
    assert f"demosaic-ntc batch {tmp_path}" in result.stderr


def test_a_raw_to_be_repaired_names_the_command_for_raws(tmp_path: Path, small: Path) -> None:
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "mask.png")
    result = _run("inpaint", small, tmp_path / "mask.png", tmp_path / "a.png")
    assert result.exit_code == 3
    assert "is a raw file" in result.stderr
    assert "demosaic-ntc convert" in result.stderr


def test_without_a_name_the_picture_lies_beside_its_raw(tmp_path: Path, small: Path) -> None:
    (tmp_path / "IMG 1.dng").write_bytes(small.read_bytes())
    assert _run(tmp_path / "IMG 1.dng", "--method", "bilinear").exit_code == 0
    assert (tmp_path / "IMG 1.png").exists()


def test_a_dry_run_sees_missing_masks_and_counts_only_what_is_done(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(tmp_path / "in" / f"{name}.png")
    Image.fromarray(np.zeros((40, 40), np.uint8)).save(tmp_path / "in" / "a.mask.png")
    result = _run("batch", tmp_path / "in", "-o", tmp_path / "out", "--inpaint", "--dry-run")
    assert result.exit_code == 0
    assert "1 of them have no mask" in result.stderr
    assert not (tmp_path / "out").exists()


def test_completion_can_be_installed() -> None:
    assert "--install-completion" in _run("--help").stdout
