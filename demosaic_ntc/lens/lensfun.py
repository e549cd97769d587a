"""Profiles of lenses from the database of lensfun, an optional library: found by names, never by likeness.

A camera or lens is taken only where its name is the one in the database but for case, blanks and the maker's
name before it, or where the camera has but one lens: a wrong profile is worse than none.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.choices import LensPart
from demosaic_ntc.errors import InputError, damage_explained
from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.pixel_opcodes import GainMap
from demosaic_ntc.raw.opcodes.warps import Places
from demosaic_ntc.raw.photo import RawPhoto

_POINTS = 65  # rows and columns of the map of gains
_STEP = 8  # pixels between the places at which sources are known
_FAR = 1000.0  # metres: how far the scene is, which no file states reliably
_SIMILAR = 3  # names that are told where none fits


@dataclass(frozen=True, slots=True, eq=False)
class ProfileWarp:
    """Where the light of pixels comes from, at places a few pixels apart."""

    name: ClassVar[str] = "lensfun's distortion and lateral colour"
    sources: Float64  # (3, 2, down, across): rows and columns of the image, whose first pixel is 0 to 1

    def find_sources(self, places: Places, size: tuple[int, int], plane: int) -> Places:
        """Where the light of places in the image comes from."""
        del size
        grid = self.sources[plane]
        v, u = ((place - 0.5) / _STEP for place in places)
        top, left = (
            np.clip(each.astype(np.intp), 0, count - 2)
            for each, count in zip((v, u), grid.shape[1:], strict=True)
        )
        v, u = v - top, u - left
        above = grid[:, top, left] * (1 - u) + grid[:, top, left + 1] * u
        below = grid[:, top + 1, left] * (1 - u) + grid[:, top + 1, left + 1] * u
        y, x = above * (1 - v) + below * v
        return y, x


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What is corrected by a profile, and how it was found."""

    camera: str
    lens: str
    certainty: str
    warp: ProfileWarp | None = None
    gains: GainMap | None = None

    @property
    def description(self) -> str:
        """Its name and how sure it is."""
        return f"{self.lens} on {self.camera} ({self.certainty})"


def find_profile(photo: RawPhoto, wanted: str, parts: frozenset[LensPart] = frozenset()) -> Profile:
    """The profile of a photo's lens: by its EXIF (``auto``) or by a name, for the parts that are wanted."""
    with damage_explained("lens profile"):
        camera = _find_camera(photo.exif.camera)
        lens, certainty = _find_lens(camera, photo.exif.facts.get("lens", ""), wanted)
        named = Profile(_full_name(camera), _full_name(lens), certainty)
        if not parts:
            return named
        warp = _warp(photo, camera, lens, parts) if parts & {"distortion", "ca"} else None
        gains = _gains(photo, camera, lens) if "vignetting" in parts else None
        return Profile(named.camera, named.lens, certainty, warp, gains)


@cache
def _database() -> Any:
    """The database that comes with the library."""
    try:
        import lensfunpy  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise InputError("lens profiles need lensfunpy; pip install 'demosaic-ntc[lens]'") from error
    return lensfunpy.Database(load_common=False)


def _find_camera(name: str) -> Any:
    """The camera of this name."""
    key = _key(name)
    for camera in _database().cameras:
        if key and key in (_key(camera.model), _key(f"{camera.maker} {camera.model}")):
            return camera
    said = f"the camera {name} is not in lensfun's database" if name else "the file names no camera"
    raise InputError(f"{said}; leave out `lens_profile`")


def _find_lens(camera: Any, stated: str, wanted: str) -> tuple[Any, str]:
    """The lens of the name that is wanted or else stated, and how sure that is."""
    fitting = _database().find_lenses(camera, None, None)
    name = stated if wanted == "auto" else wanted
    if name:
        found = [lens for lens in fitting if _lens_key(lens.maker, name) == _lens_key(lens.maker, lens.model)]
        certainty = "by its name in EXIF" if wanted == "auto" else "as asked for"
    else:
        found, certainty = (fitting if len(fitting) == 1 else []), "the only lens of this camera"
    if found:
        return min(found, key=lambda lens: abs(lens.crop_factor - camera.crop_factor)), certainty
    raise InputError(_explain_missing(camera, name, fitting))


def _explain_missing(camera: Any, name: str, fitting: list[Any]) -> str:
    """What is said where no lens has the name; similar names are told."""
    if not name:
        return "the file names no lens; give its name to `lens_profile`, or leave it out"
    near = _database().find_lenses(camera, None, name, True)[:_SIMILAR]
    similar = ", ".join(lens.model for lens in near if lens in fitting or near)
    advice = f"give one of {similar} to `lens_profile`, or leave it out" if similar else "leave it out"
    return f"the lens {name} is not in lensfun's database under this name; {advice}"


def _key(name: str) -> str:
    """A name without case and blanks."""
    return "".join(letter for letter in name.casefold() if letter.isalnum() or letter in ".+*")


def _lens_key(maker: str, name: str) -> str:
    """A lens's name without its maker's before it."""
    return _key(name).removeprefix(_key(maker))


def _full_name(thing: Any) -> str:
    """Maker and model, the maker once."""
    is_named = _key(thing.model).startswith(_key(thing.maker))
    return str(thing.model) if is_named else f"{thing.maker} {thing.model}"


def _modifier(photo: RawPhoto, camera: Any, lens: Any, size: tuple[int, int], flags: int) -> Any:
    """What computes corrections of an image of this size; 1 is no scale but that which fills the frame."""
    import lensfunpy  # noqa: PLC0415 (an extra)

    facts = photo.exif.facts
    focal = facts.get("focal_length_mm") or (lens.min_focal if lens.min_focal == lens.max_focal else None)
    if not focal:
        raise InputError(
            "the file states no focal length, without which no profile fits; leave out `lens_profile`"
        )
    aperture = facts.get("f_number") or lens.min_aperture or 8.0
    modifier = lensfunpy.Modifier(lens, camera.crop_factor, size[1], size[0])
    modifier.initialize(float(focal), float(aperture), _FAR, 0.0, lens.type, np.float32, int(flags))
    return modifier


def _warp(photo: RawPhoto, camera: Any, lens: Any, parts: frozenset[LensPart]) -> ProfileWarp | None:
    """Where light comes from; None where the profile does not know."""
    from lensfunpy import ModifyFlags  # noqa: PLC0415 (an extra)

    flags = 0
    if "distortion" in parts:
        flags |= ModifyFlags.DISTORTION | ModifyFlags.SCALE
    if "ca" in parts:
        flags |= ModifyFlags.TCA
    box = photo.frame("camera")
    modifier = _modifier(photo, camera, lens, (box.height, box.width), flags)
    down, across = (-(-side // _STEP) + 2 for side in (box.height, box.width))
    rows = []
    for row in range(down):
        found = modifier.apply_subpixel_geometry_distortion(0.0, float(row * _STEP), across * _STEP, 1)
        if found is None:
            return None
        rows.append(found[0, ::_STEP][:across])
    sources = np.stack(rows).astype(np.float64)  # (down, across, 3, 2), columns first
    if not np.isfinite(sources).all():
        return None
    return ProfileWarp(np.ascontiguousarray(sources[..., ::-1].transpose(2, 3, 0, 1)) + 0.5)


def _gains(photo: RawPhoto, camera: Any, lens: Any) -> GainMap | None:
    """The gains that undo the lens's shading; None where the profile does not know."""
    from lensfunpy import ModifyFlags  # noqa: PLC0415 (an extra)

    box = photo.frame("camera")
    share = _POINTS / max(box.height, box.width)
    down, across = (max(2, round(side * share)) for side in (box.height, box.width))
    modifier = _modifier(photo, camera, lens, (down, across), ModifyFlags.VIGNETTING)
    light: Float32 = np.ones((down, across, 3), np.float32)
    if not modifier.apply_color_modification(light) or not (np.isfinite(light).all() and light.min() > 0):
        return None
    area = Area(0, 0, box.height, box.width, 0, 3, 1, 1)
    return GainMap(area, (1 / down, 1 / across), (0.5 / down, 0.5 / across), light)
