"""How a raw is to look, as the page's sliders say it: as settings of a conversion and as the command's words.

Both are made from one `LookSettings`, so that the command that is shown makes the picture that is seen.
"""

import shlex
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

from demosaic_ntc.developing.settings import Development, Engine, LookName, Settings
from demosaic_ntc.engine.checks import QUALITIES, Quality
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.raw.levels import BALANCES, Balance
from demosaic_ntc.raw.temperature import Temperature

_RANGES = {
    "exposure": (-10.0, 10.0),
    "contrast": (-100.0, 100.0),
    "saturation": (-100.0, 100.0),
    "kelvin": (1000.0, 50_000.0),
    "tint": (-200.0, 200.0),
}


@dataclass(frozen=True, slots=True)
class LookSettings:
    """What the sliders say; `kelvin` and `tint` count where the balance is `light`."""

    look: LookName = "auto"
    exposure: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    balance: str = "camera"
    kelvin: float = 5500.0
    tint: float = 0.0
    quality: Quality = "normal"

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "LookSettings":
        """What a request says; what makes no sense is refused."""
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in plain.items() if name in known}
        for name, (low, high) in _RANGES.items():
            value = given.get(name, low)
            if not isinstance(value, int | float) or not low <= value <= high:
                raise InputError(f"{name} is a number from {low:g} to {high:g}; choose another")
        for name, choices in _CHOICES.items():
            if given.get(name, choices[0]) not in choices:
                raise InputError(f"{name} is one of {', '.join(choices)}; choose one of them")
        return cls(**given)

    def settings(self, limits: InputLimits, bad_pixels: Path | None, *, half: bool) -> Settings:
        """The settings of a conversion, or of a quick preview, which shows all that can be marked."""
        how = Development(
            balance=self._balance(),
            look=self.look,
            exposure=self.exposure,
            contrast=self.contrast,
            saturation=self.saturation,
            bad_pixels=bad_pixels,
            crop="visible" if half else None,
        )
        return Settings(limits=limits, development=how, engine=Engine(quality=self.quality, half=half))

    def _balance(self) -> Balance:
        """The white balance that is meant."""
        if self.balance == "light":
            return Temperature(self.kelvin, self.tint)
        return self.balance  # type: ignore[return-value]  # one of BALANCES, as was checked

    def command(self, source: Path, target: Path, bad_pixels: Path | None) -> str:
        """The command that makes the same picture."""
        words = ["demosaic-ntc", "convert", str(source), str(target), "--look", self.look]
        balance = f"{self.kelvin:g}K,{self.tint:+g}" if self.balance == "light" else self.balance
        options = {
            "--quality": self.quality if self.quality != "normal" else "",
            "--exposure": f"{self.exposure:+g}" if self.exposure else "",
            "--contrast": f"{self.contrast:g}" if self.contrast else "",
            "--saturation": f"{self.saturation:g}" if self.saturation else "",
            "--wb": balance if balance != "camera" else "",
            "--bad-pixels": str(bad_pixels) if bad_pixels else "",
        }
        given = [f"{name}={value}" for name, value in options.items() if value]
        return shlex.join([*words, *given])

    def plain(self) -> dict[str, Any]:
        """The wish in types that JSON has."""
        return asdict(self)


_CHOICES: dict[str, tuple[str, ...]] = {
    "look": get_args(LookName),
    "balance": (*BALANCES, "light"),
    "quality": tuple(QUALITIES),
}
