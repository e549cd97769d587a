import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.data.masks import make_mask
from evaluation.measure.metrics import Bytes, cpsnr, eight_bit
from evaluation.methods.inpainters import DEFAULT, catalogue
from evaluation.methods.method import Effort, Method, pick_methods
from evaluation.methods.plain_tensors import complete_ours_folded
from evaluation.methods.tensors import TensorSamples

METHODS = catalogue(Effort("fast"))


@pytest.fixture(scope="module")
def truth() -> Bytes:
    y, x = np.mgrid[0:48, 0:56] / 6.0
    return eight_bit(127 + 90 * np.stack([np.sin(x + y), np.sin(x), np.cos(y)], axis=-1))


@pytest.fixture(scope="module")
def missing() -> NDArray[np.bool_]:
    return make_mask("random:40", (48, 56), 0)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_restores_most_and_keeps_what_is_known(
    method: Method, truth: Bytes, missing: NDArray[np.bool_]
) -> None:
    damaged = np.where(missing[..., None], 0, truth).astype(np.uint8)
    restored = eight_bit(method.run(damaged, missing).image)
    assert np.array_equal(restored[~missing], truth[~missing])
    assert cpsnr(restored, truth) > (20 if method.name in ("ntc-whole", "ntc-tiled") else 25)


def test_only_ours_is_ours_and_the_control_is_a_part() -> None:
    roles = {name: method.role for name, method in METHODS.items()}
    assert {name for name, role in roles.items() if role == "ours"} == {
        *("gaussian", "gaussian-fast", "gaussian-best", "ntc")
    }
    assert roles["biharmonic"] == "peer"


def test_settings_tell_results_of_different_effort_apart() -> None:
    fast, best = (
        pick_methods(catalogue(Effort(quality)), ["ntc"])[0].settings for quality in ("fast", "best")
    )
    assert "quality fast, 1 thread" in fast
    assert "quality best" in best
    assert all(name in METHODS for name in DEFAULT)


def test_blocks_are_put_back_where_they_were() -> None:
    """Stripes across the left half are one vertex of the tensor of blocks: half of the pixels tell all."""
    rows, columns = np.mgrid[:20, :32]
    stripes = np.repeat(((rows % 8 < 3) & (columns < 16))[..., None], 3, axis=2).astype(np.float64)
    index = np.argwhere(np.random.default_rng(0).random(stripes.shape) < 0.5)
    completed = complete_ours_folded(TensorSamples(stripes.shape, index, stripes[tuple(index.T)]))
    assert np.abs(completed - stripes).max() < 0.01
