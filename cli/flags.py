"""Settings as a person types them: the layers below name them in backticks, here they become options."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

#: Settings that messages name, each of them an option of some command.
SETTINGS = frozenset(
    (
        *("bad_pixels", "bits", "black", "cfa", "color_space", "compress", "detect", "exposure"),
        *("half", "height", "invert", "jobs", "linear", "look", "mask_color", "mask_from"),
        *("max_pixels", "memory", "method", "name", "noise", "output", "overwrite", "quality", "raw_bits"),
        *("report", "resize", "resume", "sensitivity", "threshold", "timeout", "wb", "white", "width"),
    )
)

_NAMED = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")


def replace_flags(text: str) -> str:
    """The text with `` `max_pixels` `` as ``--max-pixels`` and `` `wb=auto` `` as ``--wb auto``."""
    return _NAMED.sub(_flag, text)


def _flag(found: re.Match[str]) -> str:
    """A setting as an option; what only looks like one stays."""
    name, value = found.groups()
    if name not in SETTINGS:
        return found[0]
    return f"--{name.replace('_', '-')}" + (f" {value}" if value else "")


@contextmanager
def wrong_usage(*kinds: type[Exception]) -> Iterator[None]:
    """Take errors of some kinds for wrong usage of the command."""
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(replace_flags(str(error))) from error
