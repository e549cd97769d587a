import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.app import app

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_facts_of_a_raw_are_shown() -> None:
    result = _run("info", SAMPLES / "scene_grbg.dng")
    assert result.exit_code == 0
    for fact in ("Synthetic camera", "256×192", "GRBG", "512", "16383", "camera (2, 1, 1.6, 1)", "DNG", "MB"):
        assert fact in result.stdout, fact


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
    assert _run("info", tmp_path / "bad.dng").exit_code == 3
