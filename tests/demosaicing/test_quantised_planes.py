"""Pictures in few bytes: what is read is what was written, within half a step, and samples are exact."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.initial_estimate import SubsampledMap
from demosaic_ntc.demosaicing.quantised_planes import (
    MosaicSamples,
    QuantisedPlanes,
    Quantiser,
    decode_difference,
    encode_difference,
)
from tests.waves import waves

SHAPE = (70, 41)
WINDOW = (slice(None), slice(5, 68), slice(3, 20))


def stored(array: str) -> tuple[QuantisedPlanes, Float32]:
    """Return room for a picture and the picture."""
    cfa, planes = Cfa.parse(array), waves(3, *SHAPE)
    mosaic = cfa.sample(np.moveaxis(planes, 0, 2))
    steps = Quantiser.from_range(float(mosaic.min()), float(mosaic.max()))
    room = np.empty((2, *SHAPE), np.uint16)
    return QuantisedPlanes(MosaicSamples(mosaic), cfa, steps, room), planes


def test_steps_reach_beyond_the_samples_and_round_to_the_nearest() -> None:
    steps = Quantiser.from_range(0.25, 0.75)
    seen = np.linspace(0.19, 0.81, 100_001, dtype=np.float32)
    assert np.abs(steps.values(steps.encode(seen)) - seen).max() < 0.51 * steps.step
    assert steps.step == pytest.approx(0.5 * 1.25 / 65535)
    assert steps.encode(np.array([-1, 2], np.float32)).tolist() == [0, 65535]
    codes = np.arange(65536, dtype=np.uint16)
    assert np.array_equal(steps.encode(steps.values(codes)), codes)
    assert Quantiser.from_range(0.5, 0.5).values(np.array([0], np.uint16))[0] < 0.5


def test_differences_of_codes_fit_into_bytes_within_a_thirtieth() -> None:
    codes = np.arange(0, 65536, 7, dtype=np.uint16)
    for others in (np.zeros_like(codes), codes[::-1], np.full_like(codes, 65535)):
        apart = codes.astype(np.float64) - others
        kept = encode_difference(codes, others)
        assert kept.dtype == np.int8
        found = decode_difference(kept)
        assert (np.abs(found - apart) <= 1 / 30 * np.hypot(apart, 40)).all()
        assert np.array_equal(decode_difference(encode_difference(others, codes)), -found)
    assert decode_difference(encode_difference(codes, codes)).tolist() == [0] * len(codes)


@pytest.mark.parametrize("array", ["RGGB", "GBRG", "XTRANS", "RGB/GBR/BRG"])
def test_what_is_written_is_read_and_samples_stand_in_their_place(array: str) -> None:
    picture, planes = stored(array)
    measured = np.moveaxis(picture.cfa.masks(SHAPE), 2, 0)
    picture[:, :, :] = np.where(measured, 9, planes)
    assert np.abs(np.asarray(picture) - planes).max() < 0.51 * picture.steps.step
    assert np.array_equal(picture[:, :, :][measured], planes[measured])
    assert np.array_equal(picture[WINDOW], picture[:, :, :][WINDOW])
    assert (picture.shape, picture.size) == (planes.shape, planes.size)
    assert picture.others.nbytes == 4 * SHAPE[0] * SHAPE[1]


def test_windows_are_written_where_they_lie() -> None:
    picture, planes = stored("RGGB")
    picture[:, :, :] = planes
    before = picture[:, :, :]
    picture[WINDOW] = planes[WINDOW] + np.float32(0.01)
    changed = (picture[:, :, :] != before).any(axis=0)
    inside = np.zeros(SHAPE, np.bool_)
    inside[WINDOW[1:]] = True
    assert np.array_equal(changed, inside)


def test_measured_entries_are_written_once_they_are_stored_and_free() -> None:
    picture, planes = stored("RGGB")
    picture[:, :, :] = planes
    everything, free = picture.store_all(), np.zeros(SHAPE, np.bool_)
    assert np.abs(everything[:, :, :] - planes).max() < 0.51 * picture.steps.step
    everything[:, :, :] = planes + np.float32(0.01)
    assert np.abs(everything[:, :, :] - planes - 0.01).max() < 0.6 * picture.steps.step
    drawn = np.random.default_rng(5)
    for share in (0.0, 0.02, 0.4):
        free = drawn.random(SHAPE) < share
        picture[:, :, :] = planes
        some = picture.store_some(free)
        assert np.abs(some[:, :, :] - planes).max() < 0.51 * picture.steps.step
        some[:, :, :] = planes + np.float32(0.01)
        moved = np.abs(some[:, :, :] - planes) > 0.005
        measured = np.moveaxis(picture.cfa.masks(SHAPE), 2, 0)
        assert moved[~measured].all()
        assert np.array_equal(moved[measured], np.broadcast_to(free, moved.shape)[measured])
        assert np.array_equal(some[WINDOW], some[:, :, :][WINDOW])
        some[WINDOW] = planes[WINDOW] + np.float32(0.03)
        again = np.abs(some[:, :, :] - planes - 0.03) < 0.005
        outside = np.ones(SHAPE, np.bool_)
        outside[WINDOW[1:]] = False
        assert not again[:, outside].any()
        assert np.array_equal(again[measured], np.broadcast_to(free & ~outside, moved.shape)[measured])


def test_smooth_maps_are_read_on_straight_lines_between_what_is_kept() -> None:
    rows, columns = np.indices((30, 27), np.float32)
    values, coarse = 3 * rows + 2 * columns, SubsampledMap((30, 27))
    for top in range(0, 30, 7):
        place = slice(top, min(top + 7, 30)), slice(0, 27)
        coarse.write(*place, values[place])
    found = coarse.read(slice(0, 30), slice(0, 27))
    assert found[:29, :25] == pytest.approx(values[:29, :25])
    assert found[29] == pytest.approx(found[28])  # beyond the last that is kept
    part = slice(3, 22), slice(5, 26)
    assert np.array_equal(coarse.read(*part), found[part])
    assert coarse.at(np.array([[8, 12], [11, 15], [29, 26]])).tolist() == [48, 48, 132]
