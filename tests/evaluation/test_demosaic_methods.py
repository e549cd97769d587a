import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import demosaic
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError, Unsupported
from evaluation.measure.metrics import Bytes, cpsnr, eight_bit
from evaluation.methods.demosaicers import TILE, catalogue, complete_tiles, default_names
from evaluation.methods.libraw import XTRANS_LEAST, demosaic_libraw, demosaic_markesteijn
from evaluation.methods.method import Effort, pick_methods
from evaluation.methods.tensors import Floats, TensorSamples

BAYER, XTRANS, QUAD = Cfa.from_name("RGGB"), Cfa.from_name("XTRANS"), Cfa.from_name("QUAD_RGGB")

# Completion of a whole mosaic is no demosaicing: at each row and column parity a channel is never seen.
NO_DEMOSAICERS = {"als", "silrtc", "tncp", "ntc-whole", "ntc-tiled"}


def scene(height: int, width: int) -> Bytes:
    """Smooth colours that differ by channel."""
    y, x = np.mgrid[0:height, 0:width] / 24.0
    waves = (np.sin(x + 0.3), np.sin(x + y), np.cos(y - 0.2 * x))
    return eight_bit(np.stack([127 + 90 * wave for wave in waves], axis=-1))


def inside(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    return picture[4:-4, 4:-4]


@pytest.mark.parametrize("name", ["RGGB", "BGGR", "GRBG", "GBRG"])
def test_libraw_linear_through_the_raw_is_our_bilinear_away_from_the_border(name: str) -> None:
    cfa, generator = Cfa.from_name(name), np.random.default_rng(1)
    mosaic = generator.integers(0, 256, (37, 46)).astype(np.uint8)
    ours, theirs = demosaic(mosaic, cfa, method="bilinear").image, demosaic_libraw("linear", mosaic, cfa)
    assert np.abs(inside(ours) - inside(theirs)).max() <= 1.01 / 257


def test_libraws_methods_keep_the_scale_of_an_eight_bit_mosaic() -> None:
    grey = np.full((40, 40), 200, np.uint8)
    np.testing.assert_allclose(demosaic_libraw("ahd", grey, BAYER), 200.0, atol=0.01)


@pytest.mark.parametrize("phase", [(0, 0), (1, 2), (5, 4)])
def test_small_xtrans_mosaics_reach_markesteijns_method_by_reflection(phase: tuple[int, int]) -> None:
    cfa, truth = XTRANS.shift(*phase), scene(61, 70)
    assert min(truth.shape[:2]) < XTRANS_LEAST
    restored = demosaic_markesteijn(1, cfa.sample(truth), cfa)
    assert restored.shape == truth.shape
    linear = demosaic_libraw("linear", cfa.sample(truth), cfa)
    errors = [
        np.abs(inside(picture) - inside(truth.astype(np.float32))).mean() for picture in (restored, linear)
    ]
    assert errors[0] < 0.7 * errors[1]


@pytest.mark.parametrize("phase", [(0, 0), (1, 2), (5, 4)])
def test_reflected_samples_fall_on_pixels_of_their_own_colour(phase: tuple[int, int]) -> None:
    cfa, truth = XTRANS.shift(*phase), np.full((62, 71, 3), (200, 100, 50), np.uint8)
    np.testing.assert_allclose(demosaic_markesteijn(1, cfa.sample(truth), cfa), truth, atol=0.5)


@pytest.mark.parametrize("name", list(catalogue(Effort("fast"))))
def test_every_method_restores_a_smooth_picture_or_is_known_not_to(name: str) -> None:
    cfa = XTRANS if "markesteijn" in name else BAYER
    truth = scene(28, 34)
    restored = catalogue(Effort("fast"))[name].run(cfa.sample(truth), cfa).image
    assert restored.shape == truth.shape
    assert cpsnr(eight_bit(restored), truth) > (8 if name in NO_DEMOSAICERS else 29)


@pytest.mark.parametrize("name", ["menon", "opencv-ea", "libraw-ahd", "libraw-vng", "libraw-markesteijn-3"])
def test_arrays_that_a_library_does_not_know_are_refused(name: str) -> None:
    with pytest.raises(Unsupported, match="leave it out"):
        catalogue(Effort())[name].run(np.zeros((24, 24), np.uint8), QUAD)


@pytest.mark.parametrize("cfa", [BAYER, XTRANS])
def test_the_usual_methods_exist_and_know_the_array(cfa: Cfa) -> None:
    usual = pick_methods(catalogue(Effort("fast")), default_names(cfa))
    assert [method.role for method in usual[:5]] == ["ours", "ours", "ours", "ours", "part"]
    assert {"als", "silrtc", "ntc-whole", "ntc-tiled"} <= {method.name for method in usual}
    for method in usual:
        assert method.run(cfa.sample(scene(24, 24)), cfa).image.shape == (24, 24, 3)


def test_unknown_methods_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="no method amaze; choose from gaussian, "):
        pick_methods(catalogue(Effort()), ["ntc", "amaze"])


def test_settings_tell_results_of_different_effort_apart() -> None:
    usual, other = catalogue(Effort("normal", 1)), catalogue(Effort("best", 2))
    assert usual["ntc"].settings != other["ntc"].settings
    assert usual["gaussian-fast"].settings.startswith("quality fast, 1 thread, demosaic-ntc ")


def test_completion_sees_each_tile_as_a_tensor_of_its_own() -> None:
    shapes: list[tuple[int, ...]] = []

    def observe(samples: TensorSamples) -> Floats:
        shapes.append(samples.shape)
        tile = np.full(samples.shape, np.nan)
        tile[tuple(samples.index.T)] = samples.value
        return tile

    truth = scene(TILE + 2, 2 * TILE)
    picture = complete_tiles(observe, BAYER.sample(truth), BAYER)
    assert shapes == [(TILE // 2 + 1, TILE, 3)] * 4
    np.testing.assert_array_equal(
        eight_bit(picture[BAYER.masks(truth.shape[:2])]), truth[BAYER.masks(truth.shape[:2])]
    )
    assert np.isnan(picture).sum() == 2 * truth.size // 3
