"""Baselines, metrics, published experiments, the report; the product never imports it."""


def split_names(names: str | None) -> list[str]:
    """The parts of a comma-separated option, each once."""
    return list(dict.fromkeys(name.strip() for name in (names or "").split(",") if name.strip()))
