"""Baselines, metrics, published experiments, the report; the product never imports it."""

from contextlib import suppress

from demosaic_ntc.errors import InputError


def split_names(names: str | None) -> list[str]:
    """The parts of a comma-separated option, each once."""
    return list(dict.fromkeys(name.strip() for name in (names or "").split(",") if name.strip()))


def read_numbers(text: str, least: float, most: float, otherwise: str) -> list[float]:
    """The numbers of a comma-separated option, each from least to most; `otherwise` ends what is said."""
    with suppress(ValueError):
        numbers = [float(name) for name in split_names(text)]
        if all(least <= number <= most for number in numbers):
            return numbers
    raise InputError(f"{text!r} {otherwise}")
