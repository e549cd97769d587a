"""A setting is one field: whatever takes or shows settings is made from it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc import develop
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.colour import CAMERA_SPACE, SPACES
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.recipe import CheckedSettings, build, part, setting, settings_of
from demosaic_ntc.studio.looks import LookSettings
from demosaic_ntc.workflows.api import Keywords

ROOT = Path(__file__).resolve().parents[1]
SMALL = ROOT / "samples" / "small_rggb.dng"

NEW = """    sharpness: float = setting(
        1.5, "Sharpen edges by so much.", _RAW, low=0, high=8, label="Sharpness", slider=Slider(step=0.5)
    )
"""
SHOWN = """
import inspect, json, sys
from typer.testing import CliRunner
from cli.app import app
from demosaic_ntc import Settings, develop
from demosaic_ntc.studio.looks import LookSettings, describe_controls
from docs import make_man, make_options
print(json.dumps({
    "file": inspect.getfile(develop),
    "help": CliRunner().invoke(app, ["convert", "--help"]).stdout,
    "keyword": inspect.signature(develop).parameters["sharpness"].default,
    "row": make_options.fill_tables("<!-- begin options of convert -->\\n<!-- end options -->"),
    "man": make_man.page(),
    "control": [each for each in describe_controls() if each["name"] == "sharpness"],
    "command": LookSettings.of({"sharpness": 3}).command("a.dng", "a.png", None),
}))
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy of the program shows to which one field was added."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("demosaic_ntc", "cli", "docs", "evaluation", "samples"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "figures"))
    module = copy / "demosaic_ntc" / "developing" / "settings.py"
    before = module.read_text(encoding="utf-8")
    marker = "    highlights: Highlights"
    assert before.count(marker) == 1
    module.write_text(before.replace(marker, NEW + marker), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    answer = subprocess.run(
        [sys.executable, "-c", SHOWN], cwd=copy, env=environment, capture_output=True, text=True, check=True
    )
    shown: dict[str, Any] = json.loads(answer.stdout)
    assert Path(shown["file"]).is_relative_to(copy)
    return shown


def test_a_new_field_is_an_option(changed: dict[str, Any]) -> None:
    assert "--sharpness X" in changed["help"]
    assert "Sharpen edges by so much. [default: 1.5]" in " ".join(changed["help"].split())


def test_a_new_field_is_a_keyword(changed: dict[str, Any]) -> None:
    assert changed["keyword"] == 1.5


def test_a_new_field_is_documented(changed: dict[str, Any]) -> None:
    assert "| `--sharpness X` | Sharpen edges by so much. [default: 1.5] |" in changed["row"]
    assert r"\-\-sharpness X" in changed["man"]


def test_a_new_field_is_a_slider_of_the_studio(changed: dict[str, Any]) -> None:
    (control,) = changed["control"]
    assert (control["label"], control["value"]) == ("Sharpness", 1.5)
    assert (control["min"], control["max"], control["step"]) == (0, 8, 0.5)
    assert changed["command"].count("--sharpness=3") == 1


def _by_command(name: str, value: object) -> None:
    option = settings_of(Settings)[name].option
    result = CliRunner().invoke(app, ["convert", str(SMALL), "nowhere.png", f"{option}={value}"])
    assert result.exit_code == 2, result.output
    raise InputError(result.stderr)


def _by_batch(name: str, value: object) -> None:
    option = settings_of(Settings)[name].option
    result = CliRunner().invoke(app, ["batch", str(SMALL), "-o", "nowhere", f"{option}={value}"])
    assert result.exit_code == 2, result.output
    raise InputError(result.stderr)


ENTRANCES: dict[str, Callable[[str, Any], object]] = {
    "command": _by_command,
    "batch": _by_batch,
    "develop": lambda name, value: develop(SMALL, **{name: value}),
    "settings": lambda name, value: build(Settings, {name: value}),
    "studio": lambda name, value: LookSettings.of({name: value}),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    ("name", "value"),
    [("contrast", 101), ("exposure", -10.5), ("look", "vivid"), ("wb", "x"), ("quality", "x")],
)
def test_what_is_out_of_range_is_refused_at_every_entrance(entrance: str, name: str, value: Any) -> None:
    with pytest.raises(InputError):
        ENTRANCES[entrance](name, value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("contrast", 101.0, "contrast is 101; give -100 to 100"),
        ("exposure", 11, "exposure is 11; give -10 to 10 stops"),
        ("denoise", 11, "11 is not a denoising strength; give 0 to 10"),
        ("white", 0, "no samples have a white level of 0; give 1 to 1e+06"),
        ("resize", 0, "no picture has a side of 0 pixels; give at least 1"),
        ("resize", 1.5, "no picture has a side of 1.5 pixels"),
        ("raw_bits", 17, "17 bits per sample are not supported; give 8 to 16"),
        ("threads", 0, "0 threads cannot work; give at least 1"),
        ("jpeg_quality", 0, "jpeg_quality is 0; give 1 to 100"),
        ("color_space", "cmyk", "unknown colour space 'cmyk'; use one of srgb"),
        ("highlights", 3, "unknown highlight mode 3"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(name: str, value: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        build(Settings, {name: value})
    assert words in str(caught.value)


def test_type_checkers_know_the_keywords_of_develop() -> None:
    kinds = (Development, Engine, Layout, InputLimits)
    settings = {name: each for kind in kinds for name, each in settings_of(kind).items()}
    hints = get_type_hints(Keywords)
    assert hints.keys() == settings.keys()
    # They take more, or their types are only named.
    wider = {"wb", "cfa", "noise", "bad_pixels", "dark", "flat", "method"}
    assert {name: hints[name] for name in hints.keys() - wider} == {
        name: settings[name].kind for name in settings.keys() - wider
    }


def test_unknown_keywords_are_refused() -> None:
    with pytest.raises(TypeError, match="sharpness"):
        develop(SMALL, sharpness=1)  # type: ignore[call-arg]


def test_defaults_are_those_of_the_fields() -> None:
    assert build(Settings, {}) == Settings()
    assert build(RepairSettings, {"sensitivity": 0.7}) == RepairSettings()
    assert build(RepairSettings, {"detect": ("dust",)}).detection is not None
    for kind in (Settings, RepairSettings):
        defaults = {name: each.default for name, each in settings_of(kind).items()}
        assert build(kind, defaults) == kind()


def test_values_reach_their_part_by_name() -> None:
    settings = build(
        Settings, {"wb": "shade", "raw_bits": 12, "jpeg_quality": 70, "rotate": False, "other": 1}
    )
    assert settings.development == Development(balance="shade", rotate=False)
    assert settings.layout.bits == 12
    assert settings.output == Output(loss=type(settings.output.loss)(70))


def test_spaces_are_those_of_the_choices() -> None:
    assert settings_of(Settings)["color_space"].words == (*SPACES, CAMERA_SPACE)


@dataclass(frozen=True)
class Inner(CheckedSettings):
    """Some settings."""

    amount: float | Literal["auto"] = setting("auto", "How much.", "Engine", low=0, high=2, what="an amount")
    count: int | None = setting(None, "How many.", "Engine", low=1)


@dataclass(frozen=True)
class Outer:
    """Settings with a part that says less of itself."""

    inner: Inner = part(Inner, count=None, amount="Less or more.")


def test_parts_say_what_is_for_them() -> None:
    assert {name: each.help for name, each in settings_of(Outer).items()} == {"amount": "Less or more."}


@pytest.mark.parametrize(("text", "value"), [("auto", "auto"), ("1.5", 1.5), ("0", 0.0)])
def test_words_and_numbers_are_read(text: str, value: object) -> None:
    assert settings_of(Inner)["amount"].read(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [("much", "'much' is not auto or an amount"), ("nan", "numbers are finite"), ("3", "give 0 to 2")],
)
def test_what_cannot_be_read_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        settings_of(Inner)["amount"].read(text)


@pytest.mark.parametrize("value", [0, 1.5, True, float("nan"), "3", [], 1j])
def test_whole_numbers_are_whole(value: Any) -> None:
    if value is True:  # one, to Python
        assert Inner(count=value).count == 1
        return
    with pytest.raises(InputError):
        Inner(count=value)
