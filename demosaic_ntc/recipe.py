"""Settings that are described once, as fields of dataclasses: type, default, range, option, help and group.

Whatever takes or shows settings is made from their fields: the checks, the options of the command line, the
keywords of `develop`, the man page, the option tables of the docs and the controls of the studio.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from math import inf, isfinite
from numbers import Integral
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from demosaic_ntc.errors import InputError, as_number, check_choice

Kind = TypeVar("Kind")

_SETTING, _PART = "setting", "part"


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider of the studio: where it ends, unless where the setting does, and its steps."""

    low: float | None = None
    high: float | None = None
    step: float = 1.0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything known of a setting; name, type and default are those of its field."""

    help: str
    group: str
    name: str = ""  # of the option and the keyword, where that is not the field's
    low: float = -inf
    high: float = inf
    unit: str = ""
    what: str = ""  # what a value is called: "colour space", "a number of stops"
    wrong: str = ""  # what is said of a value out of range, with {} for it
    parse: Callable[[str], Any] | None = None  # its text on the command line
    check: Callable[[Any], None] | None = None  # of values that have no range
    metavar: str | None = None
    bare: str = ""  # its value where the option stands without one
    shown: str | bool = True  # the default as help shows it, where that is more than a value
    label: str = ""  # in the studio, if it has a place there
    slider: Slider | None = None
    kind: Any = None
    default: Any = None
    words: tuple[str, ...] = ()  # those of its type
    is_number: bool = False  # or may be one
    is_whole: bool = False

    @property
    def option(self) -> str:
        """Its name on the command line; what is on by default can be switched off."""
        name = self.name.replace("_", "-")
        return f"--no-{name}" if self.default is True else f"--{name}"

    def read(self, text: str) -> Any:
        """Its value from what stands on the command line, checked."""
        value = self.parse(text) if self.parse else self._read_number(text)
        self.check_value(value)
        return value

    def _read_number(self, text: str) -> str | float:
        """One of its words, or a finite number."""
        if text in self.words:
            return text
        what = self.what or ("a whole number" if self.is_whole else "a number")
        expected = f"{', '.join(self.words)} or {what}" if self.words else what
        (number, *more) = read_numbers(text, expected)
        if more or (self.is_whole and not number.is_integer()):
            raise InputError(f"{text!r} is not {expected}")
        return int(number) if self.is_whole else number

    def check_value(self, value: Any) -> None:
        """Raise unless a value makes sense."""
        if value is None and self.default is None:
            return
        if self.check is not None:
            self.check(value)
        elif self.is_number:
            fits = isinstance(value, Integral) or not self.is_whole
            in_range = fits and self.low <= as_number(value) <= self.high
            if not (value in self.words if isinstance(value, str) else in_range):
                shown = f"{value:g}" if isinstance(value, float) else value
                problem = self.wrong.format(shown) if self.wrong else f"{self.name} is {shown}"
                raise InputError(f"{problem}; give {self._range()}")
        elif self.words and (isinstance(value, str) or not self.parse):
            check_choice(self.what or self.name, value, self.words)

    def _range(self) -> str:
        ends = f"at least {self.low:g}" if self.high == inf else f"{self.low:g} to {self.high:g}"
        return ends + self.unit


@dataclass(frozen=True, slots=True)
class _Part:
    """Settings within settings."""

    kind: type[Any]
    only_with: str  # the setting without which there is no such part
    helps: Mapping[str, str | None]  # other help texts for some of them; None hides a setting


class CheckedSettings:
    """A dataclass of settings that are checked when it is made: each by its field, then all together."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Raise unless the values make sense."""
        for each in fields(self):  # type: ignore[arg-type]  # a dataclass
            if _SETTING in each.metadata:
                _describe(each).check_value(getattr(self, each.name))
        self.check_together()

    def check_together(self) -> None:
        """Raise where one setting excludes another."""


def setting(default: Any, help: str, group: str, **known: Any) -> Any:
    """A field of a dataclass that is a setting; what may be `known` of it are the fields of `Setting`."""
    return field(default=default, metadata={_SETTING: Setting(help, group, **known)})


def part(kind: type[Any], *, only_with: str = "", **helps: str | None) -> Any:
    """A field that holds other settings; `helps` replaces the help of some of them, or hides them by None.

    With `only_with`, the field stays None unless that setting is given.
    """
    metadata = {_PART: _Part(kind, only_with, helps)}
    return (
        field(default=None, metadata=metadata)
        if only_with
        else field(default_factory=kind, metadata=metadata)
    )


def settings_of(kind: type[Any]) -> dict[str, Setting]:
    """The settings of a dataclass and of its parts, by name, in the order of their fields."""
    found: dict[str, Setting] = {}
    for each in fields(kind):
        if _PART in each.metadata:
            inner: _Part = each.metadata[_PART]
            for name, known in settings_of(inner.kind).items():
                help = inner.helps.get(name, known.help)
                if help is not None:
                    default = None if name == inner.only_with else known.default
                    found[name] = replace(known, help=help, default=default)
        elif _SETTING in each.metadata:
            known = _describe(each)
            found[known.name] = known
    return found


def build(kind: type[Kind], chosen: Mapping[str, Any]) -> Kind:
    """The settings of a kind that some values stand for, by their names.

    Settings that are absent or None keep their defaults; names that are not settings are ignored.
    """
    given: dict[str, Any] = {}
    for each in fields(kind):  # type: ignore[arg-type]  # a dataclass
        inner: _Part | None = each.metadata.get(_PART)
        if inner is not None and (not inner.only_with or chosen.get(inner.only_with) is not None):
            given[each.name] = build(inner.kind, chosen)
        elif _SETTING in each.metadata and (value := chosen.get(_describe(each).name)) is not None:
            given[each.name] = value
    return kind(**given)


def read_numbers(text: str, what: str) -> tuple[float, ...]:
    """Numbers separated by commas."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{text!r} is not {what}") from None
    if not all(map(isfinite, numbers)):
        raise InputError(f"{text!r} is not {what}: numbers are finite")
    return numbers


@cache
def _describe(each: "Field[Any]") -> Setting:
    """The setting of a field."""
    known: Setting = each.metadata[_SETTING]
    members = tuple(_members(each.type))
    return replace(
        known,
        name=known.name or each.name,
        kind=each.type,
        default=None if each.default is MISSING else each.default,
        words=tuple(member for member in members if isinstance(member, str)),
        is_number=int in members or float in members,
        is_whole=int in members and float not in members,
    )


def _members(kind: Any) -> Iterator[Any]:
    """The types and words that a type consists of; a forward reference, a mere name, yields nothing."""
    if get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _members(each)
    elif get_origin(kind) is Literal:
        yield from get_args(kind)
    elif isinstance(kind, type):
        yield kind
