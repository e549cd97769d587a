import json
import re
from pathlib import Path

from demosaic_ntc.viewer.page import Page, PageScene, Version, page_html
from evaluation.report.tables import Cell, DataTable, html

NASTY = 'a</script><b>"&'


def page(**changes: object) -> str:
    given = {"title": "Title", "introduction": "Words", "facts": {"machine": "a computer"}, **changes}
    return page_html(Page(**given))  # type: ignore[arg-type]


def test_a_page_asks_for_nothing_from_anywhere() -> None:
    text = page()
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", text)
    assert "url(" not in text
    assert "http" not in text


def test_names_of_pictures_cannot_break_the_page() -> None:
    scene = PageScene(NASTY, 1, 1, (Version(NASTY, "data:,"),), "data:,")
    text = page(title=NASTY, facts={NASTY: NASTY}, scenes=(scene,))
    assert NASTY not in text
    (data,) = re.findall(r'id="scenes">(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)[0]["versions"][0]["name"] == NASTY


def test_tables_can_be_read_without_a_script_and_sorted_by_their_numbers() -> None:
    rows = ((Cell("ours"), Cell("1,200 s", 1200.0)), (Cell("theirs"), Cell("")))
    text = page(tables=(html(DataTable("Times", ("method", "time"), rows, ("seconds",), ("ours",))),))
    assert '<tr class="ours"><td data-value="ours">ours</td><td data-value="1200.0">1,200 s</td></tr>' in text
    assert '<td data-value="">–</td>' in text


def test_parts_of_the_page_are_small_enough_to_be_read() -> None:
    root = Path(__file__).parents[2]
    own = {"page.html", "page.js", "style.css", "viewer.js"}
    shared = {"basics.js", "gestures.js", "shared.css", "view.js"}
    parts = [
        path
        for path in (root / "demosaic_ntc" / "viewer").iterdir()
        if path.suffix in (".html", ".js", ".css")
    ]
    assert {path.name for path in parts} == own | shared
    assert sum(path.stat().st_size for path in parts) < 40_000
