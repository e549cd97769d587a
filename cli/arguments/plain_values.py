"""Values that are what they are to be already: taken as they are.

Newer versions of Typer have every value of every option examined by a library of data models, which takes
longer to load than the program itself. Most values are defaults, plain words or paths, with nothing to
examine. Whatever is left is Typer's, and with versions that have no such step nothing is changed.
"""

from collections.abc import Iterable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

_CONDITIONS = ("exists", "writable", "readable", "resolve_path", "path_type", "allow_dash")


def take_plain_values(parameters: Iterable[Any]) -> None:
    """Have the parameters of a command examine no more than they must."""
    for parameter in parameters:
        if hasattr(parameter, "type_descriptor") and getattr(parameter, "_runtime_param", 0) is None:
            parameter._runtime_param = _PlainFirst()


class _PlainFirst:
    """Stands in for what would examine a parameter's values, until there is one to examine."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as the parameter's type has it; raises where Typer would."""
        is_many = param.multiple or param.nargs == -1
        if value is None:
            return () if is_many else None
        kind, notes = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if notes.parser is None and is_plain(value, kind, notes):
            return _convert_value(value, kind)
        if notes.parser is not None and get_origin(kind) is None:
            with suppress(Exception):  # then Typer reads it, fails in the same way and says so
                return notes.parser(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def is_plain(value: Any, kind: Any, notes: Any) -> bool:
    """Tell whether there is nothing to examine in a value of some kind, by what is noted of its parameter."""
    if get_origin(kind) is list and isinstance(value, list | tuple):
        return all(is_plain(each, get_args(kind)[0], notes) for each in value)
    if get_origin(kind) is Literal:
        return any(value is each or (type(value) is str and value == each) for each in get_args(kind))
    if kind is Path:
        return isinstance(value, str | Path) and _takes_any_path(notes)
    if type(value) is not kind:
        return False
    if kind in (int, float):
        return bool((notes.min is None or notes.min <= value) and (notes.max is None or value <= notes.max))
    return kind is str or issubclass(kind, Enum)


def _takes_any_path(notes: Any) -> bool:
    """Tell whether a path need not be looked for."""
    asked = any(getattr(notes, name, None) for name in _CONDITIONS)
    return not asked and notes.file_okay and notes.dir_okay


def _convert_value(value: Any, kind: Any) -> Any:
    """Return a plain value as what it is to be."""
    if get_origin(kind) is list:
        return [_convert_value(each, get_args(kind)[0]) for each in value]
    return Path(value) if kind is Path else value
