"""What says which pixels of a picture are to be repaired: rules for masks, and what is looked for."""

import re
from dataclasses import dataclass

from demosaic_ntc.choices import BLEMISHES
from demosaic_ntc.errors import InputError, check_choice
from demosaic_ntc.recipe import CheckedSettings, Slider, setting

Colour = tuple[int, int, int]

MOST_GROWN = 100  # pixels that a mask may be widened by

ALPHA, INFRARED = ORIGINS = ("alpha", "ir")  # channels of a picture that may be its mask

_GROUP = "Mask"


def parse_colour(text: str) -> Colour:
    """Read a colour such as ``#ff00ff``."""
    if not re.fullmatch("#?[0-9a-fA-F]{6}", text):
        raise InputError(f"{text!r} is not a colour; give one such as '#ff00ff'")
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue


def parse_origin(text: str) -> str:
    """Which channel of a picture is the mask."""
    check_choice("mask", text, ORIGINS)
    return text


def parse_kinds(text: str) -> tuple[str, ...]:
    """Kinds of blemishes, separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class MaskRule(CheckedSettings):
    """How a mask is understood."""

    invert: bool = setting(False, "Repair what is black.", _GROUP)
    threshold: float | None = setting(
        None,
        "Repair pixels whose mask is at least this bright (0 to 1); needed for masks with greys.",
        _GROUP,
        low=0,
        high=1,
        wrong="a threshold of {} is not a share of white",
        metavar="SHARE",
    )
    colour: Colour | None = setting(
        None,
        "Repair what has exactly this colour, such as '#ff00ff', painted into the picture.",
        _GROUP,
        name="mask_color",
        parse=parse_colour,
        metavar="COLOUR",
    )
    origin: str | None = setting(
        None,
        "Repair what is transparent, in MASK or without one in the picture itself (alpha), or what is dark "
        "in the infrared channel of scanned film, in addition to any mask (ir).",
        _GROUP,
        name="mask_from",
        parse=parse_origin,
        metavar="alpha|ir",
        shown=False,
    )

    def check_together(self) -> None:
        """Refuse rules that exclude each other."""
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise InputError(
                f"a threshold of {self.threshold:g} is not a share of white; give one from 0 to 1"
            )
        if self.colour is not None and (self.invert or self.threshold is not None):
            raise InputError("a painted colour is not a mask; give `invert` and `threshold` with a mask only")
        if self.colour is not None and self.origin is not None:
            raise InputError(
                "a painted colour is not transparent, nor dark in infrared; "
                f"give `mask_color` or `mask_from={self.origin}`"
            )

    @property
    def alpha(self) -> bool:
        """Whether transparency is the mask."""
        return self.origin == ALPHA

    @property
    def infrared(self) -> bool:
        """Whether the infrared channel of a scan shows what to repair."""
        return self.origin == INFRARED

    @property
    def is_in_colours(self) -> bool:
        """Whether the picture itself is marked: by a colour, or by transparency."""
        return self.colour is not None or self.alpha

    @property
    def needs_file(self) -> bool:
        """Whether only a mask in a file can tell what to repair."""
        return self.colour is None and self.origin is None


@dataclass(frozen=True, slots=True)
class Detection(CheckedSettings):
    """What is looked for, and how readily it is believed."""

    kinds: tuple[str, ...] = setting(
        BLEMISHES,
        "Find and repair dust, scratches (including hairs) or 'dust,scratches', in addition to any mask.",
        _GROUP,
        name="detect",
        parse=parse_kinds,
        metavar="KINDS",
        shown=False,
    )
    sensitivity: float = setting(
        0.5,
        "Sensitivity of --detect: higher values find more damage, and more false alarms.",
        _GROUP,
        low=0,
        high=1,
        wrong="{} is not a sensitivity",
        metavar="0..1",
        label="Sensitivity",
        slider=Slider(step=0.05),
    )

    def check_together(self) -> None:
        """Check the kinds, and give them an order."""
        kinds = (self.kinds,) if isinstance(self.kinds, str) else self.kinds
        for kind in kinds:
            check_choice("kind of blemish", kind, BLEMISHES)
        if not kinds:
            raise InputError(f"nothing to look for; give one of {', '.join(BLEMISHES)}")
        object.__setattr__(self, "kinds", tuple(kind for kind in BLEMISHES if kind in kinds))
