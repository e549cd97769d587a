"""The camera's own picture as a guide: what is taken off it, and when it is not believed."""

import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.preview import decode_guide, part_means, shows_scene

Bytes = NDArray[np.uint8]


def _scene(seed: int = 0, height: int = 96, width: int = 144) -> NDArray[np.float64]:
    """Smooth light of some stops."""
    coarse = np.random.default_rng(seed).uniform(-4, -0.5, (6, 9)).astype(np.float32)
    stops = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(np.exp2(np.asarray(stops, dtype=np.float64)))


def _pixels(plane: NDArray[np.float64]) -> Bytes:
    codes = np.rint(255 * np.sqrt(np.clip(plane, 0, 1))).astype(np.uint8)
    return np.repeat(codes[..., None], 3, axis=2)


def test_black_frames_are_taken_off() -> None:
    inner = np.maximum(_pixels(_scene()), 30)
    framed = np.pad(inner, ((12, 12), (0, 8), (0, 0)), constant_values=3)
    found = decode_guide(framed)
    assert found is not None
    assert np.array_equal(found, inner)


def test_jpegs_are_decoded_small() -> None:
    stored = io.BytesIO()
    Image.fromarray(np.maximum(_pixels(_scene(0, 1600, 2400)), 30)).save(stored, "JPEG")
    found = decode_guide(stored.getvalue())
    assert found is not None
    assert 256 <= min(found.shape[:2]) < 512


@pytest.mark.parametrize(
    "odd",
    [
        None,
        b"no JPEG",
        np.full((20, 200, 3), 90, np.uint8),
        np.zeros((200, 200, 3), np.uint8),
        np.full((200, 200), 90, np.uint8),
        np.full((200, 200, 4), 90, np.uint8),
        np.full((200, 200, 3), 9000, np.uint16),
        np.zeros((0, 0, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_no_guide(odd: Bytes | bytes | None) -> None:
    assert decode_guide(odd) is None


@pytest.mark.parametrize("orientation", range(1, 9))
def test_one_scene_is_known_again(orientation: int) -> None:
    """Under another curve, cut, noisy, and lying or upright."""
    seen = _scene()
    noise = 1 + 0.1 * np.random.default_rng(1).standard_normal(seen.shape)
    own = 0.9 * (np.maximum(seen * noise, 0) ** 0.6)[6:-6, 9:-9]
    assert shows_scene(own, seen, orientation)
    assert shows_scene(orient(own, orientation), seen, orientation)


def test_another_scene_is_not_taken_for_this_one() -> None:
    believed = [shows_scene(_scene(seed), _scene(0), 1) for seed in range(1, 21)]
    assert sum(believed) == 0
    assert not shows_scene(1 / _scene(0), _scene(0), 1)


def test_flat_scenes_are_alike() -> None:
    flat = np.full((60, 90), 0.2)
    assert shows_scene(flat, 3 * flat, 1)
    assert not shows_scene(flat, _scene(), 1)
    assert not shows_scene(_scene(), flat, 1)


def test_parts_have_the_means_of_their_pixels() -> None:
    plane = np.arange(26.0 * 30).reshape(26, 30)
    parts = part_means(plane)
    assert parts.shape == (12, 12)
    assert parts[0, 0] == plane[:2, :2].mean()
    assert parts[-1, -1] == plane[23:, 27:].mean()
    assert part_means(np.stack([plane, 2 * plane], axis=-1))[..., 1] == pytest.approx(2 * parts)
