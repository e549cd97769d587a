"""Masks of missing pixels, drawn by seed: what breaks in pictures, in amounts that can be compared.

A mask is named by a specification, with True where a pixel is missing:

=====================  =====================================================================
``random:50``          half of the pixels, at random
``dead``               one percent of the pixels, at random
``lines``              dead rows and columns, one pixel wide
``strokes``            straight strokes of five pixels: scratches
``text``               lines of writing across the picture
``blocks:8``           squares of 8 pixels, such as lost packets leave
``irregular``          thick crossing strokes over a third of the picture
``irregular:FILE``     the mask in a file, white where pixels are missing, resized
``irregular-inv:FILE`` the same with black where pixels are missing
=====================  =====================================================================

Amounts are per area, so a larger picture is damaged as densely as a small one.
"""

from collections.abc import Callable
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from demosaic_ntc.arrays import Flags
from demosaic_ntc.errors import BadMask, InputError, border, words
from demosaic_ntc.io.header import InputLimits, open_regular, prefix_path

Shape = tuple[int, int]
Generator = np.random.Generator
Point = NDArray[np.float64]  # column, row

DEFAULT = "random:20,random:50,random:80,strokes,text,lines,dead,blocks:8,blocks:16,irregular"

_DEAD_PERCENT = "1"
_LINE_SHARE = 0.047  # of the rows, and of the columns
_BLOCK_SHARE = 0.045

_STROKES_PER_SIDE = 12 / 256  # longer ones in larger pictures
_STROKE_WIDTH = 5
_STROKE_STEP = 8  # pixels between two bends
_STROKE_BEND = 0.25  # radians, the deviation of one bend

_IRREGULAR_SHARE = 0.32
_IRREGULAR_WIDTHS = (6, 18)
_IRREGULAR_LENGTH = 96

_FONT_SIZE = 16
_LINE_SPACING = 32
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD_LENGTHS = (2, 9)

_HALF = 127  # what is lighter is white


def make_mask(spec: str, shape: Shape, seed: int) -> Flags:
    """The mask that a specification names: height × width flags, True where a pixel is missing."""
    kind, colon, detail = spec.partition(":")
    if kind not in KINDS or (detail and kind in _PLAIN):
        raise InputError(f"there is no mask {spec!r}; choose from {DEFAULT} or irregular:FILE")
    if colon and not detail:
        raise InputError(f"mask {spec!r} lacks what belongs behind the colon; add it, or leave the colon out")
    missing = KINDS[kind](detail, shape, np.random.default_rng(seed))
    if missing.all():
        raise BadMask(f"mask {spec!r} leaves no pixel of {shape[1]}×{shape[0]}; take a larger crop")
    return missing


def check_mask(spec: str) -> None:
    """Raise if a specification names no mask, before anything is computed."""
    make_mask(spec, (64, 64), 0)


def _random(percent: str, shape: Shape, generator: Generator) -> Flags:
    """Exactly this share of the pixels, no two at the same place."""
    share, size = _number(percent, "random", 1, 99) / 100, shape[0] * shape[1]
    missing = np.zeros(size, dtype=np.bool_)
    missing[generator.permutation(size)[: round(share * size)]] = True
    return missing.reshape(shape)


def _lines(_detail: str, shape: Shape, generator: Generator) -> Flags:
    """Rows and columns of a sensor that answer nothing."""
    missing = np.zeros(shape, dtype=np.bool_)
    rows, columns = (generator.permutation(side)[: round(_LINE_SHARE * side)] for side in shape)
    missing[rows] = True
    missing[:, columns] = True
    return missing


def _blocks(side: str, shape: Shape, generator: Generator) -> Flags:
    """Squares at random places; they may overlap."""
    size = _number(side, "blocks", 1, 256)
    missing = np.zeros(shape, dtype=np.bool_)
    for _ in range(max(1, round(_BLOCK_SHARE * shape[0] * shape[1] / size**2))):
        top, left = (int(generator.integers(0, max(1, extent - size + 1))) for extent in shape)
        missing[top : top + size, left : left + size] = True
    return missing


def _strokes(_detail: str, shape: Shape, generator: Generator) -> Flags:
    """Straight strokes between random places: every pixel that a round pen touches."""
    missing = np.zeros(shape, dtype=np.bool_)
    for _ in range(max(1, round(_STROKES_PER_SIDE * sqrt(shape[0] * shape[1])))):
        first, last = generator.integers(0, (shape[1], shape[0]), (2, 2)).astype(float)
        missing |= _distances(first, last, shape) < (_STROKE_WIDTH + 1) / 2
    return missing


def _distances(first: Point, last: Point, shape: Shape) -> NDArray[np.float64]:
    """How far every pixel is from the nearest point of a straight stretch."""
    along = last - first
    offsets = np.stack(np.meshgrid(*(np.arange(side) for side in shape[::-1])), axis=-1) - first
    share = np.clip(offsets @ along / max(float(along @ along), 1.0), 0.0, 1.0)
    return np.asarray(np.linalg.norm(offsets - share[..., None] * along, axis=-1))


def _irregular(path: str, shape: Shape, generator: Generator) -> Flags:
    """The mask of a file, or thick strokes until a third of the pixels is covered."""
    if path:
        return _read_mask(path, shape)
    canvas, pen = _canvas(shape)
    while _find_drawn(canvas).mean() < _IRREGULAR_SHARE:
        width = int(generator.integers(*_IRREGULAR_WIDTHS, endpoint=True))
        _draw_stroke(pen, shape, width, _IRREGULAR_LENGTH, generator)
    return _find_drawn(canvas)


def _irregular_inverted(path: str, shape: Shape, _generator: Generator) -> Flags:
    """The mask of a file that is black where pixels are missing."""
    if not path:
        raise InputError("irregular-inv needs a file; give irregular-inv:FILE")
    return ~_read_mask(path, shape)


def _text(_detail: str, shape: Shape, generator: Generator) -> Flags:
    """Lines of words that mean nothing, from edge to edge."""
    canvas, pen = _canvas(shape)
    pen.fontmode = "1"  # no soft edges: a pixel is missing or it is not
    font = ImageFont.load_default(size=_FONT_SIZE)
    for top in range(0, shape[0], _LINE_SPACING):
        words = " ".join(_word(generator) for _ in range(1 + shape[1] // _FONT_SIZE))
        pen.text((0, top), words, fill=1, font=font)
    return _find_drawn(canvas)


def _word(generator: Generator) -> str:
    """Random letters, one of them large now and then."""
    letters = generator.choice(list(_LETTERS), size=int(generator.integers(*_WORD_LENGTHS)))
    word = "".join(letters)
    return word.capitalize() if generator.random() < 0.2 else word


def _canvas(shape: Shape) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty picture of one bit, and what draws on it."""
    canvas = Image.new("1", (shape[1], shape[0]))
    return canvas, ImageDraw.Draw(canvas)


def _find_drawn(canvas: Image.Image) -> Flags:
    """Where something was drawn; bits straight from Pillow are bytes of 255, which are no booleans."""
    return np.asarray(canvas.convert("L")) > 0


def _draw_stroke(
    pen: ImageDraw.ImageDraw, shape: Shape, width: int, length: int, generator: Generator
) -> None:
    """A stroke from a random place in a random direction, which it changes gently."""
    y, x = (float(generator.uniform(0, side)) for side in shape)
    direction, radius = float(generator.uniform(0, 2 * pi)), (width - 1) / 2
    for _ in range(length // _STROKE_STEP):
        ahead = (x + _STROKE_STEP * cos(direction), y + _STROKE_STEP * sin(direction))
        pen.line(((x, y), ahead), fill=1, width=width)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=1)
        (x, y), direction = ahead, direction + _STROKE_BEND * float(generator.standard_normal())
        if not (0 <= y < shape[0] and 0 <= x < shape[1]):
            direction += pi / 2


def _read_mask(path: str, shape: Shape) -> Flags:
    """A picture with two levels, in the size asked for, its nearest pixels taken."""
    with (
        prefix_path(Path(path)),
        open_regular(Path(path), InputLimits()) as file,
        border(lambda e: BadMask(f"is not a mask that can be read ({words(e)}); give PNG, BMP or TIFF")),
        Image.open(file, formats=("PNG", "BMP", "TIFF")) as image,
    ):
        resized = image.convert("L").resize((shape[1], shape[0]), Image.Resampling.NEAREST)
    return np.array(resized) > _HALF


def _number(text: str, kind: str, least: int, most: int) -> int:
    """A whole number between bounds."""
    if not text.isdigit() or not least <= int(text) <= most:
        raise InputError(f"{kind}:{text} is not a mask; give a number from {least} to {most} after the colon")
    return int(text)


#: Kinds of masks: functions of what stands behind the colon, of the shape and of a generator.
KINDS: dict[str, Callable[[str, Shape, Generator], Flags]] = {
    "random": _random,
    "dead": lambda _, shape, generator: _random(_DEAD_PERCENT, shape, generator),
    "lines": _lines,
    "strokes": _strokes,
    "text": _text,
    "blocks": _blocks,
    "irregular": _irregular,
    "irregular-inv": _irregular_inverted,
}
_PLAIN = ("strokes", "text", "lines", "dead")  # kinds of which there is only one
