"""Whole pages in a real browser: with pictures in files, of a comparison, of a report."""

import shutil
from pathlib import Path

import numpy as np
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.viewer.page import Page, PageScene, Version, page_html
from demosaic_ntc.viewer.pictures import lossless, thumbnail, write_beside
from tests.e2e.looking import click, element, eventually
from tests.e2e.page import Browser

SIDE = 48


def test_pictures_in_files_beside_the_page_are_shown_with_their_errors(
    browser: Browser, tmp_path: Path
) -> None:
    """Browsers let nobody read such pixels, so what is seen is looked at."""
    pictures = {
        name: np.full((SIDE, SIDE, 3), shade, np.uint8) for name, shade in (("truth", 90), ("ours", 100))
    }
    versions = tuple(
        Version(name, write_beside(tmp_path / "pictures", f"{name}.webp", lossless(picture)))
        for name, picture in pictures.items()
    )
    shown = PageScene("one", SIDE, SIDE, versions, thumbnail(pictures["truth"]), None, "truth")
    path = tmp_path / "index.html"
    path.write_text(page_html(Page("Report", "Words.", {}, (shown,))), encoding="utf-8")
    browser.resize(1200, 900)
    browser.open(path)
    eventually(lambda: check_seen(browser, tmp_path / "a.png", 90, 100))
    click(browser, "#errors")
    eventually(lambda: check_seen(browser, tmp_path / "a.png", 0, 80))
    assert browser.complaints() == []


def check_seen(page: Browser, target: Path, left: int, right: int) -> None:
    """Which greys are seen on both sides of the divider."""
    assert seen(page, target, 0.47) == (left,) * 3
    assert seen(page, target, 0.53) == (right,) * 3


def seen(page: Browser, target: Path, across: float) -> tuple[int, ...]:
    """The colour on the screen somewhere across the stage, a little above its middle."""
    left, top, width, height = element(page, "#stage")
    page.screenshot(target)
    with Image.open(target) as picture:
        pixel = picture.convert("RGB").getpixel((round(left + across * width), round(top + 0.4 * height)))
    assert isinstance(pixel, tuple)
    return tuple(int(value) for value in pixel)


def test_the_page_of_ones_own_raws_opens(browser: Browser, small: Path, tmp_path: Path) -> None:
    options = ["compare", str(small), "-o", str(tmp_path), "--methods", "bilinear,libraw-ahd"]
    assert CliRunner().invoke(app, options).exit_code == 0
    browser.resize(1200, 900)
    browser.open(tmp_path / "index.html")
    assert (
        browser.run("document.getElementById('caption').textContent") == "small_rggb: bilinear | libraw-ahd"
    )
    assert browser.run("document.getElementById('errors').disabled") is True
    assert browser.complaints() == []


def test_the_page_of_a_report_opens_with_its_plots(browser: Browser, samples: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "set"
    pictures.mkdir()
    shutil.copy(samples / "small.png", pictures)
    options = ["--parts", "demosaic", "--methods", "malvar,bilinear", "--crop", "4"]
    result = CliRunner().invoke(app, ["benchmark", "all", str(pictures), "-o", str(tmp_path / "r"), *options])
    assert result.exit_code == 0, result.stderr
    browser.resize(1200, 900)
    browser.open(tmp_path / "r" / "index.html")
    click(browser, "#errors")
    assert browser.run("document.getElementById('caption').textContent").startswith("set small: malvar ")
    browser.run("document.querySelector('figure').scrollIntoView()")
    browser.run("document.querySelector('figure img').decode()")
    assert browser.run("document.querySelector('figure img').naturalWidth") > 300
    assert browser.complaints() == []
