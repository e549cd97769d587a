"""The comparison page in a real browser: what a reader does with it, and what is then to be seen."""

from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.viewer.page import Page, PageScene, Version, page_html
from demosaic_ntc.viewer.pictures import address, lossless, thumbnail
from evaluation.measure.metrics import Bytes
from evaluation.report.tables import Cell, DataTable, html
from tests.e2e.looking import attribute, click, element, eventually
from tests.e2e.page import Browser

SIDE = 48

# Every pixel tells where it is: its column in red, its row in green; blue tells the version.
COLUMN, ROW, VERSION = 5, 5, 2
BLUES = {"truth": 0, "ours": 4, "theirs": 20}


def coded(name: str) -> Bytes:
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    return np.stack([COLUMN * x, ROW * y, np.full_like(x, BLUES[name])], axis=-1).astype(np.uint8)


def scene(name: str, *, truth: bool = True) -> PageScene:
    names = list(BLUES) if truth else list(BLUES)[1:]
    versions = tuple(Version(each, address(lossless(coded(each))), "30.00 dB") for each in names)
    small = thumbnail(np.asarray(Image.effect_noise((60, 40), 80).convert("RGB")))
    return PageScene(name, SIDE, SIDE, versions, small, (0.1, 0.2, 0.5, 0.5), "truth" if truth else None)


def tables() -> tuple[DataTable, ...]:
    figures: list[tuple[str, float | None]] = [("b", 9.5), ("a", 10.25), ("d", None), ("c", 100.0)]
    rows = tuple((Cell(n), Cell("", None) if v is None else Cell(f"{v:.2f}", v)) for n, v in figures)
    return (DataTable("Means", ("method", "dB"), rows, ("three sets",), ("a",)),)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    """The page with two pictures, one of them without truth, freshly opened on a desktop's screen."""
    content = Page(
        "Report",
        "Words.",
        {"machine": "x"},
        (scene("one"), scene("two", truth=False)),
        tuple(map(html, tables())),
    )
    path = tmp_path / "index.html"
    path.write_text(page_html(content), encoding="utf-8")
    browser.resize(1200, 900)
    browser.open(path)
    return browser


@pytest.fixture
def shown(page: Browser) -> Callable[[], NDArray[np.int64]]:
    """The pixels of the canvas."""

    def read() -> NDArray[np.int64]:
        page.settle()
        told = page.run("document.querySelector('canvas').toDataURL()").partition(",")[2]
        with Image.open(BytesIO(b64decode(told))) as picture:
            return np.array(picture, dtype=np.int64)

    return read


def geometry(page: Browser) -> tuple[int, int, float]:
    """Where the picture's corner is on the canvas, and screen pixels per picture pixel."""
    corner, scale = page.run(
        "(({corner, scale}) => [corner, scale])(document.getElementById('stage').dataset)"
    )
    x, y = corner.split(",")
    return int(x), int(y), float(scale)


def check_shown(page: Browser, shown: Callable[[], NDArray[np.int64]], left: str, right: str) -> None:
    """Two versions are seen, as soon as they are decoded and drawn."""
    eventually(lambda: check_pixels(page, shown(), {"left": BLUES[left], "right": BLUES[right]}))


def check_pixels(page: Browser, pixels: NDArray[np.int64], blue: dict[str, int]) -> None:
    """Every canvas pixel inside the picture is the right picture pixel, on both sides of the divider."""
    x, y, scale = geometry(page)
    cut = round(pixels.shape[1] * int(attribute(page, "#divider", "aria-valuenow")) / 100)
    rows, columns = np.nonzero(pixels[..., 3])
    assert rows.size > 1000
    np.testing.assert_array_equal(pixels[rows, columns, 0], COLUMN * ((columns - x) // scale))
    np.testing.assert_array_equal(pixels[rows, columns, 1], ROW * ((rows - y) // scale))
    away = np.abs(columns - cut) > pixels.shape[1] / 100  # the divider is told in whole percents
    sides = np.where(columns < cut, blue["left"], blue["right"])
    np.testing.assert_array_equal(pixels[rows, columns, VERSION][away], sides[away])


def test_it_opens_from_a_file_without_a_complaint_and_without_a_network(page: Browser) -> None:
    assert page.run("location.protocol") == "file:"
    assert page.run("document.getElementById('viewer').hidden") is False
    assert page.run("document.getElementById('caption').textContent") == "one: truth 30.00 dB | ours 30.00 dB"
    assert page.complaints() == []


def test_complaints_are_heard(page: Browser) -> None:
    page.run("console.error('listen')")
    page.settle()
    assert len(page.complaints()) == 1


@pytest.mark.parametrize("zoom", [1, 2, 4, 8])
def test_both_sides_show_the_same_place_at_every_zoom(
    page: Browser, shown: Callable[[], NDArray[np.int64]], zoom: int
) -> None:
    click(page, f"#zooms [data-zoom='{zoom}']")
    left, top, _, _ = element(page, "#stage")
    page.drag((left + 100, top + 100), (left + 100 + 37, top + 100 + 13))
    assert geometry(page)[2] == zoom
    check_shown(page, shown, "truth", "ours")


def test_screens_with_small_pixels_show_them_one_to_one(
    page: Browser, shown: Callable[[], NDArray[np.int64]]
) -> None:
    page.resize(800, 700, ratio=2.5)
    click(page, "#zooms [data-zoom='2']")
    check_shown(page, shown, "truth", "ours")
    assert shown().shape[1] == round(2.5 * element(page, "#stage")[2])


def test_the_divider_follows_the_mouse(page: Browser, shown: Callable[[], NDArray[np.int64]]) -> None:
    left, top, width, height = element(page, "#stage")
    page.drag((left + width / 2, top + height / 3), (left + 0.6 * width, top + height / 2))
    assert attribute(page, "#divider", "aria-valuenow") == "60"
    check_shown(page, shown, "truth", "ours")
    page.drag((left + 0.6 * width, top + 9), (left + width + 300, top + 9))
    assert attribute(page, "#divider", "aria-valuenow") == "100"


def test_any_two_versions_can_be_chosen_and_swapped(
    page: Browser, shown: Callable[[], NDArray[np.int64]]
) -> None:
    page.run("document.getElementById('left').focus()")
    page.press("t")  # from truth to the next version that begins with a t
    check_shown(page, shown, "theirs", "ours")
    click(page, "#swap")
    check_shown(page, shown, "ours", "theirs")
    assert "theirs on the left" not in attribute(page, "#divider", "aria-valuetext")


def test_errors_are_shown_eight_times_as_bright(
    page: Browser, shown: Callable[[], NDArray[np.int64]]
) -> None:
    click(page, "#errors")
    assert attribute(page, "#errors", "aria-pressed") == "true"
    expected = {(0, 0, 0), (0, 0, 8 * BLUES["ours"])}

    def only_errors() -> None:
        pixels = shown()
        assert {tuple(p) for p in pixels[pixels[..., 3] > 0][:, :3].tolist()} == expected

    eventually(only_errors)
    click(page, "#errors")
    check_shown(page, shown, "truth", "ours")


def test_there_are_no_errors_without_truth(page: Browser) -> None:
    assert attribute(page, "#errors", "title") == "Show errors (e)"
    click(page, "#pictures button:nth-child(2)")
    assert page.run("document.getElementById('errors').disabled") is True
    assert "a truth to compare with" in attribute(page, "#errors", "title")
    assert page.run("document.getElementById('caption').textContent").startswith("two: ours")


def test_everything_can_be_done_by_keys(page: Browser) -> None:
    page.run("document.getElementById('stage').focus()")
    page.press("4")
    before = geometry(page)
    assert before[2] == 4
    page.press("ArrowLeft")
    assert geometry(page) == (before[0] + 40, before[1], 4)
    page.press("+")
    assert geometry(page)[2] == 8
    page.press("-")
    page.press("x")
    page.press("e")
    assert page.run("document.getElementById('caption').textContent").startswith("one: ours")
    assert attribute(page, "#errors", "aria-pressed") == "true"
    page.press("]")
    assert page.run("document.getElementById('caption').textContent").startswith("two:")
    page.press("Tab")
    assert page.run("document.activeElement.id") == "divider"
    for key, percent in (("ArrowRight", "51"), ("Home", "0"), ("End", "100"), ("ArrowLeft", "99")):
        page.press(key)
        assert attribute(page, "#divider", "aria-valuenow") == percent


def test_what_has_the_focus_is_to_be_seen(page: Browser) -> None:
    page.run("document.getElementById('theme').focus()")
    page.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert page.run(outline) == "3px"


def test_the_wheel_zooms_with_control_and_scrolls_without(page: Browser) -> None:
    click(page, "#zooms [data-zoom='2']")
    left, top, width, height = element(page, "#stage")
    spot = (left + width / 2 + 20, top + height / 2 - 16)
    x, y, scale = geometry(page)
    under = ((spot[0] - left - x) / scale, (spot[1] - top - y) / scale)
    page.mouse("mouseWheel", *spot, deltaX=0, deltaY=-120, modifiers=2)
    page.wait_for("document.getElementById('stage').dataset.scale === '4'")
    x, y, scale = geometry(page)
    assert ((spot[0] - left - x) / scale, (spot[1] - top - y) / scale) == pytest.approx(under, abs=0.5)
    page.mouse("mouseWheel", *spot, deltaX=0, deltaY=200)
    page.wait_for("scrollY > 0")
    assert geometry(page)[2] == 4


def test_fingers_move_the_picture_and_zoom_it(page: Browser) -> None:
    page.resize(390, 844, ratio=2, touch=True)
    click(page, "#zooms [data-zoom='4']")
    page.run("document.getElementById('stage').scrollIntoView()")
    left, top, width, height = element(page, "#stage")
    x, y = left + width / 4, top + height / 4
    before = geometry(page)
    page.touch("touchStart", (x, y))
    page.touch("touchMove", (x + 10, y + 20))
    page.touch("touchEnd")
    page.wait_for(f"document.getElementById('stage').dataset.corner === '{before[0] + 20},{before[1] + 40}'")
    assert geometry(page)[2] == 4
    page.touch("touchStart", (x, y), (x + 40, y))
    page.touch("touchMove", (x - 10, y), (x + 60, y))
    page.touch("touchEnd")
    page.wait_for("document.getElementById('stage').dataset.scale === '8'")


def test_tables_sort_by_their_numbers_both_ways_and_what_is_missing_stays_last(page: Browser) -> None:
    order = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[0].textContent).join('')"
    assert page.run(order) == "badc"
    click(page, "th:nth-child(2) button")
    assert page.run(order) == "bacd"
    assert attribute(page, "th:nth-child(2)", "aria-sort") == "ascending"
    click(page, "th:nth-child(2) button")
    assert page.run(order) == "cabd"
    page.run("document.querySelector('th:first-child button').focus()")
    page.press("Enter")
    assert page.run(order) == "abcd"
    assert attribute(page, "th:nth-child(2)", "aria-sort") is None


def contrast(page: Browser, selector: str) -> float:
    """The contrast of a text with the ground of the page, as in WCAG 2."""
    script = (
        "((e) => [getComputedStyle(e).color, getComputedStyle(document.body).backgroundColor]"
        f".map(c => c.match(/[\\d.]+/g).slice(0, 3).map(Number)))(document.querySelector({selector!r}))"
    )
    lights = []
    for colour in page.run(script):
        share = np.array(colour) / 255
        light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        lights.append(float(light @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(lights) / min(lights)


def test_dark_and_light_are_both_readable_and_can_be_chosen(page: Browser) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    for _ in ("light", "dark"):
        for selector in ("h1", ".lead", ".small", "dt", "#keys"):
            assert contrast(page, selector) >= 4.5
        click(page, "#theme")
    assert page.run(ground) == light
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.run("document.getElementById('theme').textContent") == "Dark"  # what was chosen stays


@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_no_screen_is_too_narrow(page: Browser, width: int) -> None:
    page.resize(width, 800)
    assert page.run("document.documentElement.scrollWidth") <= width
    unnamed = "e => !(e.labels?.[0] ?? e).textContent.trim()"
    assert page.run(f"[...document.querySelectorAll('button, select')].filter({unnamed}).length") == 0
