"""What is known of a picture: bits, and the range of the values."""

import numpy as np
import pytest

from demosaic_ntc.engine.passes import ObservedPixels, bits_of

FLAGS = np.array([[[True, False, True]], [[False, False, True]], [[True, False, False]]])


def test_every_channel_has_a_bit_of_its_own() -> None:
    assert bits_of(FLAGS).tolist() == [[0b101, 0b000, 0b011]]


def test_more_channels_than_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="9 channels"):
        bits_of(np.ones((9, 2, 2), np.bool_))


def test_flags_come_back_and_the_range_is_that_of_known_values() -> None:
    planes = np.array([[[0.5, 9.0, 0.25]], [[-9.0, 9.0, 0.75]], [[0.125, -9.0, 9.0]]], np.float32)
    known = ObservedPixels.of(planes, FLAGS, np.zeros((1, 3), np.uint8))
    assert np.array_equal(np.stack([known.flags(channel) for channel in range(3)]), FLAGS)
    assert known.low.tolist() == [0.25, 0.75, 0.125]
    assert known.high.tolist() == [0.5, 0.75, 0.125]
    assert known.measured.size == 0
    assert not known.noise.any()
