"""Options made from settings: their names, types, ranges, defaults and help are those of the recipe."""

from collections.abc import Callable
from inspect import Parameter
from math import isfinite
from typing import Annotated, Any

import typer

from demosaic_ntc.errors import InputError
from demosaic_ntc.recipe import Setting, settings_of

from ..flags import wrong_usage

# What help lists first; the options of a group stay in the order of their settings.
_GROUPS = ("Mask", "Input", "Output", "Raw development", "Engine", "Running")


def options_of(kind: type[Any], *names: str, **also: str) -> list[Parameter]:
    """The options of a kind of settings, or of some of them, with a further name for those in `also`."""
    settings = settings_of(kind)
    chosen = [settings[name] for name in names or settings]
    chosen.sort(key=lambda each: _GROUPS.index(each.group))
    return [_make_option(each, *filter(None, [also.get(each.name)])) for each in chosen]


def _make_option(setting: Setting, *also: str) -> Parameter:
    """A parameter of a command, as Typer reads it."""
    is_read = bool(setting.parse) or (setting.is_number and bool(setting.words))
    is_switch = setting.kind is bool and not is_read
    ends: dict[str, Any] = {} if is_read or not setting.is_number else _ends(setting)
    option = typer.Option(
        f" /{setting.option}" if is_switch and setting.default else setting.option,
        *also,
        parser=_make_parser(setting) if is_read else None,
        metavar=setting.metavar,
        help=setting.help,
        show_default=setting.shown,
        rich_help_panel=setting.group,
        **ends,
    )
    default = _write_default(setting) if is_read else setting.default
    kind = (
        setting.kind
        if not is_read and setting.kind is not Any
        else str
        if default is not None
        else str | None
    )
    return Parameter(
        setting.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[kind, option]
    )


def _ends(setting: Setting) -> dict[str, Any]:
    """The range of a number, as far as it has ends."""
    return {name: end for name, end in (("min", setting.low), ("max", setting.high)) if isfinite(end)}


def _make_parser(setting: Setting) -> Callable[[str], Any]:
    """What reads the text of an option."""

    def read(text: str) -> Any:
        with wrong_usage(InputError):
            return setting.read(text)

    return read


def _write_default(setting: Setting) -> str | None:
    """The default of a setting whose text is read."""
    default = setting.default
    return (
        None
        if default is None or default is False
        else default
        if isinstance(default, str)
        else f"{default:g}"
    )
