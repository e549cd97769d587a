"""What README and guides show works: their Python and commands are run, but benchmarks are only parsed."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
import typer
from PIL import Image
from typer.testing import CliRunner

from cli.app import app

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
README = (ROOT / "README.md").read_text(encoding="utf-8")
LARGEST = {"README.md": 8200, "ARCHITECTURE.md": 12_288}  # bytes: what one reads in a few minutes
GUIDES = {
    name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("convert", "merge", "inpaint", "folders", "python", "benchmarks")
}


def blocks(language: str, *texts: str) -> list[str]:
    found = (re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for text in texts)
    return [block for each in found for block in each]


def lines_of_shell(*texts: str) -> list[str]:
    lines = "".join(blocks("sh", *texts)).splitlines()
    return [re.split(r"\s+# ", line)[0] for line in lines if line]


PROGRAMS = blocks("python", README, GUIDES["python"])
LINES = lines_of_shell(README, *GUIDES.values())
COMMANDS = list(dict.fromkeys(line for line in LINES if line.startswith("demosaic-ntc ")))
# Hours, until Ctrl-C, a cluster, a storage; no picture.
LONG = re.compile(" benchmark | watch | studio | --scheduler | prepare|s3://")
RUN = [line for line in COMMANDS if not LONG.search(line)]


@pytest.fixture
def folder(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files that the commands name."""
    for name in ("photo", "dark", "a", "b", "c"):
        shutil.copy(samples / "small_rggb.dng", tmp_path / f"{name}.dng")
    Image.fromarray(np.full((36, 48), 30_000, np.uint16)).save(tmp_path / "mosaic.png")
    mask, damaged = np.zeros((40, 30), np.uint8), np.full((40, 30, 3), 90, np.uint8)
    mask[9:12], damaged[9:12] = 255, (255, 0, 255)
    for name in ("shoot", "pictures", "scans", "repaired", "night", "darks", "flats"):
        (tmp_path / name).mkdir()
    for name in ("shoot/a", "shoot/b", "night/a", "darks/a", "flats/a"):
        shutil.copy(samples / "small_rggb.dng", tmp_path / f"{name}.dng")
    Image.fromarray(np.dstack([damaged, 255 - mask])).save(tmp_path / "erased.png")
    for path in ("damaged", "photo", "scans/b"):
        Image.fromarray(damaged).save(tmp_path / f"{path}.png")
    for path in ("mask", "person", "scans/b.mask"):
        Image.fromarray(mask).save(tmp_path / f"{path}.png")
    Image.fromarray(255 - mask).save(tmp_path / "lawn.png")
    infrared = np.full((40, 30), 200, np.uint8)
    infrared[20:22, 12:14] = 40  # a speck of dust
    scan = np.dstack([damaged, infrared])
    tifffile.imwrite(tmp_path / "scan.tif", scan, photometric="rgb", extrasamples=[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(arguments: list[str]) -> str:
    """What a command is to write: a folder, or the last picture that it names."""
    if "-o" in arguments:
        return arguments[arguments.index("-o") + 1]
    endings = (".png", ".tif", ".jpg", ".dng", ".fits")
    return [name for name in arguments if name.endswith(endings) and "*" not in name][-1]


def test_first_two_commands_set_up_and_try_everything() -> None:
    assert lines_of_shell(README)[:2] == ["make demo", "make test"]
    rules = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(rules)


@pytest.mark.parametrize("name", LARGEST)
def test_documents_are_short(name: str) -> None:
    assert (ROOT / name).stat().st_size < LARGEST[name]


def test_it_explains_itself_in_python_and_on_the_command_line() -> None:
    program: Any = typer.main.get_command(app)
    assert {"complete", "demosaic", "develop", "inpaint"} <= set(re.findall(r"\w+", "".join(PROGRAMS)))
    assert RUN[0] == "demosaic-ntc photo.dng out.png"
    assert set(program.commands) - {"convert", "demo"} <= {line.split()[1] for line in COMMANDS}
    measured = {line.split()[2] for line in COMMANDS if " benchmark " in line}
    assert measured == set(program.commands["benchmark"].commands)


@pytest.mark.parametrize("program", PROGRAMS)
def test_python_examples_run(program: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", RUN)
def test_commands_run_and_write_what_they_name(command: str, folder: Path) -> None:
    arguments = shlex.split(command)[1:]
    if "m42.fits" in arguments:
        unit = pytest.importorskip("astropy.io.fits").PrimaryHDU(np.full((36, 48), 3000, np.uint16))
        unit.header["BAYERPAT"] = "RGGB"
        unit.writeto(folder / "m42.fits")
    if "--bad-pixels" in arguments:
        (folder / "hot.txt").write_text("3 4\n")  # what the command before it has written
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    if "--dry-run" in arguments:
        assert list((folder / "pictures").iterdir()) == []
    elif arguments[0] != "info":
        result_path = folder / written(arguments)
        files = list(result_path.iterdir()) if result_path.is_dir() else [result_path]
        assert files
        assert all(file.stat().st_size > 0 for file in files)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_their_options_exist(command: str) -> None:
    # Help is shown only after the command line is read; an unknown command or option is wrong usage.
    result = CliRunner().invoke(app, [*shlex.split(command)[1:], "--help"])
    assert result.exit_code == 0, result.stderr


def test_every_option_it_mentions_exists() -> None:
    program: Any = typer.main.get_command(app)
    parameters = program.commands["convert"].params
    known = {name for each in parameters for name in (*each.opts, *each.secondary_opts)}
    table = "\n".join(line for line in GUIDES["convert"].splitlines() if line.startswith("| `-"))
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
