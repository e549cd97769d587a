"""Every kernel that is called from Python, with arguments of the types that it is called with.

A kernel is compiled for the types of its arguments alone: their values and sizes here mean nothing. With
these examples kernels can be compiled before they are needed, side by side, in processes that run `main`.
"""

import gc
import logging
import signal
import sys
import warnings
from collections.abc import Callable, Collection
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np

from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.demosaicing.highlights import kernels as highlight_kernels
from demosaic_ntc.demosaicing.highlights import window_kernels
from demosaic_ntc.demosaicing.interpolation import gaussian_kernels, kernels, regression_kernels
from demosaic_ntc.detection import defect_kernels
from demosaic_ntc.engine.kernels import aggregation, completion, group_pass, matching, rim_fill
from demosaic_ntc.jit.compiled import cache_folder, comes_compiled, compile_for
from demosaic_ntc.jit.kernel_cache import NOT_KEPT
from demosaic_ntc.jit.precompile import KernelRecord, Report, prepare

Example = tuple[Callable[..., Any], tuple[Any, ...]]

_FLAT = np.zeros(8, np.float32)
_PLANE = np.zeros((8, 8), np.float32)
_PLANES = np.zeros((3, 8, 8), np.float32)
_FLAGS = np.zeros((8, 8), np.bool_)
_BYTES = np.zeros((8, 8), np.uint8)
_PLACES = np.zeros((1, 2), np.int64)
_NUMBERS = np.zeros(1, np.int64)
_COLOURS = np.zeros(1, np.uint8)
_PATTERN = Cfa.from_name("RGGB").pattern  # which cannot be written to
_LINES = np.zeros((3, 3))
_FOUND = np.zeros((1, 4, 2), np.int8)
_TOTAL = np.zeros((8, 8), np.int64)
_SUMS = np.zeros((1, 3, 8, 8), np.int64)

_CELLS = np.zeros((8, 8, 3))
_GRID = np.zeros((8, 8, 3), np.float32)
_ROW = np.zeros(8, np.bool_)
_ROOTS = np.zeros(3)
_WINDOWS = (_PLANE, _FLAGS, _BYTES)
_PARTLY = (_GRID, _BYTES, _ROOTS, _ROW, _GRID)

_PICTURE = group_pass.KernelImage(_PLANES, _BYTES, _BYTES, _PLANES, _PLANE)
_PASS = group_pass.Pass(0, 1, 1.0, 1.0, 1.0, 1.0, 1, 1.0, 1.0, 1.0, 1, 1.0)
_GROUPS = (_PICTURE, _PLACES, _FOUND, 2, _PASS, _FLAT, _PLANE, 0, _SUMS, _FLAT, _FLAT)

EXAMPLES: dict[str, Example] = {
    "restore_groups": (group_pass.restore_groups, _GROUPS),
    "complete_groups": (completion.complete_groups, _GROUPS),
    "match_patches": (matching.match_patches, (_PLANES, _PLANE, _PLACES, 2, _PLACES, _FOUND)),
    "row_estimates": (regression_kernels.row_estimates, (_PLANE,)),
    "explain": (gaussian_kernels.explain, (_PLANE, _PLANE, _PLANE, _FLAT, 1.0, 1.0)),
    "add_shapes": (group_pass.add_shapes, (_PICTURE, _PLACES, _FOUND, 2, _TOTAL)),
    "guided_plane": (regression_kernels.regress_plane, (_PLANE, _PLANE, 0, 0)),
    "shrink_rows": (kernels.shrink_rows, (_PLANE,)),
    "steer_difference": (kernels.steer_difference, (_PLANE, _PLANE)),
    "filter_separably": (kernels.filter_separably, (_PLANE, _FLAT, _FLAT)),
    "filter_diagonally": (kernels.filter_diagonally, (_PLANE, _FLAT, 1)),
    "filter_image": (kernels.filter_image, (_PLANE, _PLANE)),
    "judge_samples": (defect_kernels.judge_samples, (_PLANE, _PATTERN, _LINES, 1.0, _PLANE, _PLANE, _PLANE)),
    "count_flocks": (defect_kernels.count_flocks, (_PLACES, _COLOURS, _FLAT, _NUMBERS, 1, _PLACES)),
    "flag_blocks": (window_kernels.flag_blocks, (_PLANE, _PLANE, _ROW)),
    "flag_channels": (window_kernels.flag_channels, (*_WINDOWS, _PLANE, 1, 1, _BYTES)),
    "average_colours": (
        window_kernels.average_colours,
        (*_WINDOWS, _FLAT, _FLAT, 1, _ROW, True, _GRID, _BYTES),
    ),
    "add_moments": (window_kernels.add_moments, (_GRID, _BYTES, _FLAT, _ROW, _CELLS)),
    "complete_single": (highlight_kernels.complete_single, (*_PARTLY, 1, 1.0, _CELLS)),
    "complete_pairs": (highlight_kernels.complete_pairs, (*_PARTLY, _GRID, 1, _CELLS)),
    "complete_cores": (highlight_kernels.complete_cores, (*_PARTLY, 1)),
    "row_difference": (kernels.row_difference, (_PLANE, _PLANE)),
    "complete_difference": (kernels.complete_difference, (_PLANE,)),
    "fill_from_nearby": (rim_fill.fill_from_nearby, (_PLANE, _FLAGS, _FLAT)),
    "take_over": (aggregation.relax_update, (_PLANES, _PLANES, _BYTES, _FLAGS, _FLAT, _FLAT, 1.0)),
    "draw_to_measured": (
        aggregation.enforce_data_consistency,
        (_PLANES, _BYTES, _FLAGS, _PLANES, _PLANE, 1.0),
    ),
    "write_means": (aggregation.write_means, (_SUMS, _PLANES)),
    "write_errors": (aggregation.write_errors, (_SUMS, _PLANES, _PLANES, _PLANES, _PLANES)),
}

# Kernels that call the same functions, which are compiled once for all of them, in an order in which two
# processes are done at about the same time; those of the last call no others.
_FAMILIES = (
    ("restore_groups", "add_shapes", "complete_groups"),
    ("row_estimates", "guided_plane", "explain"),
    ("match_patches",),
    ("shrink_rows", "steer_difference", "filter_separably", "filter_diagonally", "filter_image"),
    ("judge_samples", "count_flocks"),
    ("complete_single", "complete_pairs", "complete_cores"),
    ("average_colours", "add_moments", "flag_channels", "flag_blocks"),
    (
        *("row_difference", "complete_difference", "fill_from_nearby", "take_over", "draw_to_measured"),
        *("write_means", "write_errors"),
    ),
)

#: What the completion of groups takes that a prediction does not meet: few pictures have any.
FOR_COMPLETION = frozenset(("complete_groups",))

#: What finding hot and dead pixels takes.
FOR_DEFECTS = frozenset(("judge_samples", "count_flocks"))

#: What completing clipped samples takes.
FOR_HIGHLIGHTS = frozenset(
    (
        *("flag_blocks", "flag_channels", "average_colours", "add_moments"),
        *("complete_single", "complete_pairs", "complete_cores"),
    )
)

_asked_for: set[str] = set()  # in this process
_asking = Lock()

_MATCHED = ("match_patches", "restore_groups", "add_shapes", "take_over", "draw_to_measured", "write_means")
_LMMSE = ("row_difference", "shrink_rows", "complete_difference")
_MLRI = ("row_estimates", "steer_difference", "guided_plane", "filter_separably")
_BAYER = (*_LMMSE, *_MLRI, "explain")
_ANY_ARRAY = ("filter_separably", "filter_diagonally", "explain")
_INTERPOLATIONS = {
    "bilinear": ("filter_separably",),
    "malvar": ("filter_image",),
    "lmmse": _LMMSE,
    "mlri": _MLRI,
}


def for_mosaics(method: str, is_bayer: bool, errors: bool = False) -> frozenset[str]:
    """Return the kernels that demosaicing by a method takes; what few pictures need is not among them."""
    if method in _INTERPOLATIONS:
        return frozenset(_INTERPOLATIONS[method])
    guesses = frozenset(_BAYER if is_bayer else _ANY_ARRAY)
    return guesses if method == "blend" else guesses | _for_groups(errors)


def for_holes(method: str, errors: bool = False) -> frozenset[str]:
    """Return the kernels that inpainting by a method takes."""
    return frozenset() if method == "biharmonic" else _for_groups(errors) | {"fill_from_nearby"}


def _for_groups(errors: bool) -> frozenset[str]:
    """Return the kernels of the loop over groups."""
    return frozenset((*_MATCHED, *(("write_errors",) if errors else ())))


def ledger() -> KernelRecord | None:
    """Return the record of the kernels that are compiled for this machine; none where nothing is kept."""
    folder = cache_folder(group_pass.restore_groups)
    return None if folder is None else KernelRecord.of(folder)


def find_uncompiled(names: Collection[str]) -> set[str]:
    """Return which kernels did not come with the program, or not for this machine."""
    return {name for name in names if not comes_compiled(*EXAMPLES[name])}


def prepare_kernels(names: Collection[str], report: Report | None = None) -> None:
    """Have kernels compiled, those that take longest first; asked for again in this process, do nothing.

    Nor is anything done for kernels that came with the program.
    Without a `report`, a line of the log says why this takes a while. Threads wait for each other.
    """
    if _asked_for.issuperset(names):
        return
    with _asking:
        asked = set(names) - _asked_for
        wanted = find_uncompiled(asked)
        if len(asked) > 1 or wanted & FOR_COMPLETION:  # a small one takes no longer than a process to start
            families = [[name for name in family if name in wanted] for family in _FAMILIES]
            prepare([family for family in families if family], ledger(), report or _Log())
        _asked_for.update(names)


class _Log:
    """Puts into the log, once, what is going on."""

    def __init__(self) -> None:
        self._has_spoken = False

    def __call__(self, ready: int, total: int) -> None:
        """Say it, unless it was said."""
        if not self._has_spoken:
            logging.getLogger("demosaic_ntc").warning(
                "preparing kernels for this machine, once: %d of %d", ready, total
            )
        self._has_spoken = True


def main() -> None:
    """Compile what standard input names, a kernel per line, and say so when each is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    with suppress(ImportError):  # a Numba of another making takes its time
        from demosaic_ntc.jit import numba_patches  # noqa: PLC0415 (see above)

        numba_patches.take_short_cuts()
        numba_patches.finish_outermost_only()
    warnings.filterwarnings("error", message=NOT_KEPT)  # what is not kept must not be put on record
    gc.disable()  # what compiling leaves behind is gone with this process
    for line in sys.stdin:
        compile_for(*EXAMPLES[line.strip()])
        sys.stdout.write(line)
        sys.stdout.flush()
