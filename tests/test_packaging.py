"""The explicit package list of pyproject.toml names every folder that is a package."""

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
