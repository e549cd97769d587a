"""Scripts and style that the pages of this project share: divider, zooming and moving, colour scheme."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def shared_script(name: str) -> str:
    """A script that pages share."""
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def shared_style() -> str:
    """The style that pages share."""
    return (_FOLDER / "shared.css").read_text(encoding="utf-8")
