"""What the stages of a conversion or a repair cost, in CPU seconds per megapixel, on one core of a server.

Other machines differ by a factor; the shares of the stages hardly do, which is all that a progress bar needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from demosaic_ntc.imaging.cfa import Cfa

_AROUND_THE_ENGINE = {"decoding": 0.04, "rendering": 0.1, "writing": 0.1}

_FIRST_ESTIMATE = "first estimate"
_BAYER = {"fast": 1.5, "normal": 2.3, "best": 2.3}
_OTHER_ARRAYS = 4.2

_GROUPS = {"fast": 1.4, "normal": 5.1, "best": 21.0}
_OF_OTHER_ARRAYS = 1.7  # times as much: their groups show many patterns of samples
_INTERPOLATION = 1.0

#: The stages of a repair where a tenth of the pixels is missing.
REPAIR_COSTS = {"decoding": 0.05, "groups": 2.0, "writing": 0.1}

# Measured on a 24-megapixel raw at normal quality.
BYTES_PER_PIXEL, BYTES_AT_REST = 65, 230e6

QUALITIES = tuple(_GROUPS)


def stage_costs(method: str, quality: str, cfa: "Cfa | None" = None) -> dict[str, float]:
    """The stages of a conversion and what each costs; without an array, those of Bayer's."""
    if method not in ("ntc", "predict-only"):
        return {**_AROUND_THE_ENGINE, method: _INTERPOLATION}
    if cfa is None or cfa.is_bayer:
        return {**_AROUND_THE_ENGINE, _FIRST_ESTIMATE: _BAYER[quality], "groups": _GROUPS[quality]}
    groups = _GROUPS[quality] * _OF_OTHER_ARRAYS
    return {**_AROUND_THE_ENGINE, _FIRST_ESTIMATE: _OTHER_ARRAYS, "groups": groups}


def seconds(quality: str, pixels: int, cfa: "Cfa") -> float:
    """What a conversion takes on one core, about, to two digits."""
    return float(f"{sum(stage_costs('ntc', quality, cfa).values()) * pixels / 1e6:.2g}")
