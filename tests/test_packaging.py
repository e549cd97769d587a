"""The explicit package list of pyproject.toml names every folder that is a package."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_package_folder_is_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = {path.parent for path in (ROOT / "demosaic_ntc").rglob("__init__.py")}
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    names |= {f"demosaic_ntc.{top}" for top in ("cli", "evaluation") if (ROOT / top / "__init__.py").exists()}
    assert set(settings["packages"]) == names
