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

# Measured on a 24-megapixel raw at normal quality.
BYTES_PER_PIXEL, BYTES_AT_REST = 65, 230e6

QUALITIES = tuple(_ENGINE)


def stage_costs(method: str, quality: str) -> dict[str, float]:
    """The stages of a conversion and what each costs."""
    completes = method in ("ntc", "group-mean")
    return {**_AROUND_THE_ENGINE, **(_ENGINE[quality] if completes else {method: _INTERPOLATION})}


def seconds(quality: str, pixels: int) -> float:
    """What a conversion takes on one core, about, to two digits."""
    return float(f"{sum(stage_costs('ntc', quality).values()) * pixels / 1e6:.2g}")
