"""What a user should know about a photo and what was made of it, in a line each."""

from collections.abc import Iterator
from math import log2

import numpy as np

from demosaic_ntc.developing.engine_run import RestoredPhoto
from demosaic_ntc.developing.framing import look_name
from demosaic_ntc.developing.linear_dng import carried_opcodes
from demosaic_ntc.developing.preprocess import Prepared
from demosaic_ntc.developing.render import Finish, find_auto_gain, is_dark
from demosaic_ntc.developing.settings import Development
from demosaic_ntc.raw.photo import RawPhoto

# The hint about dark pictures looks at every n-th row and column.
_GLANCE = 8

# A likely black level: this share of the samples lies below it, and it is more than this share of white.
_DARKEST, _SEEN_BLACK = 0.001, 0.01


def photo_notices(ready: Prepared, how: Development) -> Iterator[str]:
    """What a user should know about the photo and the colours chosen for it."""
    yield from ready.photo.notices
    yield from ready.noise.notices if ready.noise else ()
    source = ready.exposure.balance_source
    if source == "preview":
        yield "no white balance is stored; it was fitted to the camera's own picture (`wb` chooses another)"
    elif how.balance in ("camera", "daylight") and source != how.balance and not ready.photo.is_monochrome:
        used = "none was applied" if source == "none" else f"{source} balance was used"
        advice = "`wb=auto` finds one" if source == "none" else "choose one with `wb`"
        yield f"no {how.balance} white balance is stored; {used} ({advice})"
    if how.black is None:
        yield from _black_notice(ready.photo)
    if ready.photo.matrix.source == "none" and how.space != "camera" and not ready.photo.is_monochrome:
        yield "no camera profile is known; colours are shown as if the sensor were sRGB"
    if how.crop == "camera" and ready.photo.camera_crop is None:
        yield "the camera stored no crop; the whole visible area is kept"
    if how.look == "camera" and ready.embedded is None:
        yield "holds no preview; the automatic look is used"


def lens_notices(ready: Prepared, how: Development, *, linear: bool) -> Iterator[str]:
    """What was corrected of the lens; of a linear DNG, what is left to its readers."""
    if not linear:
        yield from ready.lens.notices
        return
    yield from ready.lens.raw.notices
    yield from carried_opcodes(ready, how).notices
    if ready.lens.profile:
        yield f"a linear DNG is not corrected by the profile {ready.lens.profile}; its readers have their own"


def _black_notice(photo: RawPhoto) -> Iterator[str]:
    """A hint where no sample lies above black, or a mosaic that states no black level seems to have one."""
    black = float(photo.black.min())
    if photo.mosaic.max(initial=0) <= black:
        yield f"no sample lies above the black level {black:g}; the picture is black (`black` gives another)"
    if not photo.is_plain:
        return
    seen = photo.mosaic[::_GLANCE, ::_GLANCE]
    darkest = float(np.quantile(seen, _DARKEST))
    if darkest > _SEEN_BLACK * float(seen.max()):  # white may be that of 16 bits, of which 14 are used
        yield f"the darkest samples read {darkest:.0f}; if that is black, give `black={darkest:.0f}`"


def brightness_notices(
    restored: RestoredPhoto, ready: Prepared, look: Finish, how: Development
) -> Iterator[str]:
    """A hint where nothing was brightened and the picture ends far below white."""
    if how.exposure != 0 or look_name(ready, how) != "neutral":
        return
    gain = find_auto_gain(restored.image, ready.mosaic.lift, look, every=_GLANCE)
    if is_dark(gain):
        yield f"the picture ends {log2(gain):.1f} stops below white; `exposure=auto` would brighten it"
