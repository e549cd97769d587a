"""inpaint: every type and range, known entries untouched, and input that is refused with its place."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demosaic_ntc import inpaint
from demosaic_ntc.errors import BadMask, InputError
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.inpaint import _has_whole_block, too_wide
from demosaic_ntc.inpainting.scaling import Scale, extremes_of
from demosaic_ntc.run import Progress, Run

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

RANGES = [
    ("uint8", 255),
    ("int8", 127),
    ("uint16", 65535),
    ("uint16", 1023),
    ("int16", 32767),
    ("uint32", 2**32 - 1),
    ("int32", 1000),
    ("uint64", 2**64 - 2**12),
    ("int64", 2**62),
    ("float16", 1.0),
    ("float32", 1.0),
    ("float32", 1e-6),
    ("float32", 1e6),
    ("float64", 255.0),
]


@pytest.fixture(scope="module")
def scratched() -> Flags:
    """A scratch, a dead row, a block and some dead pixels."""
    missing = np.zeros((48, 40), dtype=np.bool_)
    missing[np.arange(5, 35), np.arange(5, 35)] = True
    missing[40] = True
    missing[20:25, 30:35] = True
    missing[2::9, 3::7] = True
    return missing


def _picture(scene: Floats, dtype: str, white: float) -> NDArray[Any]:
    """The scene in another type and range."""
    scaled = scene[:48, :40].astype(np.float64) * white
    return scaled.astype(dtype) if dtype.startswith("f") else np.floor(scaled).astype(dtype)


@pytest.mark.parametrize(("dtype", "white"), RANGES)
@pytest.mark.parametrize("method", ["ntc", "biharmonic"])
def test_known_entries_and_type_stay_and_the_rest_comes_close(
    method: Any, dtype: str, white: float, scene: Floats, scratched: Flags
) -> None:
    truth = _picture(scene, dtype, white)
    damaged = truth.copy()
    damaged[scratched] = 0
    restored = inpaint(damaged, scratched, method=method, quality="fast").image
    assert restored.dtype == truth.dtype
    assert np.array_equal(restored[~scratched], truth[~scratched])
    error = np.abs(restored[scratched].astype(np.float64) - truth[scratched].astype(np.float64))
    assert error.mean() < 0.05 * white


def test_the_input_itself_is_left_alone(scene: Floats, scratched: Flags) -> None:
    picture, before = scene[:48, :40].copy(), scene[:48, :40].copy()
    inpaint(picture, scratched, method="biharmonic")
    assert np.array_equal(picture, before)


@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_any_number_of_channels(channels: int, scene: Floats, scratched: Flags) -> None:
    truth = np.dstack([scene[:48, :40, i % 3] for i in range(channels)])
    restored = inpaint(np.where(scratched[..., None], 0, truth), scratched, quality="fast").image
    assert restored.shape == truth.shape
    assert np.abs(restored - truth).mean() < 0.02


def test_a_grey_picture_is_like_one_of_one_channel(scene: Floats, scratched: Flags) -> None:
    grey = scene[:48, :40, 1]
    flat = inpaint(grey, scratched, quality="fast").image
    deep = inpaint(grey[..., None], scratched, quality="fast").image
    assert flat.shape == (48, 40)
    assert np.array_equal(flat, deep[..., 0])


def test_single_entries_may_be_missing(scene: Floats) -> None:
    truth = scene[:48, :40]
    missing = np.zeros(truth.shape, dtype=np.bool_)
    missing[12, 10:30, 2] = True
    restored = inpaint(np.where(missing, 0, truth), missing, quality="fast").image
    assert np.array_equal(restored[..., :2], truth[..., :2])
    assert np.abs(restored[missing] - truth[missing]).mean() < 0.1


def test_threads_do_not_change_the_result(scene: Floats, scratched: Flags) -> None:
    one, two = (inpaint(scene[:48, :40], scratched, quality="fast", threads=n).image for n in (1, 2))
    assert np.array_equal(one, two)


def test_what_stands_at_missing_entries_does_not_matter(scene: Floats, scratched: Flags) -> None:
    clean = scene[:48, :40].astype(np.float64)
    results = []
    for value in (0.0, np.nan, np.inf, -1e300):
        damaged = clean.copy()
        damaged[scratched] = value
        results.append(inpaint(damaged, scratched, quality="fast").image)
    assert np.isfinite(results[0]).all()
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_a_shifted_and_scaled_picture_gives_the_shifted_and_scaled_result(scratched: Flags) -> None:
    y, x = np.mgrid[:48, :40]
    faint = 1000 + 0.5 * np.sin(x / 4) * np.cos(y / 5)  # a thousandth of its range: floats would lose it
    restored = inpaint(faint, scratched, method="biharmonic").image
    assert np.abs(restored - faint)[scratched].mean() < 0.05


def test_nothing_restored_leaves_the_range(scratched: Flags) -> None:
    picture = np.where(np.indices((48, 40)).sum(axis=0) % 9 < 4, 0, 255).astype(np.uint8)
    for method in ("ntc", "biharmonic"):
        wide = inpaint(picture.astype(np.float64), scratched, method=method, quality="fast").image
        assert wide.min() >= 0
        assert wide.max() <= 255


@pytest.mark.parametrize("quality", ["fast", "normal"])
def test_nothing_missing_gives_the_same_bits_back(quality: Any) -> None:
    picture = np.random.default_rng(0).random((9, 7, 3))
    restored = inpaint(picture, np.zeros((9, 7), np.bool_), quality=quality)
    assert restored.image.tobytes() == picture.tobytes()
    assert restored.image is not picture
    assert restored.certificate is None
    assert restored.notices == ("nothing is missing, nothing to do",)


def test_a_channel_without_data_becomes_the_mean_of_the_others(scene: Floats, scratched: Flags) -> None:
    missing = np.repeat(scratched[..., None], 3, axis=2)
    missing[..., 1] = True
    restored = inpaint(scene[:48, :40], missing, quality="fast")
    assert restored.notices == ("no data in channel 1; it became the mean of the others",)
    assert np.isfinite(restored.image).all()
    expected = restored.image[..., [0, 2]].mean(axis=2)
    assert restored.image[..., 1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("border", [np.s_[:2, :], np.s_[:, :1], np.s_[30:, 30:]])
def test_missing_borders_are_restored(border: tuple[slice, slice], scene: Floats) -> None:
    missing = np.zeros((40, 40), dtype=np.bool_)
    missing[border] = True
    restored = inpaint(scene[:40, :40], missing, quality="fast").image
    assert np.isfinite(restored).all()
    assert restored.min() >= 0
    assert restored.max() <= 1


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (1, 9), (2, 3), (5, 5), (7, 3)])
@pytest.mark.parametrize("method", ["gaussian", "ntc", "biharmonic"])
def test_pictures_smaller_than_a_patch(shape: tuple[int, int], method: Any) -> None:
    picture = np.full((*shape, 3), 40, np.uint8)
    missing = np.zeros(shape, np.bool_)
    missing[-1, -1] = True
    picture[-1, -1] = 255
    restored = inpaint(picture, missing, method=method).image
    assert np.abs(restored.astype(int) - 40).max() <= 1


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_flat_pictures_stay_flat_under_any_mask(data: st.DataObject) -> None:
    missing = data.draw(arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))))
    level = data.draw(st.integers(0, 255))
    picture = np.full(missing.shape, level, np.uint8)
    if missing.all():
        with pytest.raises(BadMask):
            inpaint(picture, missing)
    else:
        assert (inpaint(picture, missing, method="biharmonic").image == level).all()


def test_everything_missing_is_refused_before_any_work() -> None:
    events: list[Progress] = []
    with pytest.raises(BadMask, match="nothing is known, cannot complete"):
        inpaint(np.zeros((4, 5)), np.ones((4, 5), np.bool_), progress=events.append)
    assert not events


@pytest.mark.parametrize("shape", [(3, 5), (5, 4), (4, 5, 2), (4,)])
def test_a_mask_of_another_shape_is_refused_with_both_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(BadMask) as refused:
        inpaint(np.zeros((4, 5, 3)), np.zeros(shape, np.bool_))
    for expected in (str(shape), "(4, 5)", "(4, 5, 3)"):
        assert expected in str(refused.value)


@pytest.mark.parametrize(("kind", "white"), [("uint8", 255), ("uint8", 1), ("uint16", 255)])
def test_masks_as_files_hold_them_are_flags(kind: str, white: int) -> None:
    picture, missing = np.arange(400, dtype=np.uint8).reshape(20, 20) % 100, np.zeros((20, 20), bool)
    missing[8:10, 8:12] = True
    expected = inpaint(picture, missing, method="biharmonic").image
    stored = (missing * white).astype(kind)
    assert np.array_equal(inpaint(picture, stored, method="biharmonic").image, expected)


@pytest.mark.parametrize("levels", [[0, 128, 255], [0, 7], [0, 1, 255]])
def test_masks_of_other_numbers_are_refused(levels: list[int]) -> None:
    missing = np.zeros((4, 5), np.uint8)
    missing[0, : len(levels)] = levels
    with pytest.raises(BadMask, match=r"uint8 of shape .*booleans, or 0 and 255"):
        inpaint(np.zeros((4, 5)), missing)
    with pytest.raises(BadMask, match="int64 of shape"):
        inpaint(np.zeros((4, 5)), missing.astype(np.int64))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_no_pixel_deep_in_a_hole_is_without_a_block_that_is_missing(seed: int) -> None:
    generator, missing = np.random.default_rng(seed), np.zeros((41, 33), np.bool_)
    top, left = generator.integers(0, 20, 2)
    missing[top : top + generator.integers(3, 16), left : left + generator.integers(3, 16)] = True
    for depth in range(1, 8):
        if (depths(missing) > depth).any():
            assert _has_whole_block(missing, depth + 1)
    assert not _has_whole_block(missing, 17)


def test_holes_that_are_too_wide_are_told() -> None:
    picture, missing = np.full((90, 90), 100, np.uint8), np.zeros((90, 90), bool)
    missing[30:54, 30:54] = True  # no pixel is more than 12 inside
    assert inpaint(picture, missing, method="biharmonic").notices == ()
    missing[30:56, 30:56] = True
    (notice,) = inpaint(picture, missing, method="biharmonic").notices
    assert notice.startswith("less than 1% of what was restored lies more than 12 pixels inside holes")
    assert too_wide(20, 100)[0].startswith("20% of what was restored")


@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "NaN or infinite"), (np.inf, "NaN or infinite"), (-0.25, "negative")]
)
def test_known_values_that_cannot_be_are_refused_with_count_and_place(value: float, what: str) -> None:
    picture, missing = np.full((6, 8, 3), 0.5), np.zeros((6, 8), np.bool_)
    picture[2, 3, 1] = picture[4, 5, 0] = picture[0, 0, 0] = value
    missing[0, 0] = True
    with pytest.raises(InputError, match=f"{what}: 2, the first at row 2, column 3, channel 1; "):
        inpaint(picture, missing)


def test_negative_integers_are_refused() -> None:
    with pytest.raises(InputError, match="negative: 1, the first at row 1, column 0; "):
        inpaint(np.array([[1, 2], [-3, 4]]), np.array([[True, False], [False, False]]))


@pytest.mark.parametrize(
    ("picture", "reason"),
    [
        (np.zeros((4, 5), np.bool_), "bool, which are not numbers"),
        (np.zeros((4, 5), np.complex128), "complex128, which are not numbers"),
        (np.zeros(5), r"shape \(5,\) is not a picture"),
        (np.zeros((2, 4, 5, 3)), r"shape \(2, 4, 5, 3\) is not a picture"),
        (np.zeros((0, 5)), r"shape \(0, 5\) is not a picture"),
    ],
)
def test_arrays_that_are_no_pictures_are_refused(picture: NDArray[Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        inpaint(picture, np.zeros(picture.shape[:2], np.bool_))


@pytest.mark.parametrize("wrong", [{"method": "magic"}, {"quality": "superb"}, {"threads": 0}])
def test_unknown_choices_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"; (use one of|give)"):
        inpaint(np.zeros((4, 5)), np.zeros((4, 5), np.bool_), **wrong)


def test_progress_ends_where_it_said() -> None:
    events: list[Progress] = []
    missing = np.zeros((30, 30), np.bool_)
    missing[10:14] = True
    inpaint(np.random.default_rng(0).random((30, 30)), missing, progress=events.append)
    assert events
    last = {event.stage: event for event in events}
    assert all(event.done == event.total for event in last.values())


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (np.array([0, 200], np.uint8), Scale(0, 255, 255)),
        (np.array([0, 1000], np.uint16), Scale(0, 1023, 1023)),
        (np.array([0.1, 0.9]), Scale(0, 1, 1)),
        (np.array([0.5, 0.501]), Scale(0.5, 0.501 - 0.5, 1)),
        (np.array([7, 7], np.uint8), Scale(0, 255, 255)),
    ],
)
def test_the_scale_is_that_of_the_type_unless_values_crowd(known: NDArray[Any], expected: Scale) -> None:
    planes = known[None, None]
    assert Scale.of(extremes_of(planes, np.zeros_like(planes, dtype=np.bool_), Run())) == expected


def test_only_completion_is_certified(scene: Floats, scratched: Flags) -> None:
    results = {
        method: inpaint(scene[:48, :40], scratched, method=method, quality="fast").certificate
        for method in ("gaussian", "ntc", "biharmonic")
    }
    assert results["gaussian"] is None
    assert results["biharmonic"] is None
    proof = results["ntc"]
    assert proof is not None
    assert 0 < proof.close <= proof.completed <= proof.groups
    assert 1 <= proof.median_ratio < 1.2


def test_a_time_limit_gives_a_picture_that_is_not_certified(scene: Floats, scratched: Flags) -> None:
    restored = inpaint(scene[:48, :40], scratched, method="ntc", time_limit=1e-9)
    assert np.isfinite(restored.image).all()
    assert restored.certificate is not None
    assert restored.certificate.completed == 0


def test_noise_that_is_told_is_not_gone_on_with(scene: Floats) -> None:
    noisy = np.clip(scene + np.random.default_rng(2).normal(0, 0.06, scene.shape), 0, 1).astype(np.float32)
    lost = np.random.default_rng(3).random(scene.shape[:2]) < 0.4
    plain, told = (inpaint(noisy, lost, noise=noise).image for noise in (None, 0.06))
    each = inpaint(noisy, lost, noise=[0.06] * 3).image
    assert np.array_equal(told[~lost], noisy[~lost])
    assert np.array_equal(told, each)
    error = [np.square(image - scene)[lost].mean() for image in (plain, told)]
    assert error[1] < 0.9 * error[0]


def test_noise_of_other_channels_is_refused(scene: Floats, scratched: Flags) -> None:
    with pytest.raises(InputError, match="3 channels"):
        inpaint(scene[:48, :40], scratched, noise=[0.1, 0.1])


def test_wrong_noise_is_refused_where_nothing_is_missing(scene: Floats) -> None:
    with pytest.raises(InputError, match="noise"):
        inpaint(scene, np.zeros(scene.shape[:2], bool), noise=[0.1, 0.1])


def test_a_smooth_channel_beside_rough_ones_is_not_drawn_to_one_side() -> None:
    rough = np.random.default_rng(1).integers(0, 2, (64, 64, 2)) * 65535
    smooth = 20000 + 5 * np.add.outer(np.arange(64), np.arange(64))
    lost = np.zeros((64, 64), bool)
    lost[20:40, 20:40] = True
    restored = inpaint(np.dstack([rough, smooth]).astype(np.uint16), lost, quality="fast", threads=1).image
    assert abs((restored[..., 2] - smooth.astype(float))[lost].mean()) < 15
