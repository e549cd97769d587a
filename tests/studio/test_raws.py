"""Raws in the studio: the sliders' wishes, the command that is shown, hot pixels and lists of them."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from cli.actions.convert import settings_from
from cli.app import app
from demosaic_ntc.errors import InputError
from demosaic_ntc.files.sniff import Limits
from demosaic_ntc.studio.looks import Wish
from tests.studio.helping import Served

WISHES: list[dict[str, Any]] = [
    {},
    {"look": "neutral", "exposure": -1.3, "quality": "fast"},
    {"look": "camera", "contrast": 15, "saturation": -20, "balance": "shade"},
    {"balance": "light", "kelvin": 4350, "tint": -8, "quality": "best"},
]


@pytest.mark.parametrize("plain", WISHES)
@pytest.mark.parametrize("bad", [None, Path("hot.txt")])
def test_the_command_that_is_shown_means_the_same_settings(plain: dict[str, Any], bad: Path | None) -> None:
    wish = Wish.of(plain)
    words = shlex.split(wish.command(Path("a photo.dng"), Path("a photo.png"), bad))
    command: Any = typer.main.get_command(app)
    convert = command.commands["convert"]
    context = convert.make_context("convert", words[2:])
    assert context.params["source"] == Path("a photo.dng")
    assert settings_from(context.params) == wish.settings(Limits(), bad, half=False)


@pytest.mark.parametrize(
    "plain",
    [
        {"look": "vivid"},
        {"exposure": 99},
        {"kelvin": 1},
        {"contrast": "x"},
        {"balance": "../x"},
        {"tint": None},
    ],
)
def test_wishes_that_make_no_sense_are_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Wish.of(plain)


def test_a_raw_is_shown_developed_and_its_hot_pixels_are_listed(shared: Served, small: Path) -> None:
    number = shared.upload(small.read_bytes(), "photo.dng")
    sheet = shared.picture(number)["sheet"]
    assert (sheet["raw"], sheet["first"]) == (True, 1)
    done = shared.task(shared.post(f"/api/pictures/{number}/develop", {"look": "neutral", "quality": "fast"}))
    assert done["state"] == "done", done
    dark = shared.tile(number, "after", 1)
    assert dark.shape[:2] == (-(-sheet["height"] // 2), -(-sheet["width"] // 2))
    shared.task(shared.post(f"/api/pictures/{number}/develop", {"look": "neutral", "exposure": 2}))
    assert shared.tile(number, "after", 1).mean() > dark.mean()
    assert shared.task(shared.post(f"/api/pictures/{number}/find", {"what": "hot"}))["state"] == "done"
    assert shared.post(f"/api/pictures/{number}/repair").status_code == 400
    shared.post(f"/api/pictures/{number}/mask", {"tool": "clear"})
    shared.stroke(number, (7.5, 3.5), radius=0.4)
    command = shared.post(f"/api/pictures/{number}/command", {"look": "neutral"}).json()["command"]
    assert "--bad-pixels=" in command
    entry = shared.studio.wishes.session.entry(number)
    wishes = shared.studio.wishes
    listed = wishes._bad_pixels(entry, shared.studio.wishes.session.sheet(number))
    assert listed is not None
    places = np.loadtxt(listed, comments="#", ndmin=2)
    assert places.tolist() == [[7.0, 3.0]]


def test_a_picture_is_not_developed(shared: Served) -> None:
    shared.post("/api/pictures/1/open")
    shared.opened(1)
    for path in ("develop", "convert", "command"):
        assert shared.post(f"/api/pictures/1/{path}").status_code == 400
