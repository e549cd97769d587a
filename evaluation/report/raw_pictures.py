"""The pictures that a page shows of raws, kept in files beside it, named after what they depend on."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from demosaic_ntc.viewer.crops import CropBox
from demosaic_ntc.viewer.pictures import Bytes, lossless, reduce_to_webp, write_beside

from ..methods.conversions import Shown

PICTURES = "pictures"
OURS, CAMERA, MIDDLE = "ours", "camera", "middle"

#: The longer side of a picture that is shown small, and the sides of the part at 1:1.
SIDE = 600
_MIDDLE = (540, 405)


def keep_pictures(page: Path, key: Mapping[str, Any], shown: Shown) -> None:
    """Write both pictures small, the camera's own at our size, and the middle of ours as it is."""
    _write(page, key, OURS, reduce_to_webp(shown.ours, SIDE))
    _write(page, key, MIDDLE, lossless(shown.ours[middle(shown.ours).place]))
    if shown.camera is not None:
        _write(page, key, CAMERA, reduce_to_webp(shown.camera, SIDE))


def source_of(page: Path, key: Mapping[str, Any], name: str) -> str | None:
    """The address of a picture on the page; None where it is not kept."""
    file = _file(key, name)
    return f"{PICTURES}/{file}" if (page / PICTURES / file).is_file() else None


def middle(picture: Bytes) -> CropBox:
    """The part of a picture in its middle that is shown at 1:1."""
    height, width = picture.shape[:2]
    across, down = min(width, _MIDDLE[0]), min(height, _MIDDLE[1])
    return CropBox((width - across) // 2, (height - down) // 2, across, down)


def _write(page: Path, key: Mapping[str, Any], name: str, content: bytes) -> None:
    """Write a picture beside the page."""
    write_beside(page / PICTURES, _file(key, name), content)


def _file(key: Mapping[str, Any], name: str) -> str:
    """The name of a picture's file."""
    digest = sha256(repr(sorted(key.items())).encode(errors="backslashreplace")).hexdigest()[:20]
    return f"{digest}-{name}.webp"
