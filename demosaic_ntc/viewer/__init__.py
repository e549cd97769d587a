"""Pages: scripts and style that all of them share, and the one on which versions of pictures are compared."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def read_script(name: str) -> str:
    """A script that pages share."""
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def read_style(name: str = "shared.css") -> str:
    """The style that pages share, or another one."""
    return (_FOLDER / name).read_text(encoding="utf-8")
