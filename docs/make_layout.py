"""List every module by its docstring: ``python docs/make_layout.py`` writes docs/layout.md."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "layout.md"
PACKAGES = ("demosaic_ntc", "cli", "evaluation", "samples")

_HEAD = """# Every module, by its docstring

Made by `python docs/make_layout.py`. `ARCHITECTURE.md` explains how they fit together.
"""


def page() -> str:
    """The page: a section for each folder, its modules in alphabetical order."""
    folders = (folder for package in PACKAGES for folder in _folders(ROOT / package))
    return "\n".join([_HEAD, *(line for folder in folders for line in _section(folder))])


def _folders(package: Path) -> Iterator[Path]:
    """A package and the packages below it."""
    return (module.parent for module in sorted(package.rglob("__init__.py"), key=lambda each: each.parent))


def _section(folder: Path) -> Iterator[str]:
    """A folder: what it is for, then a row for each module."""
    yield f"## {folder.relative_to(ROOT).as_posix()}/\n\n{_summary(folder / '__init__.py')}\n"
    modules = [module for module in sorted(folder.glob("*.py")) if module.name != "__init__.py"]
    if modules:
        yield "| module | what it does |\n|---|---|"
        yield from (f"| `{module.name}` | {_summary(module)} |" for module in modules)
        yield ""


def _summary(module: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
