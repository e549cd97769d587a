"""What docs/ shows works: examples are run, figures are those the script draws, links lead somewhere."""

import re
from pathlib import Path

import pytest

from docs.make_figures import DRAWINGS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def examples() -> list[tuple[str, str]]:
    """Every block of Python with the page it stands on."""
    return [
        (page.name, program)
        for page in PAGES
        for program in re.findall(r"^```python\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)
    ]


def test_every_page_of_the_method_has_an_example() -> None:
    pages = [page.name for page in PAGES if page.name[0].isdigit()]
    assert len(pages) == 4
    assert [page for page, _ in examples()] == pages


@pytest.mark.parametrize(("page", "program"), examples(), ids=[page for page, _ in examples()])
def test_examples_run(
    page: str, program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(program, page, "exec"), {"__name__": "docs"})
    assert capsys.readouterr().out


def test_the_script_draws_the_figures_that_are_shown() -> None:
    shown = {name for page in PAGES for name in re.findall(r"\]\(figures/(.*?)\)", text(page))}
    assert shown == set(DRAWINGS)
    assert {path.name for path in (ROOT / "docs" / "figures").iterdir()} == shown


def test_a_drawing_is_drawn() -> None:
    figure = DRAWINGS["blocks.svg"]()
    titles = [panel.get_title() for panel in getattr(figure, "axes", ())]
    assert titles[:3] == ["truth", "60 entries seen", "completed"]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_lead_to_files_and_paths_exist(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", text(page))
    assert [link for link in links if not (page.parent / link).exists()] == []
    paths = re.findall(r"`((?:demosaic_ntc|cli|evaluation|samples|docs)/[\w./]*)`", text(page))
    assert [path for path in paths if not (ROOT / path).exists()] == []
