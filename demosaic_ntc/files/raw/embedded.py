"""The camera's own picture inside a raw: how its maker thought the photo should look."""

import io
import warnings
from contextlib import suppress
from typing import BinaryIO

import numpy as np
import rawpy
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

# Enough pixels to tell how bright and vivid a picture is; JPEGs are decoded at a fraction of their size.
_SIDE = 512


def embedded_picture(file: BinaryIO, side: int = _SIDE) -> Bytes | None:
    """The picture a camera stored in its raw, (height, width, 3), sRGB and small; None if it has none.

    JPEGs are decoded at the least size whose sides are not below `side`, or as large as they are.
    """
    with suppress(Exception), rawpy.RawPy() as raw:  # whatever is wrong with it, a look is not worth it
        file.seek(0)
        raw.open_buffer(file)
        found = raw.extract_thumb()
        return _small_jpeg(found.data, side) if isinstance(found.data, bytes) else np.array(found.data)
    return None


def _small_jpeg(data: bytes, side: int) -> Bytes | None:
    """A JPEG at about the side we need; None if it is damaged: a look is not worth a failure."""
    from PIL import Image  # noqa: PLC0415 (slow to load; few commands look at this picture)

    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
            picture.draft("RGB", (side, side))
            return np.asarray(picture.convert("RGB"))
    return None
