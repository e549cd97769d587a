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
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.studio import saving
from demosaic_ntc.studio.looks import LookSettings
from samples.dng import Camera
from samples.linear_dng import linear_dng
from tests.studio.studios import Served, served

WISHES: list[dict[str, Any]] = [
    {},
    {"look": "neutral", "exposure": -1.3, "quality": "fast"},
    {"look": "camera", "contrast": 15, "saturation": -20, "wb": "shade"},
    {"wb": "light", "kelvin": 4350, "tint": -8, "quality": "best"},
]


@pytest.mark.parametrize("plain", WISHES)
@pytest.mark.parametrize("bad", [None, Path("hot.txt")])
def test_the_command_that_is_shown_means_the_same_settings(plain: dict[str, Any], bad: Path | None) -> None:
    wish = LookSettings.of(plain)
    words = shlex.split(wish.command(Path("a photo.dng"), Path("a photo.png"), bad))
    command: Any = typer.main.get_command(app)
    convert = command.commands["convert"]
    context = convert.make_context("convert", words[2:])
    assert context.params["raw"] == Path("a photo.dng")
    assert settings_from(context.params) == wish.settings(InputLimits(), bad, half=False)
    assert wish.settings(InputLimits(), bad, half=True).development.crop == "visible"


@pytest.mark.parametrize(
    "plain",
    [
        {"look": "vivid"},
        {"exposure": 99},
        {"kelvin": 1},
        {"contrast": "x"},
        {"wb": "../x"},
        {"tint": None},
    ],
)
def test_wishes_that_make_no_sense_are_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        LookSettings.of(plain)


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


def test_the_cameras_own_picture_beside_a_raw_is_never_replaced(tmp_path: Path, small: Path) -> None:
    (tmp_path / "photo.dng").write_bytes(small.read_bytes())
    (tmp_path / "photo.jpg").write_text("the camera's")
    with served([tmp_path / "photo.dng"]) as studio:
        studio.opened(1)
        wish = {"quality": "fast", "format": "jpg"}
        refused = studio.post("/api/pictures/1/convert", {**wish, "place": "replace"})
        assert refused.status_code == 400
        assert "photo.jpg was not made here" in refused.json()["error"]
        for place in ("new", "replace"):
            done = studio.task(studio.post("/api/pictures/1/convert", {**wish, "place": place}))
            assert done["result"]["names"] == ["photo-2.jpg"], done
    assert (tmp_path / "photo.jpg").read_text() == "the camera's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photo-2.jpg", "photo.dng", "photo.jpg"]


def test_more_pixels_than_lists_are_read_with_are_refused() -> None:
    saving.check_list(1_000_000)
    with pytest.raises(InputError, match="1000001 pixels are marked"):
        saving.check_list(1_000_001)


@pytest.mark.parametrize("planes", [1, 3])
def test_raws_without_an_array_are_shown_and_searched(shared: Served, planes: int) -> None:
    y, x = np.mgrid[:36, :48]
    codes = np.stack([20000 + 300 * x + 200 * y] * planes, axis=2).astype(np.uint16)
    codes[20, 30] = 64000
    number = shared.upload(linear_dng(codes, Camera(black=0, white=65535)), "linear.dng")
    assert shared.picture(number)["sheet"]["raw"]
    done = shared.task(shared.post(f"/api/pictures/{number}/develop", {"look": "neutral", "quality": "fast"}))
    assert done["state"] == "done", done
    assert shared.tile(number, "after", 1).shape[:2] == (18, 24)
    assert shared.task(shared.post(f"/api/pictures/{number}/find", {"what": "hot"}))["state"] == "done"
