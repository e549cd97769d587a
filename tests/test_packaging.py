"""What is installed, and what hosted runs test: lists that would go stale unseen."""

import re
import tomllib
from pathlib import Path

from cli.commands import demo

ROOT = Path(__file__).resolve().parents[1]


def test_every_package_folder_is_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = {path.parent for path in (ROOT / "demosaic_ntc").rglob("__init__.py")}
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    beside = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"demosaic_ntc"}
    assert beside == {"cli", "evaluation", "samples"}
    rooms = {
        path.parent.relative_to(ROOT).parts for top in beside for path in (ROOT / top).rglob("__init__.py")
    }
    assert set(settings["packages"]) == names | {".".join(("demosaic_ntc", *room)) for room in rooms}
    assert settings["package-dir"] == {f"demosaic_ntc.{folder}": folder for folder in beside}


def test_the_demo_finds_its_sample_once_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert set(settings["package-data"]["demosaic_ntc.samples"]) == {demo.RAW, demo.TRUTH}


def test_whatever_lies_beside_modules_is_installed_with_them() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    patterns, found = settings["package-data"], list[str]()
    for folder in (ROOT / "demosaic_ntc", ROOT / "evaluation", ROOT / "cli"):
        for path in sorted(folder.rglob("*.*")):
            if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts:
                home = next(each for each in path.parents if (each / "__init__.py").exists())
                name = ".".join(home.relative_to(ROOT).parts).removeprefix("demosaic_ntc.")
                name = name if name == "demosaic_ntc" else f"demosaic_ntc.{name}"
                found.append(path.name)
                assert any(path.relative_to(home).match(each) for each in patterns[name]), path
    assert {"page.html", "paper.csv", "kodak.txt", "py.typed"} <= set(found)


def test_hosted_runs_name_folders_that_exist_and_the_versions_that_are_promised() -> None:
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    folders = re.findall(r"tests/[\w/]+", workflow)
    assert folders
    assert not [folder for folder in folders if not (ROOT / folder).is_dir()]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "classifiers"
    ]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    listed = re.search(r"python: \[(.*)\]", workflow)
    assert listed is not None
    assert promised == re.findall(r"3\.\d+", listed[1])
