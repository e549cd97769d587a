"""What the stages of a conversion or a repair cost, in CPU seconds per megapixel, on one core of a server.

Other machines differ by a factor; the shares of the stages hardly do, which is all that a progress bar needs.
"""

from pathlib import Path

from demosaic_ntc.choices import ArrayKind
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.io.formats import format_of
from demosaic_ntc.io.header import FileHeader

DECODING = "decoding"  # the stage in which a file is read, by libraries that damage may crash

# The engine's picture is rendered as it is written.
_AROUND_THE_ENGINE = {DECODING: 0.04, "writing": 0.25}
_AROUND_INTERPOLATION = {DECODING: 0.04, "rendering": 0.15, "writing": 0.1}

_FIRST_ESTIMATE = "first estimate"
_BAYER = {"fast": 1.2, "normal": 1.7, "best": 2.3}
_OTHER_ARRAYS = 4.2

_GROUPS = {"fast": 1.3, "normal": 4.6, "best": 19.0}
_OF_OTHER_ARRAYS = 1.7  # times as much: their groups show many patterns of samples
_COMPLETED = {"fast": 25.0, "normal": 60.0, "best": 150.0}  # groups of any array
_MERGED_GROUPS = {"fast": 3.0, "normal": 6.0, "best": 9.0}  # of all frames together
_ALIGNED = {"fast": 0.8, "normal": 1.6, "best": 2.4}  # of every frame
_NOISE = {"fast": 1.1, "normal": 2.2, "best": 8.0}  # of raws that need no demosaicing
_INTERPOLATION = 1.0
_SINGLE_TENSOR = 30.0

#: The stages of a repair where a tenth of the pixels is missing.
REPAIR_COSTS = {DECODING: 0.05, "groups": 2.0, "writing": 0.1}
_TEXTURE_COSTS = {"texture": 4.0}  # where wide holes are filled with it


def find_repair_costs(fill: str) -> dict[str, float]:
    """Return the costs of the stages of a repair by how wide holes are filled."""
    return REPAIR_COSTS if fill == "smooth" else {**REPAIR_COSTS, **_TEXTURE_COSTS}


# Measured on synthetic raws of 2, 6, 24 and 100 megapixels, two threads: the program itself, what tiles take
# until a picture has some, and what every pixel does.
_AT_REST, _PER_PIXEL = 230e6, 13
_OF_TILES, _LARGEST_TILES = 45, 4.5e6  # bytes per pixel, pixels

# Of the bytes of the pixels, what is left in a file; measured on photographs.
# A DNG has twice the bytes of its 8-bit preview beside it.
_LEFT = {
    "PNG": 0.8,
    "TIFF": 1.0,
    "JPEG": 0.35,
    "WebP": 0.3,
    "AVIF": 0.35,
    "JPEG XL": 0.15,
    "DNG": 2.35,
    "FITS": 1.0,
}

QUALITIES = tuple(_GROUPS)


def stage_costs(method: str, quality: str, array: ArrayKind = "bayer") -> dict[str, float]:
    """The stages of a conversion and what each costs."""
    if array == "mono":
        return {**_AROUND_THE_ENGINE, "groups": _NOISE[quality]}
    if method in ("ntc-tiled", "ntc-whole"):
        return {**_AROUND_THE_ENGINE, "completion": _SINGLE_TENSOR}
    if method not in ("gaussian", "ntc"):
        return {**_AROUND_INTERPOLATION, method: _INTERPOLATION}
    is_bayer = array == "bayer"
    groups = _GROUPS[quality] * (1.0 if is_bayer else _OF_OTHER_ARRAYS)
    groups = _COMPLETED[quality] if method == "ntc" else groups
    first = _BAYER[quality] if is_bayer else _OTHER_ARRAYS
    return {**_AROUND_THE_ENGINE, _FIRST_ESTIMATE: first, "groups": groups}


def estimate_costs(settings: Settings, source: FileHeader | None = None) -> dict[str, float]:
    """Estimate what the stages of converting a file cost, or any Bayer raw without one."""
    engine, cfa = settings.engine, settings.layout.cfa
    array = cfa.kind if cfa else source.array_kind if source else "bayer"
    return stage_costs(engine.method, engine.quality, array)


def estimate_results(settings: Settings, format: str) -> tuple[dict[str, float], float]:
    """Estimate what pictures of a format cost to make, and their bytes per pixel; refuse impossible ones."""
    target = Path(f"any.{format}")
    return estimate_costs(settings), bytes_per_pixel(format_of(target), settings.depth(target))


def merge_costs(quality: str, frames: int) -> dict[str, float]:
    """The stages of a merge of some frames and what each costs, per megapixel of the picture."""
    stages = stage_costs("gaussian", quality)
    if frames == 1:
        return stages
    merging = _MERGED_GROUPS[quality] + frames * _ALIGNED[quality]
    return {**stages, DECODING: frames * stages[DECODING], "merging": merging}


def bytes_per_pixel(kind: str, bits: int) -> float:
    """The bytes that a picture of a format and depth takes per pixel, about."""
    return 3 * bits / 8 * _LEFT[kind]


def memory(pixels: int) -> float:
    """The bytes that a conversion takes at its peak, about."""
    return _AT_REST + _OF_TILES * min(pixels, _LARGEST_TILES) + _PER_PIXEL * pixels


def seconds(method: str, quality: str, pixels: int, array: ArrayKind) -> float:
    """Roughly how many seconds a conversion takes on one core, to two digits."""
    return float(f"{sum(stage_costs(method, quality, array).values()) * pixels / 1e6:.2g}")
