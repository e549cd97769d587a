"""The words that settings take, as types: importable by all, without loading any library."""

from pathlib import Path
from typing import Literal, get_args

Quality = Literal["fast", "normal", "best"]
LookName = Literal["auto", "neutral", "camera"]
Highlights = Literal["reconstruct", "blend", "clip"]
NamedBalance = Literal["camera", "auto", "daylight", "cloudy", "shade", "tungsten", "fluorescent", "flash"]
White = Literal["auto", "metadata"] | float
Crop = Literal["camera", "visible"]
Space = Literal["srgb", "adobe", "prophoto", "rec2020", "p3", "camera"]
Subsampling = Literal["4:4:4", "4:2:2", "4:2:0"]
BadPixels = Path | Literal["auto", "off"] | None
Blemish = Literal["dust", "scratches"]

QUALITIES: tuple[str, ...] = get_args(Quality)
BALANCES: tuple[str, ...] = get_args(NamedBalance)
BLEMISHES: tuple[str, ...] = get_args(Blemish)
