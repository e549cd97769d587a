"""The camera's own picture inside a raw: how its maker thought the photo should look."""

import io
import warnings
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Preview = bytes | Bytes  # a JPEG as it is stored, or pixels (height, width, 3)

# Enough pixels to tell how bright and vivid a picture is; JPEGs are decoded at a fraction of their size.
_SIDE = 512


def decode_preview(preview: Preview | None, side: int = _SIDE) -> Bytes | None:
    """A preview as pixels, (height, width, 3), sRGB and small; None if there is none, or it is damaged.

    JPEGs are decoded at the least size whose sides are not below `side`, or as large as they are.
    """
    return _decode_jpeg(preview, side) if isinstance(preview, bytes) else preview


def _decode_jpeg(data: bytes, side: int) -> Bytes | None:
    """A JPEG at about the side we need; None if it is damaged: a look is not worth a failure."""
    from PIL import Image  # noqa: PLC0415 (slow to load; few commands look at this picture)

    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
            picture.draft("RGB", (side, side))
            return np.asarray(picture.convert("RGB"))
    return None
