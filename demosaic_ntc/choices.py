"""The words that settings take, as types: importable by all, without loading any library."""

from pathlib import Path
from typing import Literal, get_args

Quality = Literal["fast", "normal", "best"]
LookName = Literal["auto", "neutral", "camera"]
Highlights = Literal["reconstruct", "blend", "clip"]
NamedBalance = Literal["camera", "auto", "daylight", "cloudy", "shade", "tungsten", "fluorescent", "flash"]
White = Literal["auto", "metadata"] | float
Compression = Literal["jpeg", "jxl"]
Crop = Literal["camera", "visible"]
Space = Literal["srgb", "adobe", "prophoto", "rec2020", "p3", "camera"]
Subsampling = Literal["4:4:4", "4:2:2", "4:2:0"]
LensPart = Literal["distortion", "vignetting", "ca"]
Lens = Literal["auto", "off"] | tuple[LensPart, ...]
BadPixels = Path | Literal["auto", "off"] | None
ArrayKind = Literal["bayer", "mono", "other"]  # of colour arrays, as costs tell them apart
Banding = Literal["auto", "off"]
Blemish = Literal["dust", "scratches"]
GrainChoice = Literal["auto", "off"]
MotionKind = Literal["auto", "none", "pixel-shift"]
Ghosts = Literal["normal", "strict", "off"]
Fill = Literal["smooth", "texture", "auto"]

QUALITIES: tuple[str, ...] = get_args(Quality)
BALANCES: tuple[str, ...] = get_args(NamedBalance)
LENS_PARTS: tuple[LensPart, ...] = get_args(LensPart)
BLEMISHES: tuple[str, ...] = get_args(Blemish)
GRAINS: tuple[str, ...] = get_args(GrainChoice)
FILLS: tuple[str, ...] = get_args(Fill)
