"""Options made from settings: their names, types, ranges, defaults and help are those of the recipe."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any

import typer

from demosaic_ntc.errors import InputError
from demosaic_ntc.recipe import Setting, settings_of

from ..failures import wrong_usage

# What help lists first; the options of a group stay in the order of their settings.
_GROUPS = ("Mask", "Merging", "Input", "Output", "Raw development", "Engine", "Running")
_METAVARS = {True: "N", False: "X"}  # of whole numbers, and of others


@dataclass(frozen=True)
class BareOption:
    """An option that may stand without a word: what it means then, and its words."""

    meaning: str
    words: tuple[str, ...]


BARE_OPTIONS: dict[str, BareOption] = {}


def options_of(kind: type[Any], *names: str, **also: str) -> list[Parameter]:
    """The options of a kind of settings, or of some of them, with a further name for those in `also`."""
    settings = settings_of(kind)
    chosen = [settings[name] for name in names or settings]
    chosen.sort(key=lambda each: _GROUPS.index(each.group))
    return [_make_option(each, *filter(None, [also.get(each.name)])) for each in chosen]


def _make_option(setting: Setting, *also: str) -> Parameter:
    """A parameter of a command, as Typer reads it."""
    is_read = bool(setting.parse) or setting.is_number
    is_on = setting.kind is bool and setting.default is True
    if setting.bare:
        BARE_OPTIONS[setting.option] = BareOption(setting.bare, setting.words)
    option = typer.Option(
        f" /{setting.option}" if is_on else setting.option,
        *also,
        parser=_make_parser(setting) if is_read else None,
        metavar=setting.metavar or (_METAVARS[setting.is_whole] if setting.is_number else None),
        help=setting.help,
        show_default=setting.shown,
        rich_help_panel=setting.group,
    )
    default = _write_default(setting) if is_read else setting.default
    text = str if default is not None else str | None
    kind = text if is_read or setting.kind is Any else setting.kind
    return Parameter(
        setting.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[kind, option]
    )


def _make_parser(setting: Setting) -> Callable[[str], Any]:
    """What reads the text of an option."""

    def read(text: str) -> Any:
        with wrong_usage(InputError):
            return setting.read(text)

    return read


def _write_default(setting: Setting) -> str | None:
    """The default of a setting whose text is read."""
    default = setting.default
    if default is None or default is False:
        return None
    return f"{default:g}" if isinstance(default, float) else str(default)
