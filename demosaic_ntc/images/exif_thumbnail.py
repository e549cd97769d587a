"""Blocks of EXIF that are carried over as they are, without the small copy of the picture inside.

A repaired picture that still shows the damage, or what was removed, in its thumbnail would betray its user.
"""

import io
import struct

from demosaic_ntc.io.exif import orientation_in
from demosaic_ntc.io.tiff_tags import TagReader, number

_THUMBNAIL_PLACE, _THUMBNAIL_LENGTH = 513, 514
_STRIP_PLACES, _STRIP_LENGTHS = 273, 279


def strip_thumbnail(block: bytes) -> bytes:
    """The block with its second directory unlinked and the picture it points to blanked."""
    order = {b"II": "<", b"MM": ">"}.get(block[:2])
    if order is None or len(block) < 10:
        return block
    first = struct.unpack_from(order + "L", block, 4)[0]
    if first + 2 > len(block):
        return block
    link = first + 2 + 12 * struct.unpack_from(order + "H", block, first)[0]
    if link + 4 > len(block):
        return block
    second = struct.unpack_from(order + "L", block, link)[0]
    blanked = bytearray(block)
    blanked[link : link + 4] = bytes(4)
    directory = TagReader(io.BytesIO(block)).directory(second)
    for place_tag, length_tag in ((_THUMBNAIL_PLACE, _THUMBNAIL_LENGTH), (_STRIP_PLACES, _STRIP_LENGTHS)):
        place, length = number(directory, place_tag), number(directory, length_tag)
        stop = min(place + length, len(blanked))
        if 8 <= place < stop:
            blanked[place:stop] = bytes(stop - place)
    return bytes(blanked)


def read_orientation(block: bytes | None) -> int:
    """The orientation that a block states; upright where there is none."""
    return 1 if block is None else orientation_in(TagReader(io.BytesIO(block)).first())
