"""Write the tables of options from the commands' own help: ``python docs/make_options.py``.

Tables stand between ``<!-- begin options of COMMAND -->`` and ``<!-- end options -->``; a test
compares them.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cli.app import app
from cli.arguments.help_format import ARGUMENTS, OTHERS, sections

PAGES = tuple(Path(__file__).with_name(name) for name in ("convert.md", "inpaint.md"))
_TABLE = re.compile(r"(<!-- begin options of (\w+) -->\n).*?(<!-- end options -->)", re.DOTALL)


def fill_tables(page: str) -> str:
    """The text of a page with its tables made anew."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return _TABLE.sub(lambda found: found[1] + "\n".join(_table(commands[found[2]])) + "\n" + found[3], page)


def _table(command: Any) -> Iterator[str]:
    """The options of a command, a row each, by their groups."""
    yield "\n| option | what it does |\n|---|---|"
    for title, entries in sections(command, typer.Context(command)).items():
        if title not in (ARGUMENTS, OTHERS):
            yield f"| **{title}** | |"
            yield from (f"| `{_cell(term)}` | {_cell(meaning)} |" for term, meaning in entries)
    yield ""


def _cell(words: str) -> str:
    """Words within a table."""
    return words.replace("|", r"\|")


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(fill_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
