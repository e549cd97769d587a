"""Settings as a person types them: the layers below name them in backticks, here they become options."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.recipe import settings_of

#: The options of settings that messages name; those of a batch are called as it calls them.
SETTINGS = {
    **{name: f"--{name}" for name in ("jobs", "memory", "name", "output", "report", "resume", "timeout")},
    **{name: each.option for kind in (Settings, RepairSettings) for name, each in settings_of(kind).items()},
}

_NAMED = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")


def replace_flags(text: str) -> str:
    """The text with `` `max_pixels` `` as ``--max-pixels`` and `` `wb=auto` `` as ``--wb auto``."""
    return _NAMED.sub(_flag, text)


def _flag(found: re.Match[str]) -> str:
    """A setting as an option; what only looks like one stays."""
    name, value = found.groups()
    if name not in SETTINGS:
        return found[0]
    return SETTINGS[name] + (f" {value}" if value else "")


@contextmanager
def wrong_usage(*kinds: type[Exception]) -> Iterator[None]:
    """Take errors of some kinds for wrong usage of the command."""
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(replace_flags(str(error))) from error
