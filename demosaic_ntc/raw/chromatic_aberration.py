"""Lateral chromatic aberration of a photo, found and corrected in its samples."""

from dataclasses import replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.dead_samples import fill_dead_samples
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.detection.chromatic_aberration import FindOffsets, Fringes, MovedRows, find_fringes
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.photo import UNBALANCED, Mosaic, Multipliers, RawPhoto
from demosaic_ntc.raw.saturation import saturation
from demosaic_ntc.run import do_threads


def correct_photo_fringes(photo: RawPhoto, missing: Flags | None = None, threads: int = 1) -> RawPhoto:
    """The photo with red and blue drawn as large as green, and a notice of how far off they were.

    Samples that are missing count for nothing.
    """
    if photo.cfa is None or not photo.cfa.is_bayer:
        return _add_notice(photo, "colour fringes are looked for in Bayer arrays only")
    moved, found = align_samples(photo, missing, threads=threads)
    if not found.any:
        return _add_notice(photo, "no colour fringes were found")
    shares = f"red was {found.red:+.2%} and blue {found.blue:+.2%} larger than green"
    return _add_notice(moved, f"chromatic aberration was corrected: {shares}")


def align_samples(
    photo: RawPhoto, missing: Flags | None, stated: FindOffsets | None = None, threads: int = 1
) -> tuple[RawPhoto, Fringes]:
    """A Bayer photo with red and blue where green is, and how far off they were beyond what is stated."""
    assert photo.cfa is not None
    light = _read_light(photo)
    if missing is not None and missing.any():
        light = fill_dead_samples(light, missing, photo.cfa, threads)
    found = find_fringes(light.whole(), photo.cfa, stated, threads)
    if not found.any:
        return photo, found
    return replace(photo, mosaic=_move_samples(photo, photo.cfa, _encode(light), found, threads)), found


def _move_samples(photo: RawPhoto, cfa: Cfa, codes: MosaicSamples, found: Fringes, threads: int) -> Mosaic:
    """The samples of a photo with red and blue where green is, band by band."""
    mosaic = photo.mosaic.copy()
    moved = MovedRows.of(
        lambda rows: codes.window(rows, slice(None)), photo.size, cfa, found, _find_tops(photo)
    )

    def store(band: slice) -> None:
        for place, samples in moved.move(band):
            gain, black = _levels(photo, band, place)
            stored = np.rint(SRGB_CURVE.decode(samples) / gain + black)  # type: ignore[arg-type]
            mosaic[band][place] = np.clip(stored, 0, np.iinfo(np.uint16).max)

    do_threads(store, moved.bands, threads)
    return mosaic


def _read_light(photo: RawPhoto) -> MosaicSamples:
    """The samples of a photo as light, white 1, that is about balanced."""
    sites, gains, made = photo.sites, _gains(photo), dict[tuple[float, float], Float32]()
    tables = dict[tuple[int, int], Float32]()
    for y, x in np.ndindex(sites.period):
        level = float(sites.black[y, x]), gains[sites.channels[y, x]]
        if level not in made:
            made[level] = ((np.arange(1 << 16) - level[0]) * level[1]).astype(np.float32)
        tables[y, x] = made[level]
    return MosaicSamples(photo.mosaic, tables, sites.period)


def _encode(light: MosaicSamples) -> MosaicSamples:
    """Samples under the sRGB curve."""
    made = {id(table): _encode_values(table) for table in light.tables.values()}
    tables = {site: made[id(table)] for site, table in light.tables.items()}
    places, values = light.mended
    return replace(light, tables=tables, mended=(places, _encode_values(values)))


def _find_tops(photo: RawPhoto) -> tuple[float, ...]:
    """Where red, green and blue saturate, under the curve."""
    tops = (np.array(saturation(photo)) - photo.blacks) * np.array(_gains(photo)[:3])
    return tuple(SRGB_CURVE.encode(tops).tolist())


def _encode_values(light: Float32) -> Float32:
    """Light under the sRGB curve."""
    return np.asarray(SRGB_CURVE.encode(light), np.float32)  # type: ignore[arg-type]


def _add_notice(photo: RawPhoto, notice: str) -> RawPhoto:
    """The photo with one more thing to be told of it."""
    return replace(photo, notices=(*photo.notices, notice))


def _gains(photo: RawPhoto) -> Multipliers:
    """What makes samples light, white 1, that is about balanced."""
    balance = photo.camera_balance or photo.daylight_balance or UNBALANCED
    return tuple(each / (balance[1] * photo.span) for each in balance)  # type: ignore[return-value]


def _levels(photo: RawPhoto, band: slice, place: tuple[slice, slice]) -> tuple[Float32, Float32]:
    """The gain and the black level of every sample at a place in a band of rows."""
    sites, width = photo.sites, photo.size[1]
    rows, columns = np.arange(band.start, band.stop)[place[0]], np.arange(width)[place[1]]
    here = np.ix_(rows % sites.period[0], columns % sites.period[1])
    gains = np.asarray(_gains(photo), np.float32)[sites.channels]
    return gains[here], sites.black.astype(np.float32)[here]
