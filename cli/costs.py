"""What the stages of a conversion or a repair cost, in CPU seconds per megapixel, on one core of a server.

Other machines differ by a factor; the shares of the stages hardly do, which is all that a progress bar needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from demosaic_ntc.imaging.cfa import Cfa

_AROUND_THE_ENGINE = {"decoding": 0.04, "rendering": 0.1, "writing": 0.1}

_FIRST_ESTIMATE = "first estimate"
_BAYER = {"fast": 2.1, "normal": 2.9, "best": 2.9}
_OTHER_ARRAYS = 7.3

_GROUPS = {
    "fast": {"matching": 0.7, "pass 1": 0.8},
    "normal": {"matching": 1.8, "pass 1": 0.8, "pass 2": 2.0},
    "best": {"matching": 5.3, "pass 1": 1.7, "pass 2": 16.4},
}
_INTERPOLATION = 1.0

#: The stages of a repair where a tenth of the pixels is missing.
REPAIR_COSTS = {"decoding": 0.05, "groups": 2.0, "writing": 0.1}

# Measured on a 24-megapixel raw at normal quality.
BYTES_PER_PIXEL, BYTES_AT_REST = 65, 230e6

QUALITIES = tuple(_GROUPS)


def stage_costs(method: str, quality: str, cfa: "Cfa | None" = None) -> dict[str, float]:
    """The stages of a conversion and what each costs; without an array, those of Bayer's."""
    if method not in ("ntc", "group-mean"):
        return {**_AROUND_THE_ENGINE, method: _INTERPOLATION}
    first = _BAYER[quality] if cfa is None or cfa.is_bayer else _OTHER_ARRAYS
    return {**_AROUND_THE_ENGINE, _FIRST_ESTIMATE: first, **_GROUPS[quality]}


def seconds(quality: str, pixels: int, cfa: "Cfa") -> float:
    """What a conversion takes on one core, about, to two digits."""
    return float(f"{sum(stage_costs('ntc', quality, cfa).values()) * pixels / 1e6:.2g}")
