"""The engine of inpainting as a whole: the known is kept, the far does not matter, gaps are counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demosaic_ntc import inpaint
from demosaic_ntc.imaging import regions
from demosaic_ntc.imaging.groups import Patches
from demosaic_ntc.imaging.kernels.hole_pass import HolePass
from demosaic_ntc.imaging.kinds import Kind
from demosaic_ntc.imaging.repair import METHODS, PLANS, Step, repair
from demosaic_ntc.imaging.restored import GroupCertificate, Progress
from demosaic_ntc.ntc.deadline import Deadline
from tests.imaging.waves import waves

Planes = NDArray[np.float32]
Flags = NDArray[np.bool_]


def texture(channels: int) -> Planes:
    return waves(channels, 36, 40)


def repaired(
    planes: Planes,
    known: Flags,
    *,
    method: str = "ntc",
    threads: int = 1,
    progress: Callable[[Progress], None] = lambda event: None,
    deadline: Deadline | None = None,
) -> tuple[Planes, GroupCertificate | None]:
    """Repair what is left of the planes."""
    shown = np.where(known, planes, np.float32(0))
    return repair(shown, known, method, "normal", threads, progress, deadline or Deadline())


def damage(channels: int, height: int = 36, width: int = 40) -> Flags:
    """Return what a block, a stroke and random loss leave known."""
    known = np.random.default_rng(0).random((height, width)) > 0.1
    known[5:17, 5:17] = False
    known[25:28, :] = False
    return np.broadcast_to(known, (channels, height, width)).copy()


@pytest.mark.parametrize("method", METHODS)
def test_entries_of_single_channels_come_back_and_the_others_stay(method: str) -> None:
    truth, known = texture(3), np.random.default_rng(1).random((3, 36, 40)) > 0.3
    image, _ = repaired(truth, known, method=method)
    assert np.array_equal(image[known], truth[known])
    assert np.abs(image - truth)[~known].mean() < 0.02


@settings(max_examples=15, deadline=None)
@given(
    arrays(np.bool_, st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 9))), st.integers(0, 9)
)
def test_any_mask_gives_finite_values_and_keeps_what_is_known(missing: Flags, seed: int) -> None:
    missing[:, 0, 0] = False
    planes = np.random.default_rng(seed).random(missing.shape).astype(np.float32)
    image, proof = repaired(planes, ~missing)
    assert np.array_equal(image[~missing], planes[~missing])
    assert np.isfinite(image).all()
    assert proof is not None
    assert (proof.groups > 0) == missing.any()


@pytest.mark.parametrize("shape", [(1, 2), (1, 13), (2, 3), (2, 11), (5, 5), (7, 2)])
def test_one_hole_anywhere_in_a_tiny_picture_is_repaired(shape: tuple[int, int]) -> None:
    planes = np.full((1, *shape), 0.25, np.float32)
    for place in np.ndindex(*shape):
        known = np.ones((1, *shape), np.bool_)
        known[0][place] = False
        assert repaired(planes, known)[0] == pytest.approx(planes, abs=1e-5)


def test_many_channels_are_repaired_in_sets() -> None:
    planes, known = texture(8), damage(8)
    together, proof = repaired(planes, known)
    first, last = (repaired(planes[half], known[half]) for half in (np.s_[:4], np.s_[4:]))
    assert np.array_equal(together, np.concatenate([first[0], last[0]]))
    assert proof is not None
    assert first[1] is not None
    assert last[1] is not None
    for counted in ("groups", "certified", "within_tolerance"):
        assert getattr(proof, counted) == getattr(first[1], counted) + getattr(last[1], counted)
    assert proof.worst_gap == max(first[1].worst_gap, last[1].worst_gap)


def test_threads_do_not_change_a_bit() -> None:
    one, two = (repaired(waves(3, 80, 140), damage(3, 80, 140), threads=threads) for threads in (1, 3))
    assert np.array_equal(one[0], two[0])
    assert one[1] == two[1]


@pytest.mark.parametrize(
    "laid_out",
    [np.asfortranarray, lambda image: image[::-1].copy()[::-1], lambda image: np.repeat(image, 2, 1)[:, ::2]],
)
def test_the_order_in_memory_does_not_matter(laid_out: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    image, missing = np.moveaxis(texture(3), 0, 2).copy(), ~damage(3)[0]
    plain = inpaint(image, missing, threads=1).image
    assert np.array_equal(inpaint(laid_out(image), laid_out(missing), threads=1).image, plain)


def wide_picture_with_two_holes() -> tuple[Planes, Flags]:
    known = np.ones((1, 40, 2000), np.bool_)
    known[:, 10:20, 10:20] = known[:, 15, 1900:1980] = False
    return waves(1, 40, 2000), known


def test_holes_far_apart_are_repaired_as_if_alone() -> None:
    planes, known = wide_picture_with_two_holes()
    both, proof = repaired(planes, known)
    left, right = (repaired(planes[..., part], known[..., part]) for part in (slice(200), slice(1700, None)))
    assert np.array_equal(both[..., :200], left[0])
    assert np.array_equal(both[..., 1700:], right[0])
    assert proof is not None
    assert left[1] is not None
    assert right[1] is not None
    assert proof.groups == left[1].groups + right[1].groups


def test_what_lies_far_from_all_holes_is_not_looked_at() -> None:
    planes, known = wide_picture_with_two_holes()
    changed = planes.copy()
    changed[..., 200:1700] = 0.0
    assert np.array_equal(repaired(changed, known)[0][~known], repaired(planes, known)[0][~known])


@pytest.mark.parametrize("method", METHODS)
def test_regions_within_a_hole_that_know_nothing_are_filled(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MARGIN", 4), ("_SMALL", 8), ("_LARGE", 8)):
        monkeypatch.setattr(regions, name, value)
    known = np.ones((2, 50, 50), np.bool_)
    known[:, 2:-2, 2:-2] = False
    planes = np.stack([np.full((50, 50), 0.25), np.full((50, 50), 0.75)]).astype(np.float32)
    assert repaired(planes, known, method=method)[0] == pytest.approx(planes, abs=1e-4)


def test_a_pass_over_one_kind_of_hole_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    known = np.ones((1, 60, 60), np.bool_)
    known[:, 20:32, 20:32] = known[:, 16, 26] = False  # a block, and a dead pixel whose patches touch it
    mean = HolePass(restored=6, ridge=0.0, radius=1.0, tolerance=1e-4, vertices=0, floor=1e-4)
    step = Step(Patches(size=6, stride=1, count=6, reach=6), (0.3, 0.05), mean)
    monkeypatch.setitem(PLANS, "normal", {Kind.SPARSE: (step,)})
    planes = waves(1, 60, 60)
    smooth, passed = repaired(planes, known, method="biharmonic")[0], repaired(planes, known)[0]
    assert np.array_equal(passed[:, 20:32, 20:32], smooth[:, 20:32, 20:32])
    assert passed[0, 16, 26] != smooth[0, 16, 26]


def test_after_the_deadline_nothing_is_certified_but_all_is_filled() -> None:
    truth, known = texture(3), damage(3)
    _, whole = repaired(truth, known)
    image, proof = repaired(truth, known, deadline=Deadline(1.0, clock=lambda: 2.0))
    assert np.isfinite(image).all()
    assert np.abs(image - truth)[~known].mean() < 0.1
    assert proof is not None
    assert whole is not None
    assert (proof.certified, proof.within_tolerance) == (0, 0)
    assert proof.groups == whole.groups


def test_gaps_are_counted_and_summarised() -> None:
    _, proof = repaired(texture(2), damage(2))
    assert proof is not None
    assert 0 < proof.within_tolerance <= proof.certified == proof.groups
    assert 0 <= proof.median_gap <= proof.worst_gap
    assert (proof.worst_gap <= proof.tolerance) == (proof.within_tolerance == proof.groups)


@pytest.mark.parametrize("channels", [1, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_progress_rises_to_the_number_of_missing_pixels(method: str, channels: int) -> None:
    planes, known = wide_picture_with_two_holes()
    events: list[Progress] = []
    repaired(
        np.repeat(planes, channels, axis=0),
        np.repeat(known, channels, axis=0),
        method=method,
        progress=events.append,
    )
    done = [event.done for event in events]
    assert done == sorted(done)
    assert done[0] > 0
    assert events[-1] == Progress("groups", 180, 180)
    assert {(event.stage, event.total) for event in events} == {("groups", 180)}
