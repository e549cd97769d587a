"""Products of small matrices, a tile of four rows and sixteen columns at a time.

Models of groups consist of products with a few dozen rows, columns and terms. A compiler that is given plain
loops for them reads and writes memory for nearly every multiplication; here a tile of the result stays in
the processor's registers while its terms are added up. The loop is written in vectors of eight, which LLVM
translates to what the machine has.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic

ROWS, COLUMNS = 4, 16  # of a tile
_LANES = 8
cgutils: Any = untyped_cgutils
_WHOLE = ("contract",)  # a multiplication and an addition may be one instruction
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_INDEX = ir.IntType(64)


@intrinsic
def _set_tile(
    _typing: Any,
    base: Any,
    at: Any,
    then: Any,
    next_: Any,
    last: Any,
    left: Any,
    first: Any,
    right: Any,
    column: Any,
    terms: Any,
    out: Any,
    row: Any,
) -> Any:
    """Write base[at_r, column + c] + Σ_k left[k, first + r] right[k, column + c] to out[row + r, column + c].

    Here r < 4 and c < 16 are the rows and columns of a tile, k < terms; at_r are ``at``, ``then``, ``next_``
    and ``last``. All arrays are (rows, columns), contiguous, float32, and large enough: nothing is checked.
    """
    whole = types.int64
    rows = (whole, whole, whole, whole)
    return types.void(base, *rows, left, whole, right, whole, whole, out, whole), _tile_code


set_tile = cast(Callable[..., None], _set_tile)  # called by kernels alone, who know nothing of the typing


def _tile_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of a tile."""
    base, *places, left, first, right, column, terms, out, row = arguments
    (bases, base_step), (lefts, left_step), (rights, right_step), (outs, out_step) = (
        _rows_of(context, builder, kind, array)
        for kind, array in zip(
            (signature.args[at] for at in (0, 5, 7, 10)), (base, left, right, out), strict=True
        )
    )
    lefts, bases, rights, outs = (
        builder.gep(entries, [index])
        for entries, index in ((lefts, first), (bases, column), (rights, column), (outs, column))
    )
    totals = [
        cgutils.alloca_once_value(builder, builder.load(vector, align=4))
        for place in places
        for vector in _vectors(builder, bases, builder.mul(place, base_step))
    ]
    with cgutils.for_range(builder, terms) as loop:
        at = builder.mul(loop.index, left_step)
        vectors = _vectors(builder, rights, builder.mul(loop.index, right_step))
        values = [builder.load(vector, align=4) for vector in vectors]
        for r in range(ROWS):
            factor = _spread(builder, builder.load(builder.gep(lefts, [builder.add(at, _INDEX(r))])))
            for total, value in zip(totals[r * len(values) :], values, strict=False):
                product = builder.fmul(factor, value, flags=_WHOLE)
                builder.store(builder.fadd(builder.load(total), product, flags=_WHOLE), total)
    for r in range(ROWS):
        vectors = _vectors(builder, outs, builder.mul(builder.add(row, _INDEX(r)), out_step))
        for vector, total in zip(vectors, totals[r * len(vectors) :], strict=False):
            builder.store(builder.load(total), vector, align=4)
    return context.get_dummy_value()


def _rows_of(context: Any, builder: Any, kind: Any, array: Any) -> tuple[Any, Any]:
    """Return the pointer to the first entry of an array, and how many entries its rows are apart."""
    view = context.make_array(kind)(context, builder, array)
    return view.data, cgutils.unpack_tuple(builder, view.shape)[1]


def _vectors(builder: Any, entries: Any, index: Any) -> list[Any]:
    """Return pointers to the vectors of a tile's row."""
    starts = (builder.add(index, _INDEX(lane)) for lane in range(0, COLUMNS, _LANES))
    return [builder.bitcast(builder.gep(entries, [start]), _VECTOR.as_pointer()) for start in starts]


def _spread(builder: Any, value: Any) -> Any:
    """Return a vector of one value."""
    lane = ir.IntType(32)
    single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, lane(0))
    return builder.shuffle_vector(
        single, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(lane, _LANES), [0] * _LANES)
    )
