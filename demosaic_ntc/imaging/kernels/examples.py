"""Every kernel that is called from Python, with arguments of the types that it is called with.

A kernel is compiled for the types of its arguments alone: their values and sizes here mean nothing. With
these examples kernels can be compiled before they are needed, side by side, in processes that run `main`.
"""

import logging
import signal
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

import numpy as np

from demosaic_ntc.compiled import cache_folder, compile_for
from demosaic_ntc.imaging.first_guess import gaussian_kernels, kernels, regression_kernels
from demosaic_ntc.imaging.kernels import adding, completing, matching, nearby, passes
from demosaic_ntc.preparing import Ledger, Report, prepare

Example = tuple[Callable[..., Any], tuple[Any, ...]]

_FLAT = np.zeros(8, np.float32)
_PLANE = np.zeros((8, 8), np.float32)
_PLANES = np.zeros((3, 8, 8), np.float32)
_PART = np.zeros((3, 8, 16), np.float32)[:, :, :8]  # planes cut out of larger ones
_FLAGS = np.zeros((8, 8), np.bool_)
_BYTES = np.zeros((8, 8), np.uint8)
_PLACES = np.zeros((1, 2), np.int64)
_FOUND = np.zeros((1, 4, 2), np.int8)
_TOTAL = np.zeros((8, 8), np.int64)
_SUMS = np.zeros((2, 3, 8, 8), np.int64)
_SOME_SUMS = _SUMS[:, :, :4]

_PICTURE = passes.Picture(_PLANES, _BYTES, _BYTES, _PLANES, _PLANE)
_PASS = passes.Pass(0, 1, 1.0, 1.0, 1.0, 1, 1.0, 1.0, 1.0, 1, 1.0)
_GROUPS = (_PICTURE, _PLACES, _FOUND, 2, _PASS, _FLAT, _PLANE, 0, _SUMS, _FLAT)

#: By name, those that take longest to compile first.
EXAMPLES: dict[str, Example] = {
    "complete_groups": (completing.complete_groups, _GROUPS),
    "restore_groups": (passes.restore_groups, _GROUPS),
    "match_patches": (matching.match_patches, (_PLANES, _PLANE, _PLACES, 2, _PLACES, _FOUND)),
    "row_estimates": (regression_kernels.row_estimates, (_PLANE,)),
    "explain": (gaussian_kernels.explain, (_PLANE, _PLANE, _PLANE, _FLAT, 1.0, 1.0)),
    "add_shapes": (passes.add_shapes, (_PICTURE, _PLACES, _FOUND, 2, _TOTAL)),
    "guided_plane": (regression_kernels.guided_plane, (_PLANE, _PLANE, 0, 0)),
    "shrink_rows": (kernels.shrink_rows, (_PLANE,)),
    "steer_difference": (kernels.steer_difference, (_PLANE, _PLANE)),
    "filter_separably": (kernels.filter_separably, (_PLANE, _FLAT, _FLAT)),
    "filter_diagonally": (kernels.filter_diagonally, (_PLANE, _FLAT, 1)),
    "filter_image": (kernels.filter_image, (_PLANE, _PLANE)),
    "row_difference": (kernels.row_difference, (_PLANE, _PLANE)),
    "complete_difference": (kernels.complete_difference, (_PLANE,)),
    "fill_from_nearby": (nearby.fill_from_nearby, (_PLANE, _FLAGS, _FLAT)),
    "take_over": (adding.take_over, (_PLANES, _PLANES, _BYTES, _FLAGS, _FLAT, _FLAT, 1.0)),
    "draw_to_measured": (adding.draw_to_measured, (_PLANES, _BYTES, _FLAGS, _PLANES, _PLANE, 1.0)),
    "write_means": (adding.write_means, (_SUMS, _PLANES)),
    "write_means of a part": (adding.write_means, (_SUMS, _PART)),
    "write_means of some rows": (adding.write_means, (_SOME_SUMS, _PART)),
    "write_errors": (adding.write_errors, (_SUMS, _PLANES, _PLANES, _PLANES, _PLANES)),
    "write_errors of a part": (adding.write_errors, (_SUMS, _PART, _PART, _PART, _PART)),
    "write_errors of some rows": (adding.write_errors, (_SOME_SUMS, _PART, _PART, _PART, _PART)),
}

_asked_for: set[str] = set()  # in this process

_MATCHED = ("match_patches", "restore_groups", "add_shapes", "take_over", "draw_to_measured")
_MEANS = ("write_means", "write_means of a part", "write_means of some rows")
_ERRORS = ("write_errors", "write_errors of a part", "write_errors of some rows")
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
    return frozenset((*_MATCHED, *_MEANS, *(_ERRORS if errors else ())))


def ledger() -> Ledger | None:
    """Return the record of the kernels that are compiled for this machine; none where nothing is kept."""
    folder = cache_folder(passes.restore_groups)
    return None if folder is None else Ledger.of(folder)


def prepare_kernels(names: Collection[str], report: Report | None = None) -> None:
    """Have kernels compiled, those that take longest first; asked for again in this process, do nothing.

    Without a `report`, a line of the log says why this takes a while.
    """
    wanted = [name for name in EXAMPLES if name in names and name not in _asked_for]
    _asked_for.update(wanted)
    if wanted:
        prepare(wanted, ledger(), report or _Log())


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
        from demosaic_ntc.hurry import finish_outermost_only  # noqa: PLC0415 (in this process alone)

        finish_outermost_only()
    for line in sys.stdin:
        compile_for(*EXAMPLES[line.strip()])
        sys.stdout.write(line)
        sys.stdout.flush()
