"""Kinds of holes: recognised by their depth and density."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demosaic_ntc.engine.passes import HoleKind
from demosaic_ntc.inpainting.classification import depths, kinds_of

Flags = NDArray[np.bool_]

INNER = np.s_[24:-24, 24:-24]  # holes that the border cuts may be of other kinds


def kinds(missing: Flags) -> NDArray[np.uint8]:
    return kinds_of(missing)


def picture(*parts: tuple[slice | int, slice | int]) -> Flags:
    missing = np.zeros((96, 96), np.bool_)
    for part in parts:
        missing[part] = True
    return missing


def randomly(share: float) -> Flags:
    return np.random.default_rng(7).random((96, 96)) < share


def kinds_inside(missing: Flags) -> set[int]:
    return set(kinds(missing)[INNER][missing[INNER]].tolist())


@pytest.mark.parametrize(
    ("missing", "kind"),
    [
        (picture(np.s_[5::20, 5::20]), HoleKind.SPARSE),
        (picture(np.s_[40, :], np.s_[:, 30]), HoleKind.LINES),
        (picture(np.s_[40:42, 30:60]), HoleKind.SPARSE),
        (picture(np.s_[40, 30:50]), HoleKind.SPARSE),
        (randomly(0.05), HoleKind.SPARSE),
        (randomly(0.5), HoleKind.SCATTERED),
        (picture(np.s_[40:45, :]), HoleKind.WIDE),
        (randomly(0.8), HoleKind.WIDE),
        (picture(np.s_[40:56, 40:56]), HoleKind.DEEP),
    ],
)
def test_damage_of_one_kind_is_recognised(missing: Flags, kind: HoleKind) -> None:
    assert kinds_inside(missing) == {kind}


def test_a_picture_with_several_kinds_has_each_at_its_place() -> None:
    found = kinds(picture(np.s_[10, 10], np.s_[60:76, 60:76]))
    assert found[10, 10] == HoleKind.SPARSE
    assert (found[60:76, 60:76] == HoleKind.DEEP).all()


def test_a_hole_at_the_border_is_as_deep_as_it_is_wide() -> None:
    missing = picture(np.s_[:6, :])
    assert depths(missing)[:7, 0].tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert kinds(missing)[0, 48] == HoleKind.DEEP


def test_diagonal_steps_count_as_one() -> None:
    assert depths(picture(np.s_[10:15, 10:15]))[10:15, 10:15].tolist() == [
        [1, 1, 1, 1, 1],
        [1, 2, 2, 2, 1],
        [1, 2, 3, 2, 1],
        [1, 2, 2, 2, 1],
        [1, 1, 1, 1, 1],
    ]


@settings(max_examples=30, deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 30))))
def test_only_known_pixels_are_known(missing: Flags) -> None:
    assert np.array_equal(kinds(missing) == HoleKind.KNOWN, ~missing)


@pytest.mark.parametrize("turn", [np.flipud, np.fliplr, np.transpose])
def test_kinds_turn_with_the_picture(turn: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    missing = randomly(0.3) | picture(np.s_[20:30, 10:60])
    assert np.array_equal(kinds(np.ascontiguousarray(turn(missing))), turn(kinds(missing)))
