"""Methods chosen by their names."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from demosaic_ntc.errors import InputError

Method = TypeVar("Method")


def picked(known: Mapping[str, Method], names: Iterable[str]) -> list[Method]:
    """The methods with these names, each once."""
    wanted = list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(f"there is no method {unknown[0]}; choose from {', '.join(known)}")
    return [known[name] for name in wanted]
