"""The studio in a real browser: a picture opened, painted on, repaired, compared, saved, and found again."""

import json
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")

from cli.app import app
from tests.batch.batches import until
from tests.e2e.looking import attribute, click, element
from tests.e2e.page import Browser
from tests.studio.studios import Served, served, waves

CONTROL = 2
SHIFT = 8
# What is seen is up to date: where things are on the screen is told when they are drawn.
IDLE = (
    "studio.easel.number !== null && studio.easel.tiles.isIdle && !studio.easel.waiting"
    " && !studio.easel.pending.length && !studio.asked.size"
)
SAVED = "document.getElementById('said').textContent.includes('Saved')"
REPAIRED = "document.getElementById('said').textContent.includes('repaired')"
COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """Two damaged pictures, and a raw."""
    place = tmp_path_factory.mktemp("pictures")
    damaged = waves(300, 400)
    damaged[140:146, 60:340] = 0
    for name in ("a.png", "b.png"):
        Image.fromarray(damaged).save(place / name)
    (place / "c.dng").write_bytes((samples / "small_rggb.dng").read_bytes())
    return place


@pytest.fixture(scope="module")
def desk(folder: Path) -> Iterator[Served]:
    with served([folder]) as studio:
        studio.opened(1)
        yield studio


@pytest.fixture
def page(browser: Browser, desk: Served) -> Iterator[Browser]:
    """The page on a desktop's screen, showing the first picture 1:1 with nothing marked."""
    desk.post("/api/pictures/1/mask", {"tool": "clear"})
    browser.resize(1280, 800)
    browser.visit(desk.studio.place.address)
    browser.run("sessionStorage.clear()")
    browser.wait_for("studio.pictures.length")
    browser.run("studio.show(1); studio.easel.setZoom(1)")
    browser.run("document.getElementById('quality').value = 'fast'")
    browser.wait_for(IDLE)
    yield browser
    assert [event["params"] for event in browser.events if event.get("method") in COMPLAINTS] == []


def canvas(page: Browser) -> Any:
    """The pixels of the stage, without the brush."""
    page.run("studio.easel.pointer = null; studio.easel.draw()")
    page.wait_for(IDLE)
    page.run("studio.easel.draw()")
    told = page.run("document.querySelector('canvas').toDataURL()").partition(",")[2]
    with Image.open(BytesIO(b64decode(told))) as picture:
        return np.array(picture.convert("RGB"))


def on_screen(page: Browser, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of the picture is seen."""
    page.wait_for(IDLE)
    left, top, _, _ = element(page, "#stage")
    corner = attribute(page, "#stage", "data-corner").split(",")
    scale = float(attribute(page, "#stage", "data-scale"))
    return left + int(corner[0]) + x * scale, top + int(corner[1]) + y * scale


def picture_on(page: Browser) -> Any:
    """The part of the canvas that shows the picture, at 1:1."""
    seen = canvas(page)
    x, y = map(int, attribute(page, "#stage", "data-corner").split(","))
    return seen[y : y + 300, x : x + 400]


def marked(desk: Served) -> Any:
    return desk.tile(1, "mask")[..., 1] > 0


@contextmanager
def a_step(page: Browser) -> Iterator[None]:
    """Something that changes the mask, and the wait until server and page have the change."""
    version = "(studio.easel.sheet.mask.version ?? -1)"
    before = page.run(version)
    yield
    page.wait_for(f"{version} !== {before} && {IDLE}")


def painted(page: Browser) -> None:
    """Paint over the damage with the mouse."""
    page.run("studio.tools.setRadius(5)")
    with a_step(page):
        page.drag(on_screen(page, 60, 143), on_screen(page, 340, 143))


def repaired(page: Browser) -> None:
    click(page, "#repair")
    page.wait_for(f"{REPAIRED} && {IDLE}")


def test_a_picture_is_seen_as_it_is(page: Browser, folder: Path) -> None:
    with Image.open(folder / "a.png") as picture:
        np.testing.assert_array_equal(picture_on(page), np.array(picture))
    assert page.run("location.search") == ""  # the secret is no longer in the address


def test_damage_is_painted_repaired_compared_saved_and_found_again(
    page: Browser, desk: Served, folder: Path, tmp_path: Path
) -> None:
    with Image.open(folder / "a.png") as picture:
        before = np.array(picture)
    painted(page)
    mask = marked(desk)
    assert mask[138:148, 70:330].all()
    assert not mask[:130].any()
    assert (picture_on(page)[140:146, 100:300, 0] > 100).all()  # the mask is seen over the black damage
    repaired(page)
    after = picture_on(page)
    np.testing.assert_array_equal(after, desk.tile(1, "after"))
    assert abs(after[140:146, 70:330].astype(int) - waves(300, 400)[140:146, 70:330]).mean() < 8
    np.testing.assert_array_equal(after[~mask], before[~mask])
    page.press("c")
    page.drag(*(on_screen(page, x, 20) for x in (200, 100)))  # the divider, not a stroke
    np.testing.assert_array_equal(picture_on(page)[140:146, :90], before[140:146, :90])
    np.testing.assert_array_equal(picture_on(page)[140:146, 110:], after[140:146, 110:])
    assert np.array_equal(marked(desk), mask)
    saved = save(page, folder)
    expected, mask_file = tmp_path / "expected.png", tmp_path / "mask.png"
    mask_file.write_bytes(desk.get("/api/pictures/1/mask.png").content)
    arguments = ["inpaint", str(folder / "a.png"), str(mask_file), str(expected), "--quality", "fast", "-q"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert saved.read_bytes() == expected.read_bytes()
    page.reload()
    page.wait_for(IDLE)
    page.run("studio.easel.showsMask = false; studio.easel.setZoom(1)")
    np.testing.assert_array_equal(picture_on(page), after)
    assert page.run("studio.picture.sheet.mask.pixels") == np.count_nonzero(mask)


def save(page: Browser, folder: Path) -> Path:
    known = set(folder.iterdir())
    page.run("studio.panels.say('')")
    click(page, "#save")
    page.wait_for(f"{SAVED} && {IDLE}")
    (saved,) = set(folder.iterdir()) - known
    assert saved.name in page.run("document.getElementById('said').textContent")
    return saved


def test_strokes_are_undone_erased_and_drawn_again(page: Browser, desk: Served) -> None:
    painted(page)
    once = marked(desk)
    page.press("e")
    with a_step(page):
        page.drag(on_screen(page, 200, 130), on_screen(page, 200, 156))
    erased = marked(desk)
    assert 0 < np.count_nonzero(once & ~erased) < np.count_nonzero(once)
    with a_step(page):
        page.press("z", CONTROL)
    assert np.array_equal(marked(desk), once)
    with a_step(page):
        page.press("Z", CONTROL | SHIFT)
    assert np.array_equal(marked(desk), erased)
    assert page.run("document.getElementById('redo').disabled")


@pytest.mark.parametrize("told", ["{kind: 'picture', picture: studio.picture}", None])
def test_what_is_told_of_a_picture_ends_no_stroke(page: Browser, desk: Served, told: str | None) -> None:
    state = "{kind: 'state', pictures: studio.pictures, tasks: []}"  # as when a stream is opened again
    start, end = on_screen(page, 60, 143), on_screen(page, 340, 143)
    with a_step(page):
        page.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        page.run(f"studio.hear({told or state})")
        page.mouse("mouseMoved", *end, button="left", buttons=1)
        page.mouse("mouseReleased", *end, button="left", clickCount=1)
    assert marked(desk)[143, 60:340].all()


def test_fingers_paint_and_two_of_them_zoom(page: Browser, desk: Served) -> None:
    page.resize(390, 844, touch=True)
    page.run("studio.easel.setZoom(1)")
    page.wait_for(IDLE)
    left, top, width, height = element(page, "#stage")
    middle = (left + width / 2, top + height / 2)
    with a_step(page):
        page.touch("touchStart", middle)
        page.touch("touchMove", (middle[0] + 60, middle[1]))
        page.touch("touchEnd")
    painted = np.count_nonzero(marked(desk))
    assert painted > 1000
    near = [(middle[0] - 20, middle[1]), (middle[0] + 20, middle[1])]
    page.touch("touchStart", near[0])
    page.touch("touchStart", *near)
    page.touch("touchMove", (middle[0] - 60, middle[1]), (middle[0] + 60, middle[1]))
    page.touch("touchEnd")
    page.wait_for(f"studio.easel.scale > 1 && {IDLE}")
    assert np.count_nonzero(marked(desk)) == painted  # a pinch is no stroke
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)


@pytest.mark.parametrize(
    ("tool", "places", "count"),
    [
        ("r", [(50, 50), (99, 79)], 50 * 30),
        ("l", [(50, 50), (150, 50)], 2 * 5 * 100 + 78),
    ],
)
def test_rectangles_and_lines_are_dragged(
    page: Browser, desk: Served, tool: str, places: list[tuple[float, float]], count: int
) -> None:
    page.run("studio.tools.setRadius(5)")
    page.press(tool)
    with a_step(page):
        page.drag(*(on_screen(page, x + 0.5, y + 0.5) for x, y in places))
    assert abs(np.count_nonzero(marked(desk)) - count) < 0.06 * count


def rectangle(page: Browser, first: tuple[int, int], last: tuple[int, int]) -> None:
    """Mark a rectangle with the mouse."""
    page.press("r")
    with a_step(page):
        page.drag(*(on_screen(page, x + 0.5, y + 0.5) for x, y in (first, last)))


def test_wide_holes_get_texture_from_where_the_brush_says(
    page: Browser, desk: Served, folder: Path, tmp_path: Path
) -> None:
    rectangle(page, (20, 20), (219, 119))
    allowed = marked(desk)
    with a_step(page):
        click(page, "#source")
    assert attribute(page, "#source", "aria-pressed") == "true"
    assert not marked(desk).any()
    assert (picture_on(page)[60, 30:200] != np.array(Image.open(folder / "a.png"))[60, 30:200]).any()
    rectangle(page, (250, 170), (319, 239))
    assert page.run("document.getElementById('grow').value") == "3"
    with a_step(page):
        click(page, "#grow-mask")
    assert np.count_nonzero(marked(desk)) == 70 * 70 + 4 * 70 * 3 + 4 * 4  # rounded corners
    assert page.run("document.getElementById('fill').value") == "auto"
    repaired(page)
    files = {"mask": marked(desk), "source": allowed}
    for name, flags in files.items():
        Image.fromarray(flags.astype(np.uint8) * 255).save(tmp_path / f"{name}.png")
    words = [
        folder / "a.png",
        tmp_path / "mask.png",
        tmp_path / "out.png",
        "--source",
        tmp_path / "source.png",
    ]
    words += ["--fill", "auto", "--quality", "fast", "-q"]
    assert CliRunner().invoke(app, ["inpaint", *map(str, words)]).exit_code == 0
    with Image.open(tmp_path / "out.png") as expected:
        np.testing.assert_array_equal(desk.tile(1, "after"), np.array(expected))
    page.run("document.getElementById('fill').value = 'smooth'")
    textured = desk.tile(1, "after")
    click(page, "#repair-all")
    page.wait_for(IDLE)
    until(lambda: (desk.tile(1, "after") != textured).any())
    with a_step(page):
        click(page, "#clear")
    click(page, "#source")  # the whole picture may be copied again
    page.wait_for("document.getElementById('source').getAttribute('aria-pressed') === 'false'")


def test_a_polygon_is_closed_by_a_key(page: Browser, desk: Served) -> None:
    page.press("p")
    for x, y in ((50, 50), (150, 50), (150, 150)):
        place = on_screen(page, x, y)
        page.drag(place, place)
    with a_step(page):
        page.press("Enter")
    assert abs(np.count_nonzero(marked(desk)) - 5000) < 200


def test_everything_is_done_by_keys_alone(page: Browser, desk: Served) -> None:
    """The tool is put down in the middle, the picture moved beneath it, and the result repaired."""
    page.run("document.getElementById('stage').focus(); studio.tools.setRadius(4)")
    page.press("b")
    page.press("d")
    for _ in range(3):
        page.press("ArrowRight")
    with a_step(page):
        page.press("d")
    rows, columns = np.nonzero(marked(desk))
    assert 7 <= rows.max() - rows.min() <= 9
    assert 120 <= columns.max() - columns.min() <= 132
    page.press("Enter")
    page.wait_for(f"{REPAIRED} && {IDLE}")
    page.press("[")
    assert page.run("studio.tools.radius") < 4


def test_every_control_is_reached_by_tab_and_has_a_name(page: Browser) -> None:
    painted(page)
    page.run("document.querySelector('details').open = true; document.activeElement.blur()")
    wanted = set(
        page.run(
            "[...document.querySelectorAll('button, input, select, textarea, #stage')]"
            ".filter(e => !e.disabled && e.checkVisibility())"
            ".map((e, i) => e.dataset.seen = String(e.id || i))"
        )
    )
    reached = set()
    for _ in range(len(wanted) + 12):
        page.press("Tab")
        reached.add(page.run("document.activeElement.dataset.seen"))
    assert wanted <= reached
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "slider", "combobox", "checkbox", "textbox", "application"}
    nameless = [
        page.call("DOM.describeNode", backendNodeId=node["backendDOMNodeId"])["node"]["attributes"]
        for node in tree
        if node.get("role", {}).get("value") in roles and not node.get("name", {}).get("value")
    ]
    assert nameless == []


def test_the_wheel_sizes_the_brush_and_with_control_it_zooms(page: Browser) -> None:
    place = on_screen(page, 200, 150)
    radius = page.run("studio.tools.radius")
    page.mouse("mouseWheel", *place, deltaX=0, deltaY=-100)
    page.wait_for(f"studio.tools.radius > {radius}")
    page.mouse("mouseWheel", *place, deltaX=0, deltaY=-100, modifiers=CONTROL)
    page.wait_for("studio.easel.scale === 2")


def test_holding_shows_what_was_there(page: Browser, folder: Path) -> None:
    painted(page)
    repaired(page)
    with Image.open(folder / "a.png") as picture:
        before = np.array(picture)
    page.call("Input.dispatchKeyEvent", type="keyDown", key="v", text="v")
    np.testing.assert_array_equal(picture_on(page), before)
    page.call("Input.dispatchKeyEvent", type="keyUp", key="v")
    assert not np.array_equal(picture_on(page), before)


def test_a_file_is_dropped_in_and_its_result_downloaded(page: Browser, desk: Served, tmp_path: Path) -> None:
    source = tmp_path / "dropped.png"
    Image.fromarray(waves(80, 90)).save(source)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.call("DOM.enable")
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    field = page.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=field, files=[str(source)])
    page.wait_for(f"studio.picture?.name === 'dropped.png' && studio.picture.sheet && {IDLE}")
    with a_step(page):
        page.drag(on_screen(page, 20, 20), on_screen(page, 50, 20))
    click(page, "#save")
    page.wait_for(f"{SAVED} && {IDLE}")
    saved = tmp_path / "dropped_repaired.png"
    until(saved.exists)
    number = page.run("studio.number")
    assert saved.read_bytes() == desk.get(f"/api/pictures/{number}/result").content


def test_a_raw_is_developed_by_sliders_and_converted_as_the_command_says(
    page: Browser, desk: Served, folder: Path, tmp_path: Path
) -> None:
    desk.post("/api/pictures/3/open")
    desk.opened(3)
    page.run("studio.show(3)")
    page.wait_for(f"{IDLE} && studio.picture.sheet.touched.length")
    before = canvas(page)
    page.run("const e = document.getElementById('exposure'); e.value = 1.5; e.oninput()")
    page.wait_for(
        f"document.getElementById('command').value.includes('--exposure=+1.5') && !studio.raws.busy && {IDLE}"
    )
    assert canvas(page).mean() > before.mean()
    page.run("studio.show(1)")
    page.wait_for(IDLE)
    page.run("studio.show(3)")  # sliders are found as they were left
    page.wait_for(f"document.getElementById('command').value.includes('--exposure=+1.5') && {IDLE}")
    command = page.run("document.getElementById('command').value").split()
    expected = tmp_path / "expected.png"
    arguments = [str(expected) if word.endswith(".png") else word for word in command[1:]]
    assert CliRunner().invoke(app, [*arguments, "-q"]).exit_code == 0
    saved = save(page, folder)
    assert saved.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(page: Browser, width: int) -> None:
    page.resize(width, 844)
    assert page.run("document.documentElement.scrollWidth") <= width
    wide = page.run(
        "[...document.querySelectorAll('aside *, header *')].filter(e => e.checkVisibility()"
        " && !e.closest('.unseen') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.id || e.tagName)"
    )
    assert wide == []


def ended(number: int) -> str:
    """What the server tells of a task that has saved a file, as a script's object."""
    task = {"number": number, "kind": "save", "picture": 1, "state": "done", "stage": "", "share": 1}
    return json.dumps({**task, "left": None, "reason": "", "notices": [], "result": {"names": ["x.png"]}})


def test_an_end_that_is_told_before_the_answer_is_heard(page: Browser) -> None:
    page.run("studio.ask = async () => ({ task: 99999 })")
    page.run(f"studio.hear({{ kind: 'task', task: {ended(99999)} }})")
    page.run("studio.begin('save', {})")
    assert page.run("document.getElementById('said').textContent") == "Saved x.png."
    assert page.run("studio.asked.size") == 0


def test_an_end_that_was_missed_is_told_by_the_next_state(page: Browser) -> None:
    page.run("studio.asked.add(99999)")
    page.run(f"studio.hear({{ kind: 'state', pictures: studio.pictures, tasks: [{ended(99999)}] }})")
    assert page.run("document.getElementById('said').textContent") == "Saved x.png."
    assert page.run("studio.asked.size") == 0


def test_a_stroke_belongs_to_the_picture_it_was_drawn_on(page: Browser, desk: Served) -> None:
    """Even if another one is shown before the server has answered."""
    desk.post("/api/pictures/2/open")
    desk.opened(2)
    page.wait_for("studio.pictures[1].sheet")
    page.run(
        "studio.draw({ tool: 'brush', erase: false, radius: 5, points: [[50, 50]] }).then(() => 0,"
        " studio.show(2))"
    )
    page.wait_for(f"studio.pictures[0].sheet.mask.pixels && {IDLE}")
    assert np.count_nonzero(marked(desk)) == page.run("studio.pictures[0].sheet.mask.pixels")
    assert page.run("studio.pictures[1].sheet.mask.pixels") == 0


def test_news_of_a_mask_that_come_late_change_nothing(page: Browser) -> None:
    painted(page)
    count = page.run("studio.picture.sheet.mask.pixels")
    mask = "{ version: 0, pixels: 0, undo: false, redo: false }"
    page.run(f"studio.hear({{ kind: 'mask', number: 1, box: [0, 1, 0, 1], touched: [], mask: {mask} }})")
    assert page.run("studio.picture.sheet.mask.pixels") == count


def test_steps_made_in_a_hurry_reach_the_server_in_their_order(page: Browser, desk: Served) -> None:
    """A stroke, undone and erased again before the server has answered the first of them."""
    shape = "{{ tool: 'rectangle', erase: {erase}, radius: 1, points: [[{left}, 50], [{right}, 59]] }}"
    first, second, gone = (
        shape.format(erase=erase, left=left, right=right)
        for erase, left, right in (("false", 50, 99), ("false", 200, 219), ("true", 210, 219))
    )
    page.run(
        "(() => { const post = studio.server.post.bind(studio.server); let wait = 300;"
        # The sooner a request is made, the longer it is on its way.
        " studio.server.post = async (...all) => { wait -= 60;"
        " await new Promise((go) => setTimeout(go, wait)); return post(...all); };"
        f" return Promise.all([studio.draw({first}), studio.step('undo'), studio.draw({second}),"
        f" studio.draw({gone})]).then(() => 0); }})()"
    )
    expected = np.zeros((300, 400), np.bool_)
    expected[50:60, 200:210] = True
    np.testing.assert_array_equal(marked(desk), expected)
