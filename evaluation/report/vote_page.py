"""A page to look at fills side by side and to vote on them; blind, they are shuffled and without names.

Pictures are clicked in the order of preference, the best first. The count at the end is by pairs: how often a
way was preferred to another, over all rows where either was clicked.
"""

import base64
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.viewer import read_style

from ..measure.metrics import Bytes
from ..measure.store import write_text

PAGE = "index.html"
_MARGIN = 90  # pixels shown around a hole
_OUTLINE = (255, 0, 255)

_TEMPLATE = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))


def write_vote_page(
    folder: Path,
    rows: Mapping[str, tuple[Bytes, NDArray[np.bool_], Mapping[str, Bytes]]],
    seed: int | None,
) -> Path:
    """Write a page of rows: a picture, its hole, and fills by name; with a seed, shuffled and unnamed."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = None if seed is None else np.random.default_rng(seed)
    names: dict[str, str] = {}
    lines = []
    for number, (title, (picture, hole, fills)) in enumerate(rows.items()):
        box, order = _box_of(hole), list(fills)
        if generator is not None:
            order = [order[place] for place in generator.permutation(len(order))]
        figures = [_figure(folder, f"{number:02}-hole", _outline(picture, hole)[box], "the hole", None)]
        for place, name in enumerate(order):
            key = f"{number:02}-{chr(ord('A') + place)}"
            names[key] = name
            shown = key[-1] if generator is not None else name
            figures.append(_figure(folder, key, fills[name][box], shown, key))
        heading = f"{number + 1}" if generator is not None else escape(title)
        lines.append(f'<h2>{heading}</h2><div class="fills">{"".join(figures)}</div>')
    blind = "Names are hidden until you count." if generator is not None else ""
    key = base64.b64encode(json.dumps(names).encode()).decode()
    page = _TEMPLATE.substitute(style=read_style(), rows="\n".join(lines), key=key, blind=blind)
    write_text(folder / PAGE, page)
    return folder / PAGE


def _figure(folder: Path, name: str, part: Bytes, caption: str, key: str | None) -> str:
    """A picture of the page, written beside it."""
    Image.fromarray(np.ascontiguousarray(part)).save(folder / f"{name}.png")
    height, width = part.shape[:2]
    vote = "" if key is None else f' data-fill="{key}"'
    image = f'<img alt="" src="{name}.png" width="{width}" height="{height}">'
    return f"<figure{vote}>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def _box_of(hole: NDArray[np.bool_]) -> tuple[slice, slice]:
    """The hole's box and some of its surroundings."""
    rows, columns = (np.flatnonzero(hole.any(axis=axis)) for axis in (1, 0))
    return tuple(  # type: ignore[return-value]
        slice(max(int(ends[0]) - _MARGIN, 0), int(ends[-1]) + 1 + _MARGIN) for ends in (rows, columns)
    )


def _outline(picture: Bytes, hole: NDArray[np.bool_]) -> Bytes:
    """The picture with a line around the hole."""
    inner = hole.copy()
    inner[1:-1, 1:-1] &= hole[2:, 1:-1] & hole[:-2, 1:-1] & hole[1:-1, 2:] & hole[1:-1, :-2]
    return np.where((hole & ~inner)[..., None], np.array(_OUTLINE, np.uint8), picture)
