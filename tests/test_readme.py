"""What the README shows works: its Python is run, its conversions are run, its benchmarks are understood."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from cli.app import app

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def lines_of_shell() -> list[str]:
    lines = "".join(blocks("sh")).splitlines()
    return [line.partition("#")[0].strip() for line in lines if line]


PROGRAMS = blocks("python")
COMMANDS = [line for line in lines_of_shell() if line.startswith("demosaic-ntc ")]
RUN = [line for line in COMMANDS if " benchmark " not in line]


@pytest.fixture
def folder(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files that the README's commands name."""
    shutil.copy(samples / "small_rggb.dng", tmp_path / "photo.dng")
    Image.fromarray(np.full((36, 48), 30_000, np.uint16)).save(tmp_path / "mosaic.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_first_two_commands_set_up_and_try_everything() -> None:
    assert lines_of_shell()[:2] == ["make demo", "make test"]
    rules = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(rules)


def test_it_explains_itself_in_python_and_on_the_command_line() -> None:
    assert {"complete", "demosaic"} <= set(re.findall(r"\w+", "".join(PROGRAMS)))
    assert RUN[0] == "demosaic-ntc photo.dng out.png"
    assert {"paper", "demosaic"} == {line.split()[2] for line in COMMANDS if line not in RUN}


@pytest.mark.parametrize("program", PROGRAMS, ids=["demosaic", "complete"])
def test_python_examples_run(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", RUN)
def test_commands_run_and_write_what_they_name(command: str, folder: Path) -> None:
    arguments = shlex.split(command)[1:]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    if arguments[0] != "info":
        assert (folder / arguments[1]).stat().st_size > 0


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_their_options_exist(command: str) -> None:
    # Help is shown only after the command line is read; an unknown command or option is wrong usage.
    result = CliRunner().invoke(app, [*shlex.split(command)[1:], "--help"])
    assert result.exit_code == 0, result.stderr


def test_every_option_it_mentions_exists() -> None:
    program: Any = typer.main.get_command(app)
    known = {name for parameter in program.commands["convert"].params for name in parameter.opts}
    table = "\n".join(line for line in README.splitlines() if line.startswith("| `-"))
    mentioned = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", table))
    assert mentioned
    assert mentioned <= known


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files(name: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_in_documents_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:demosaic_ntc|cli|evaluation|samples|tests|\.ci)/[\w./]*)`", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_types_in_the_architecture_are_where_it_says() -> None:
    rows = re.findall(
        r"^\| (`[A-Z].*?) \| `(.*?)` \|", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE
    )
    assert rows
    for names, path in rows:
        source = (ROOT / path).read_text(encoding="utf-8")
        missing = [name for name in re.findall(r"\w+", names) if f"class {name}" not in source]
        assert missing == [], path
