"""Opcodes of list 3 that go with a linear DNG, for its readers to do.

Lists 1 and 2 are in its samples and are not repeated. List 3 stays as it is stored: its image is the visible
area, which is all of the DNG's picture. Only what is not wanted is left out, and what counts from white:
that of the DNG is another.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

from demosaic_ntc.lens.correction import Parts
from demosaic_ntc.raw.opcodes.lists import (
    StoredOpcode,
    UnknownOpcode,
    join_opcodes,
    read_opcode,
    split_opcodes,
)
from demosaic_ntc.raw.opcodes.parameters import DamagedOpcode, Opcode
from demosaic_ntc.raw.opcodes.pixel_opcodes import Curve, DeltaPerColumn, DeltaPerRow, Gain
from demosaic_ntc.raw.opcodes.warps import Warp, keep_parts
from demosaic_ntc.raw.photo import RawPhoto

_PLANES = 3  # of a demosaiced picture
_FROM_WHITE = (*get_args(Curve), DeltaPerRow, DeltaPerColumn)


@dataclass(frozen=True, slots=True)
class CarriedOpcodes:
    """A list as a DNG stores it, empty without any opcode, and the names of what is in it or left out."""

    data: bytes = b""
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # though wanted

    @property
    def notices(self) -> Iterator[str]:
        """What readers are to do, and what none can."""
        if self.names:
            yield (
                f"opcode list 3 goes with the DNG, for its readers to do: {', '.join(self.names)} "
                "(`lens=off` leaves it out)"
            )
        if self.left_out:
            yield f"a linear DNG cannot keep {', '.join(self.left_out)} of list 3; it is left out"


def carry_opcodes(photo: RawPhoto, parts: Parts) -> CarriedOpcodes:
    """The list 3 of a photo with the parts that are wanted."""
    kept, names, left_out = list[StoredOpcode](), list[str](), list[str]()
    stated = photo.opcodes.pixels
    try:
        for stored in split_opcodes(stated.data) if stated.data else ():
            wanted, opcode = _keep(stored, photo, parts)
            if wanted is not None:
                kept.append(wanted)
                names.append(f"opcode {stored.code}" if opcode is None else opcode.name)
            elif isinstance(opcode, _FROM_WHITE):
                left_out.append(opcode.name)
    except struct.error:  # where a list breaks off, what came before it stays
        pass
    data = join_opcodes(kept) if kept else b""
    return CarriedOpcodes(data, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(left_out)))


def _keep(stored: StoredOpcode, photo: RawPhoto, parts: Parts) -> tuple[StoredOpcode | None, Opcode | None]:
    """An opcode as far as it is wanted, as it is stored, and as it is read; what is not known is kept."""
    try:
        opcode = read_opcode(stored, photo.size, _PLANES)
    except UnknownOpcode:
        return stored if parts else None, None
    except (DamagedOpcode, struct.error):
        return None, None
    if isinstance(opcode, Warp):
        kept = keep_parts(opcode, distortion="distortion" in parts, ca="ca" in parts)
        if kept is None or kept is opcode:
            return None if kept is None else stored, opcode
        return replace(stored, parameters=_pack_warp(kept)), opcode
    left_out = isinstance(opcode, _FROM_WHITE) or (isinstance(opcode, Gain) and "vignetting" not in parts)
    return None if left_out else stored, opcode


def _pack_warp(warp: Warp) -> bytes:
    """The parameters of a warp as DNGs store them."""
    terms = [term for plane in warp.planes for term in plane]
    return struct.pack(f">L{len(terms) + 2}d", len(warp.planes), *terms, *warp.centre)
