"""How a raw is to look, as the page's controls say it: settings of a conversion, and the command's words.

Both are made from one `LookSettings`, so that the command that is shown makes the picture that is seen. The
controls are those settings of the recipe that have a label.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from demosaic_ntc.choices import BALANCES
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.raw.temperature import Temperature
from demosaic_ntc.recipe import Setting, Slider, build, settings_of

_BALANCE, _LIGHT = "wb", "light"  # the balance under a light, by its temperature and tint


def _controls(kind: type[Any]) -> dict[str, Setting]:
    """The settings that have a place on the page."""
    return {name: each for name, each in settings_of(kind).items() if each.label}


# Where the page begins with something else than the command: whoever paints mostly wants something gone.
_AT_FIRST = {"fill": "auto", "grow": 3}

_OF_RAWS, _OF_LIGHT = _controls(Settings), _controls(Temperature)


def _choices(control: Setting) -> tuple[str, ...]:
    """The words that a control offers."""
    return (*BALANCES, _LIGHT) if control.name == _BALANCE else control.words


def _default(control: Setting) -> Any:
    """What a control shows at first."""
    if control.name in _AT_FIRST:
        return _AT_FIRST[control.name]
    return _choices(control)[0] if control.default is None else control.default


def describe_controls() -> list[dict[str, Any]]:
    """What the page makes its controls from."""
    controls = {**_OF_RAWS, **_OF_LIGHT, **_controls(RepairSettings)}
    return [_describe_control(each) for each in controls.values()]


def _describe_control(control: Setting) -> dict[str, Any]:
    """A slider or a choice, in types that JSON has."""
    known = {
        "name": control.name,
        "label": control.label,
        "title": control.help,
        "value": _default(control),
        "light": control.name in _OF_LIGHT,  # shown where the balance is that of a light
    }
    slider = control.slider
    if not isinstance(slider, Slider):
        return {**known, "choices": _choices(control)}
    low = control.low if slider.low is None else slider.low
    high = control.high if slider.high is None else slider.high
    return {**known, "min": low, "max": high, "step": slider.step, "unit": slider.unit}


@dataclass(frozen=True, slots=True)
class LookSettings:
    """What the controls say, by the names of settings; `kelvin` and `tint` count where `wb` is `light`."""

    chosen: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "LookSettings":
        """What a request says; what makes no sense is refused."""
        controls = _OF_RAWS | _OF_LIGHT
        chosen = {name: value for name, value in plain.items() if name in controls}
        for name, value in chosen.items():
            if (name, value) != (_BALANCE, _LIGHT):
                replace(controls[name], default=_default(controls[name])).check_value(value)
        return cls(chosen)

    def settings(self, limits: InputLimits, bad_pixels: Path | None, *, half: bool) -> Settings:
        """The settings of a conversion, or of a quick preview, which shows all that can be marked."""
        also = {"bad_pixels": bad_pixels, "half": half, "crop": "visible" if half else None}
        return replace(build(Settings, {**self._values(), **also}), limits=limits)

    def _values(self) -> dict[str, Any]:
        """What is meant, by the names of settings."""
        values = {name: self.chosen.get(name, _default(control)) for name, control in _OF_RAWS.items()}
        light = build(Temperature, self.chosen)
        return {**values, _BALANCE: light} if values[_BALANCE] == _LIGHT else values

    def command(self, source: Path, target: Path, bad_pixels: Path | None) -> str:
        """The command that makes the same picture."""
        words = ["demosaic-ntc", "convert", str(source), str(target)]
        values = {**self._values(), "bad_pixels": bad_pixels}
        settings = settings_of(Settings)
        for name, value in values.items():
            if value is not None and value != settings[name].default:
                signed = settings[name].low < 0 and isinstance(value, int | float)
                words.append(f"{settings[name].option}={f'{value:+g}' if signed else value}")
        return " ".join(map(quote_word, words))

    def plain(self) -> dict[str, Any]:
        """What the controls show, in types that JSON has."""
        return {**{name: _default(each) for name, each in (_OF_RAWS | _OF_LIGHT).items()}, **self.chosen}


def quote_word(word: str) -> str:
    """A word for a shell, in which terminals find nothing to obey: control characters are spelled out."""
    if word.isprintable():
        return shlex.quote(word)
    spelled = (
        letter.replace("\\", "\\\\").replace("'", "\\'")
        if letter.isprintable()
        else "".join(f"\\{byte:03o}" for byte in os.fsencode(letter))
        for letter in word
    )
    return f"$'{''.join(spelled)}'"
