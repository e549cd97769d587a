"""Decoded values as JSON and blocks of bytes, and back: what comes from a decoder is not trusted.

Values are rebuilt by the types that their receiver expects, field by field. An answer of any other form is
nonsense: no code is loaded and nothing is called because an answer says so, as a pickle could.
"""

import re
import struct
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

Block = bytes | NDArray[np.uint8]
Blocks = Sequence[NDArray[np.uint8]]

#: A short note of where a request or an answer lies in shared memory, and how long it is.
NOTE = struct.Struct("=QQ")

#: What a process that decodes pictures loads beyond what raws need.
PICTURES = ("pictures",)

_NUMBERS = re.compile(r"[<>=|][biuf][1248]")
_MOST_AXES = 4


class Nonsense(ValueError):
    """An answer that is not of the type that was asked for."""


def to_plain(value: Any, blocks: list[Block]) -> Any:
    """A value in types that JSON has; bytes and arrays are put aside as blocks."""
    match value:
        case bytes() | np.ndarray():
            return _put_aside(value, blocks)
        case Mapping():
            return {"pairs": [[to_plain(each, blocks) for each in pair] for pair in value.items()]}
        case tuple() | list():
            return [to_plain(each, blocks) for each in value]
        case _ if is_dataclass(value):
            held = {field.name: to_plain(getattr(value, field.name), blocks) for field in fields(value)}
            return {"kind": type(value).__name__, "fields": held}
        case _:
            return _plain_single(value)


def _plain_single(value: Any) -> Any:
    """A value that holds no others."""
    match value:
        case np.generic():
            return value.item()
        case Enum():
            return value.name
        case Fraction():
            return {"fraction": value.as_integer_ratio()}
        case datetime():
            return {"moment": value.isoformat()}
        case None | bool() | str() | int() | float():
            return value
    raise TypeError(f"a {type(value).__name__} is no decoded value")


def _put_aside(value: bytes | NDArray[Any], blocks: list[Block]) -> dict[str, Any]:
    """The number of a new block, and what it is."""
    if isinstance(value, bytes):
        blocks.append(value)
        return {"bytes": len(blocks) - 1}
    blocks.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    return {"array": len(blocks) - 1, "dtype": value.dtype.str, "shape": value.shape}


def from_plain(kind: Any, plain: Any, blocks: Blocks) -> Any:
    """The value of a type that an answer stands for; raises `Nonsense` where it is of another."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _of_union(kind, plain, blocks)
    if origin is Literal:
        return _require(plain, plain in get_args(kind))
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](kind, plain, blocks)
    if kind is bytes:
        return _block(_tagged(plain, "bytes"), blocks).tobytes()
    if isinstance(kind, type) and is_dataclass(kind):
        return _instance(kind, plain, blocks)
    return _single(kind, plain)


def _require(plain: Any, holds: bool) -> Any:
    if not holds:
        raise Nonsense(f"{str(plain)[:80]!r} was not asked for")
    return plain


def _single(kind: Any, plain: Any) -> Any:
    """A value of a type that holds no others."""
    if kind in (bool, int, str, type(None)):
        return _require(plain, type(plain) is kind)
    if kind is float:
        return _require(plain, type(plain) in (int, float))
    if kind is Fraction:
        top, bottom = _tagged(plain, "fraction")
        return Fraction(_number(top), _number(bottom))
    if kind is datetime:
        return datetime.fromisoformat(_tagged(plain, "moment"))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[_require(plain, isinstance(plain, str) and plain in kind.__members__)]
    raise TypeError(f"values of type {kind} are not decoded apart")


def _tagged(plain: Any, name: str) -> Any:
    _require(plain, isinstance(plain, dict) and name in plain)
    return plain[name]


def _number(plain: Any) -> int:
    return int(_require(plain, type(plain) is int))


def _block(number: Any, blocks: Blocks) -> NDArray[np.uint8]:
    _require(number, type(number) is int and 0 <= number < len(blocks))
    block: NDArray[np.uint8] = blocks[number]
    return block


def _of_union(kind: Any, plain: Any, blocks: Blocks) -> Any:
    """A value of the first type that it fits."""
    for each in get_args(kind):
        try:
            return from_plain(each, plain, blocks)
        except Nonsense:
            continue
    raise Nonsense(f"{str(plain)[:80]!r} is no {kind}")


def _sequence(kind: Any, plain: Any, blocks: Blocks) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    _require(plain, isinstance(plain, list))
    if origin is list or inner[-1] is Ellipsis:
        return origin(from_plain(inner[0], each, blocks) for each in plain)
    _require(plain, len(plain) == len(inner))
    return tuple(from_plain(one, each, blocks) for one, each in zip(inner, plain, strict=True))


def _mapping(kind: Any, plain: Any, blocks: Blocks) -> dict[Any, Any]:
    key, value = get_args(kind)
    pairs = _require(_tagged(plain, "pairs"), isinstance(plain["pairs"], list))
    for pair in pairs:
        _require(pair, isinstance(pair, list) and len(pair) == 2)
    return {from_plain(key, k, blocks): from_plain(value, v, blocks) for k, v in pairs}


def _array(kind: Any, plain: Any, blocks: Blocks) -> NDArray[Any]:
    """An array of numbers, of the type that is expected."""
    block, name, shape = (_tagged(plain, each) for each in ("array", "dtype", "shape"))
    _require(name, isinstance(name, str) and _NUMBERS.fullmatch(name) is not None)
    _require(shape, isinstance(shape, list) and len(shape) <= _MOST_AXES)
    dtype, (wanted,) = np.dtype(name), get_args(get_args(kind)[1]) or (Any,)
    _require(name, wanted is Any or np.issubdtype(dtype, wanted))
    content = _block(block, blocks)
    sides = tuple(_require(side, type(side) is int and side >= 0) for side in shape)
    _require(shape, prod(sides) * dtype.itemsize == content.size)
    return np.asarray(content.view(dtype).reshape(sides))


_hints = cache(get_type_hints)


def _instance(kind: Any, plain: Any, blocks: Blocks) -> Any:
    """A dataclass, each of its fields of the type that it states."""
    held, hints = _tagged(plain, "fields"), _hints(kind)
    _require(plain, plain.get("kind") == kind.__name__ and isinstance(held, dict))
    names = [field.name for field in fields(kind)]
    _require(sorted(held), sorted(held) == sorted(names))
    return kind(**{name: from_plain(hints[name], held[name], blocks) for name in names})


_CONTAINERS: dict[Any, Callable[[Any, Any, Blocks], Any]] = {
    np.ndarray: _array,
    tuple: _sequence,
    list: _sequence,
    dict: _mapping,
    Mapping: _mapping,
}
