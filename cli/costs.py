"""What the stages of a conversion cost, in CPU seconds per megapixel, measured on one core of a server.

Other machines differ by a factor; the shares of the stages hardly do, which is all that a progress bar needs.
"""

_AROUND_THE_ENGINE = {"decoding": 0.04, "rendering": 0.1, "writing": 0.1}

_ENGINE = {
    "fast": {"first estimate": 2.1, "matching": 0.7, "pass 1": 0.8},
    "normal": {"first estimate": 2.9, "matching": 1.8, "pass 1": 0.8, "pass 2": 2.0},
    "best": {"first estimate": 2.9, "matching": 5.3, "pass 1": 1.7, "pass 2": 16.4},
}
_INTERPOLATION = 1.0
_REPAIR = {
    "fast": {"pass 1": 3.0},
    "normal": {"pass 1": 6.0, "pass 2": 9.0},
    "best": {"pass 1": 10.0, "pass 2": 20.0, "pass 3": 30.0},
}

# Measured on a 24-megapixel raw at normal quality.
BYTES_PER_PIXEL, BYTES_AT_REST = 65, 230e6

QUALITIES = tuple(_ENGINE)


def stage_costs(method: str, quality: str) -> dict[str, float]:
    """The stages of a conversion and what each costs."""
    completes = method in ("ntc", "group-mean")
    return {**_AROUND_THE_ENGINE, **(_ENGINE[quality] if completes else {method: _INTERPOLATION})}


def repair_costs(method: str, quality: str) -> dict[str, float]:
    """The stages of a repair and what each costs where half of the pixels are missing."""
    passes = _REPAIR[quality] if method != "biharmonic" else {}
    return {"decoding": 0.05, "first estimate": 3.0, **passes, "writing": 0.05}


def seconds(quality: str, pixels: int) -> float:
    """What a conversion takes on one core, about, to two digits."""
    return float(f"{sum(stage_costs('ntc', quality).values()) * pixels / 1e6:.2g}")
