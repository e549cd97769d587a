"""What docs/ shows works: examples are run, figures are those the script draws, links lead somewhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from docs import make_api, make_layout, make_man, make_options, make_tables
from docs.make_figures import DRAWINGS
from docs.make_tables import RESULTS, TABLES, with_tables
from evaluation.measure.store import ReportFile

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def examples() -> list[tuple[str, str]]:
    """Every block of Python with the page it stands on, but those that `test_readme.py` runs."""
    return [
        (page.name, program)
        for page in PAGES
        if page.name != "python.md"
        for program in re.findall(r"^```python\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)
    ]


def test_every_page_of_the_method_has_an_example() -> None:
    pages = [page.name for page in PAGES if page.name[0].isdigit()]
    assert len(pages) == 4
    assert list(dict.fromkeys(page for page, _ in examples())) == [
        *pages,
        *("api.md", "folders.md", "merge.md", "tensors.md"),
    ]


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


def test_tables_are_those_of_the_results() -> None:
    if not RESULTS.exists():
        pytest.skip("docs/results.json is not there: no report was taken over")
    pages = [text(page) for page in make_tables.PAGES]
    assert [name for page in pages for name in re.findall(r"<!-- begin (\w+) -->", page)] == list(TABLES)
    assert [with_tables(page, ReportFile(RESULTS)) for page in pages] == pages


def test_a_table_is_filled_with_measured_means(samples: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "set"
    pictures.mkdir()
    shutil.copy(samples / "small.png", pictures)
    options = ["--parts", "demosaic", "--methods", "lmmse,bilinear", "--crop", "4", "-o", str(tmp_path / "r")]
    assert CliRunner().invoke(app, ["benchmark", "all", str(pictures), *options]).exit_code == 0
    file = ReportFile(tmp_path / "r" / "results.json")
    lmmse, bilinear = (record["cpsnr"] for record in file.get("demosaic")["results"])
    stale = ["before", "<!-- begin demosaic -->", "stale", "<!-- end demosaic -->"]
    other = ["<!-- begin paper -->", "kept", "<!-- end paper -->"]
    filled = with_tables("\n".join([*stale, *other]), file).splitlines()
    assert filled[2:4] == ["| method | set dB | set NMSE | CPU s/MP |", "| --- | --: | --: | --: |"]
    assert filled[4].startswith(f"| directional LMMSE (Zhang and Wu) | {lmmse:.2f} |")
    assert filled[5].startswith(f"| bilinear | {bilinear:.2f} |")
    assert filled[6:] == [stale[-1], *other]


def test_the_page_of_the_interface_is_that_of_its_docstrings() -> None:
    """Written anew by ``python docs/make_api.py``."""
    assert make_api.PAGE.read_text(encoding="utf-8") == make_api.page()


def test_every_public_name_is_on_the_page() -> None:
    import demosaic_ntc

    listed = [name for names in make_api.SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(set(demosaic_ntc.__all__) - {"__version__"})


def test_the_man_page_is_that_of_the_commands() -> None:
    """Written anew by ``python docs/make_man.py``."""
    assert make_man.PAGE.read_text(encoding="utf-8") == make_man.page()


def test_tables_of_options_are_those_of_the_commands() -> None:
    """Written anew by ``python docs/make_options.py``."""
    pages = [text(page) for page in make_options.PAGES]
    assert [name for page in pages for name in re.findall(r"begin options of (\w+)", page)] == [
        "convert",
        "inpaint",
    ]
    assert [make_options.fill_tables(page) for page in pages] == pages


def test_the_layout_is_that_of_the_docstrings() -> None:
    """Written anew by ``python docs/make_layout.py``."""
    assert make_layout.PAGE.read_text(encoding="utf-8") == make_layout.page()


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="the extra `docs` is not installed")
    build = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run([*build, ROOT / "docs", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    first = (tmp_path / "README.html").read_text(encoding="utf-8")
    pages = {page.stem for page in PAGES} - {"README"}
    assert [page for page in pages if f'href="{page}.html"' not in first] == []
