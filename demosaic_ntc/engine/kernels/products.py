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
_VECTORS = COLUMNS // _LANES  # of a tile's row
cgutils: Any = untyped_cgutils
_WHOLE = ("contract",)  # a multiplication and an addition may be one instruction
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_WHOLES = ir.VectorType(ir.IntType(32), _LANES)
_LONGS = ir.VectorType(ir.IntType(64), _LANES)
_INDEX = ir.IntType(64)

WEIGHT_BITS = 29  # room for 5000 patches whose expected squared error is 1e-5, with full scale 1
VALUE_UNIT = 16.0  # weights are whole numbers, weighted values whole multiples of 1 / VALUE_UNIT
LEAST_WEIGHT = 32.0  # a value is then rounded to 1/512 of full scale; below it, more coarsely
MOST = 2.0  # of full scale: larger values would not fit the sums


@intrinsic
def _set_tile(
    _typing: Any,
    base: Any,
    left: Any,
    first: Any,
    right: Any,
    column: Any,
    terms: Any,
    out: Any,
    row: Any,
) -> Any:
    """Write base[0, column + c] + Σ_k left[k, first + r] right[k, column + c] to out[row + r, column + c].

    Here r < 4 and c < 16 are the rows and columns of a tile, k < terms. All arrays are (rows, columns),
    contiguous, float32, and large enough: nothing is checked.
    """
    whole = types.int64
    return types.void(base, left, whole, right, whole, whole, out, whole), _tile_code


@intrinsic
def _set_mirrored(
    _typing: Any, base: Any, share: Any, left: Any, row: Any, column: Any, terms: Any, out: Any
) -> Any:
    """Write share · base + leftᵀ left, summed over so many terms, to a tile of a matrix and to its mirror.

    Rows and columns of base and out are those from ``row`` and from ``column`` on; all is as in a tile.
    """
    whole = types.int64
    return types.void(base, types.float32, left, whole, whole, whole, out), _write_mirrored_code


@intrinsic
def _solve_tile(
    _typing: Any,
    base: Any,
    at: Any,
    then: Any,
    next_: Any,
    last: Any,
    factor: Any,
    left: Any,
    right: Any,
    column: Any,
    terms: Any,
    row: Any,
    spent: Any,
) -> Any:
    """Write the four rows that a Cholesky factor continues with to right[row + r, column + c].

    From base[at_r, column + c], with at_r the ``at``, ``then``, ``next_`` and ``last``, Σ_k left[k, r]
    right[k, column + c] is taken off, k < terms; what is left is solved with ``factor``, (4, 4), whose
    diagonal holds the inverses. The squares of the result are taken off spent[0, column + c].
    """
    whole = types.int64
    rows = (whole, whole, whole, whole)
    return types.void(base, *rows, factor, left, right, whole, whole, whole, spent), _write_solved_code


@intrinsic
def _centre_tile(_typing: Any, data: Any, mean: Any, column: Any, rows: Any, scale: Any, out: Any) -> Any:
    """Write scale · (data − mean[0]) for sixteen columns of so many rows; return the sum of its squares."""
    whole, real = types.int64, types.float32
    return real(data, mean, whole, whole, real, out), _write_centred_code


@intrinsic
def _sum_squares(_typing: Any, weight: Any, one: Any, at: Any, other: Any, place: Any, columns: Any) -> Any:
    """Return Σ weight[0, c] (one[at, c] − other[place, c])² over so many columns, a multiple of sixteen."""
    whole = types.int64
    return types.float32(weight, one, whole, other, whole, whole), _squares_code


@intrinsic
def _weigh_row(_typing: Any, fit: Any, error: Any, k: Any, columns: Any, floor: Any, out: Any) -> Any:
    """Write entries of row k and their weights, the inverses of error + floor, in whole numbers of 64 bits.

    So many columns, a multiple of sixteen. The lower WEIGHT_BITS hold the weight, cut off, those above the
    weighted value, rounded to a multiple of 1 / VALUE_UNIT; ``out`` has one dimension.
    """
    whole = types.int64
    return types.void(fit, error, whole, whole, types.float32, out), _write_weighed_code


# Called by kernels alone, who know nothing of the typing.
set_tile = cast(Callable[..., None], _set_tile)
set_mirrored = cast(Callable[..., None], _set_mirrored)
solve_tile = cast(Callable[..., None], _solve_tile)
centre_tile = cast(Callable[..., Any], _centre_tile)
sum_squares = cast(Callable[..., Any], _sum_squares)
weigh_row = cast(Callable[..., None], _weigh_row)


def _tile_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of a tile."""
    _, _, first, _, column, terms, _, row = arguments
    bases, lefts, rights, outs = _views(context, builder, signature, (0, 1, 3, 6), arguments)
    totals = [_declare_variable(builder, value) for value in _row(builder, bases, _INDEX(0), column) * ROWS]
    _add_terms(builder, totals, (lefts, first), (rights, column), terms)
    _write_rows(builder, [builder.load(total) for total in totals], outs, row, column)
    return context.get_dummy_value()


def _write_mirrored_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of a tile and its mirror."""
    _, share, _, row, column, terms, _ = arguments
    bases, lefts, outs = _views(context, builder, signature, (0, 2, 6), arguments)
    scale = _spread(builder, share)
    totals = [
        _declare_variable(builder, builder.fmul(scale, value))
        for r in range(ROWS)
        for value in _row(builder, bases, builder.add(row, _INDEX(r)), column)
    ]
    _add_terms(builder, totals, (lefts, row), (lefts, column), terms)
    values = [builder.load(total) for total in totals]
    _write_rows(builder, values, outs, row, column)
    for c, mirrored in enumerate(_transpose_tile(builder, values)):
        place = _place(builder, outs, builder.add(column, _INDEX(c)), row)
        builder.store(mirrored, builder.bitcast(place, mirrored.type.as_pointer()), align=4)
    return context.get_dummy_value()


def _write_solved_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of four rows of a factor."""
    _, *places, _, _, _, column, terms, row, _ = arguments
    bases, factors, lefts, rights, rests = _views(context, builder, signature, (0, 5, 6, 7, 11), arguments)
    totals = [
        _declare_variable(builder, value) for place in places for value in _row(builder, bases, place, column)
    ]
    _add_terms(builder, totals, (lefts, _INDEX(0)), (rights, column), terms, taken_off=True)
    values = [builder.load(total) for total in totals]
    solved: list[Any] = []
    remaining = _row(builder, rests, _INDEX(0), column)
    for r in range(ROWS):
        own = values[r * _VECTORS : (r + 1) * _VECTORS]
        for k in range(r):
            share = _spread(builder, builder.load(_place(builder, factors, _INDEX(r), _INDEX(k))))
            own = [_less(builder, value, share, solved[k * _VECTORS + v]) for v, value in enumerate(own)]
        inverse = _spread(builder, builder.load(_place(builder, factors, _INDEX(r), _INDEX(r))))
        own = [builder.fmul(value, inverse) for value in own]
        remaining = [_less(builder, rest, value, value) for rest, value in zip(remaining, own, strict=True)]
        solved += own
    _write_rows(builder, solved, rights, row, column)
    _write_row(builder, remaining, rests, _INDEX(0), column)
    return context.get_dummy_value()


def _write_centred_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of sixteen columns that are centred."""
    _, _, column, rows, scale, _ = arguments
    datas, means, outs = _views(context, builder, signature, (0, 1, 5), arguments)
    middle, factor = _row(builder, means, _INDEX(0), column), _spread(builder, scale)
    totals = [_declare_variable(builder, _splat(0.0)) for _ in middle]
    with cgutils.for_range(builder, rows) as loop:
        apart = zip(_row(builder, datas, loop.index, column), middle, strict=True)
        centred = [builder.fmul(builder.fsub(value, mean), factor) for value, mean in apart]
        _write_row(builder, centred, outs, loop.index, column)
        for total, value in zip(totals, centred, strict=True):
            builder.store(_more(builder, builder.load(total), value, value), total)
    return _add_all(builder, totals)


def _squares_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of a weighted sum of squares."""
    _, _, at, _, place, columns = arguments
    weights, ones, others = _views(context, builder, signature, (0, 1, 3), arguments)
    totals = [_declare_variable(builder, _splat(0.0)) for _ in range(_VECTORS)]
    with cgutils.for_range(builder, builder.udiv(columns, _INDEX(COLUMNS))) as loop:
        column = builder.mul(loop.index, _INDEX(COLUMNS))
        rows = ((weights, _INDEX(0)), (ones, at), (others, place))
        for total, weight, one, other in zip(
            totals, *(_row(builder, view, row, column) for view, row in rows), strict=True
        ):
            apart = builder.fsub(one, other)
            builder.store(_more(builder, builder.load(total), builder.fmul(weight, apart), apart), total)
    return _add_all(builder, totals)


def _write_weighed_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of weights and weighted values."""
    _, _, k, columns, floor, out = arguments
    fits, errors = _views(context, builder, signature, (0, 1), arguments)
    units = context.make_array(signature.args[5])(context, builder, out).data
    least = _spread(builder, floor)
    with cgutils.for_range(builder, builder.udiv(columns, _INDEX(COLUMNS))) as loop:
        column = builder.mul(loop.index, _INDEX(COLUMNS))
        rows = zip(_row(builder, fits, k, column), _row(builder, errors, k, column), strict=True)
        for v, (fit, error) in enumerate(rows):
            weight = _larger(
                builder, builder.fdiv(_splat(1.0), builder.fadd(error, least)), _splat(LEAST_WEIGHT)
            )
            mass = builder.fptosi(weight, _WHOLES)
            held = _larger(builder, _smaller(builder, fit, _splat(MOST)), _splat(-MOST))
            value = builder.fmul(builder.fmul(builder.sitofp(mass, _VECTOR), held), _splat(VALUE_UNIT))
            is_positive = builder.fcmp_ordered(">=", value, _splat(0.0))
            away = builder.select(is_positive, _splat(0.5), _splat(-0.5))
            rounded = builder.sext(builder.fptosi(builder.fadd(value, away), _WHOLES), _LONGS)
            shifted = builder.shl(rounded, ir.Constant(_LONGS, [WEIGHT_BITS] * _LANES))
            place = builder.gep(units, [builder.add(column, _INDEX(v * _LANES))])
            both = builder.add(shifted, builder.sext(mass, _LONGS))
            builder.store(both, builder.bitcast(place, _LONGS.as_pointer()), align=8)
    return context.get_dummy_value()


def _splat(value: float) -> Any:
    """Return a vector of one number."""
    return ir.Constant(_VECTOR, [value] * _LANES)


def _larger(builder: Any, one: Any, other: Any) -> Any:
    """Return the larger of two, lane by lane."""
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def _smaller(builder: Any, one: Any, other: Any) -> Any:
    """Return the smaller of two, lane by lane."""
    return builder.select(builder.fcmp_ordered("<", one, other), one, other)


def _add_all(builder: Any, totals: list[Any]) -> Any:
    """Return the sum of all that is in some variables, in an order that no machine changes."""
    first, second = (builder.load(total) for total in totals)
    both = builder.fadd(first, second)
    for half in (4, 2, 1):
        lower, upper = tuple(range(half)), tuple(range(half, 2 * half))
        both = builder.fadd(_shuffle(builder, both, both, lower), _shuffle(builder, both, both, upper))
    return builder.extract_element(both, ir.IntType(32)(0))


View = tuple[Any, Any]  # the pointer to the first entry of an array, and how many entries its rows are apart


def _views(context: Any, builder: Any, signature: Any, which: tuple[int, ...], arguments: Any) -> list[View]:
    """Return how to reach the arrays among the arguments."""
    return [_view(context, builder, signature.args[at], arguments[at]) for at in which]


def _view(context: Any, builder: Any, kind: Any, array: Any) -> View:
    """Return how to reach the rows of an array."""
    view = context.make_array(kind)(context, builder, array)
    return view.data, cgutils.unpack_tuple(builder, view.shape)[1]


def _place(builder: Any, view: View, row: Any, column: Any) -> Any:
    """Return the pointer to an entry."""
    entries, apart = view
    return builder.gep(entries, [builder.add(builder.mul(row, apart), column)])


def _vectors(builder: Any, view: View, row: Any, column: Any) -> list[Any]:
    """Return pointers to the vectors of a tile's row."""
    first = _place(builder, view, row, column)
    starts = (builder.gep(first, [_INDEX(lane)]) for lane in range(0, COLUMNS, _LANES))
    return [builder.bitcast(start, _VECTOR.as_pointer()) for start in starts]


def _row(builder: Any, view: View, row: Any, column: Any) -> list[Any]:
    """Return the vectors of a tile's row."""
    return [builder.load(vector, align=4) for vector in _vectors(builder, view, row, column)]


def _write_row(builder: Any, values: list[Any], view: View, row: Any, column: Any) -> None:
    """Write the vectors of a tile's row."""
    for value, vector in zip(values, _vectors(builder, view, row, column), strict=True):
        builder.store(value, vector, align=4)


def _write_rows(builder: Any, values: list[Any], view: View, row: Any, column: Any) -> None:
    """Write the vectors of all rows of a tile."""
    for r in range(ROWS):
        own = values[r * _VECTORS : (r + 1) * _VECTORS]
        _write_row(builder, own, view, builder.add(row, _INDEX(r)), column)


def _declare_variable(builder: Any, value: Any) -> Any:
    """Return a variable with a first value; LLVM keeps it in a register."""
    return cgutils.alloca_once_value(builder, value)


def _less(builder: Any, value: Any, factor: Any, other: Any) -> Any:
    """Return a value less a product."""
    return builder.fsub(value, builder.fmul(factor, other, flags=_WHOLE), flags=_WHOLE)


def _more(builder: Any, value: Any, factor: Any, other: Any) -> Any:
    """Return a value and a product more."""
    return builder.fadd(value, builder.fmul(factor, other, flags=_WHOLE), flags=_WHOLE)


def _add_terms(
    builder: Any,
    totals: list[Any],
    left: tuple[View, Any],
    right: tuple[View, Any],
    terms: Any,
    taken_off: bool = False,
) -> None:
    """Add, or take off, the products of columns of the left and rows of the right, both from one on."""
    combine = builder.fsub if taken_off else builder.fadd
    with cgutils.for_range(builder, terms) as loop:
        values = _row(builder, right[0], loop.index, right[1])
        first = _place(builder, left[0], loop.index, left[1])
        for r in range(ROWS):
            factor = _spread(builder, builder.load(builder.gep(first, [_INDEX(r)])))
            for total, value in zip(totals[r * _VECTORS :], values, strict=False):
                product = builder.fmul(factor, value, flags=_WHOLE)
                builder.store(combine(builder.load(total), product, flags=_WHOLE), total)


def _transpose_tile(builder: Any, values: list[Any]) -> list[Any]:
    """Return the columns of a tile, four entries each, from the vectors of its rows."""
    columns = []
    for v in range(_VECTORS):
        first, second, third, fourth = (values[r * _VECTORS + v] for r in range(ROWS))
        for pair in (0, 2):  # lanes 0 and 1, then 2 and 3, of both halves of the vectors
            lanes = tuple(
                half + lane + other for half in (0, 4) for lane in (pair, pair + 1) for other in (0, _LANES)
            )
            upper, lower = _shuffle(builder, first, second, lanes), _shuffle(builder, third, fourth, lanes)
            for which in (0, 2):
                own = tuple(
                    half + which + lane + other for half in (0, 4) for other in (0, _LANES) for lane in (0, 1)
                )
                columns.append((v * _LANES + pair + which // 2, _shuffle(builder, upper, lower, own)))
    turned = [
        (column + half, _shuffle(builder, both, both, tuple(range(half, half + ROWS))))
        for column, both in columns
        for half in (0, 4)
    ]
    return [column for _, column in sorted(turned, key=lambda each: each[0])]


def _shuffle(builder: Any, one: Any, other: Any, lanes: tuple[int, ...]) -> Any:
    """Return a vector of some lanes of two, those of the other counted behind those of the one."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
    return builder.shuffle_vector(one, other, mask)


def _spread(builder: Any, value: Any) -> Any:
    """Return a vector of one value."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    single = builder.insert_element(empty, value, ir.IntType(32)(0))
    return _shuffle(builder, single, empty, (0,) * _LANES)
