"""What both entrances promise of any input: finite results or a refusal by name, and honest certificates."""

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import complete, demosaic, inpaint
from demosaic_ntc.engine.groups import unproven
from demosaic_ntc.engine.result import NormCertificate, Restored
from demosaic_ntc.errors import DemosaicNtcError
from demosaic_ntc.run import Deadline

SCALES = [1e-300, 1e-100, 1e-45, 1e-38, 1e-30, 1e-10, 1.0, 1e10, 1e30, 3e38, 1e39, 1e100, 1e300]


def _picture(side: int = 40) -> NDArray[np.float64]:
    y, x = np.mgrid[:side, :side] / side
    return np.stack([0.2 + 0.6 * x, 0.3 + 0.5 * y, 0.9 - 0.4 * x * y], axis=2)


def _mosaic(side: int = 40) -> NDArray[np.float64]:
    picture = _picture(side)
    mosaic = picture[..., 1].copy()
    mosaic[::2, ::2], mosaic[1::2, 1::2] = picture[::2, ::2, 0], picture[1::2, 1::2, 2]
    return mosaic


def _missing(side: int = 40) -> NDArray[np.bool_]:
    return np.random.default_rng(1).random((side, side)) < 0.1


@pytest.mark.parametrize("method", ["gaussian", "ntc", "bilinear", "blend"])
@pytest.mark.parametrize("scale", SCALES)
def test_mosaics_of_any_finite_range(scale: float, method: Any) -> None:
    with np.errstate(all="raise"):
        mosaic = _mosaic() * scale
    restored = demosaic(mosaic, "RGGB", method=method, error=method == "ntc")
    assert np.isfinite(restored.image).all()
    assert restored.error is None or np.isfinite(restored.error).all()
    # As good as in the scale of one, up to what types of numbers hold.
    assert np.abs(restored.image / scale - _picture()).max() < 0.1
    np.testing.assert_allclose(restored.image[::2, ::2, 0], mosaic[::2, ::2], rtol=1e-6)


@pytest.mark.parametrize("method", ["gaussian", "ntc", "biharmonic"])
@pytest.mark.parametrize("scale", SCALES)
def test_pictures_of_any_finite_range(scale: float, method: Any) -> None:
    picture, missing = _picture() * scale, _missing()
    restored = inpaint(picture, missing, method=method, error=method == "ntc")
    assert restored.image.dtype == np.float64
    assert np.isfinite(restored.image).all()
    assert restored.error is None or np.isfinite(restored.error).all()
    np.testing.assert_array_equal(restored.image[~missing], picture[~missing])
    assert np.abs(restored.image / scale - _picture()).max() < 0.1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_floats_of_any_type_at_the_end_of_their_range(dtype: Any) -> None:
    top = dtype(min(float(np.finfo(dtype).max), 1e300))
    mosaic = (_mosaic() * float(top) * 0.9).astype(dtype)
    assert np.isfinite(demosaic(mosaic, "RGGB", method="bilinear").image).all()
    assert np.isfinite(inpaint(mosaic, _missing()).image).all()


@pytest.mark.skipif(
    bool(np.finfo(np.longdouble).max == np.finfo(np.float64).max), reason="no larger numbers here"
)
def test_numbers_beyond_every_scale_are_refused() -> None:
    mosaic = _mosaic().astype(np.longdouble) * np.longdouble("1e400")
    with pytest.raises(DemosaicNtcError, match="scale them down"):
        demosaic(mosaic, "RGGB")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"white": 1e-300}, "far below the samples"),
        ({"noise": 1e300}, "far beyond full scale"),
        ({"noise": [1e-3, 1e300, 1e-3]}, "far beyond full scale"),
    ],
)
def test_scales_that_do_not_fit_are_refused_by_name(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DemosaicNtcError, match=words):
        demosaic(_mosaic(), "RGGB", **options)


def test_samples_far_below_zero_are_refused() -> None:
    mosaic = _mosaic()
    mosaic[3, 3] = -1e300
    with pytest.raises(DemosaicNtcError, match="far below zero"):
        demosaic(mosaic, "RGGB", noise=0.1)


@pytest.mark.parametrize("cfa", [5, None, b"RGGB", ["RGGB"], 1.5, object()])
def test_colour_arrays_that_are_none(cfa: Any) -> None:
    with pytest.raises(DemosaicNtcError, match="is not a name"):
        demosaic(_mosaic(), cfa)


@pytest.mark.parametrize("threads", [1.5, "2", 0, -1, float("nan"), [1]])
def test_threads_that_are_none(threads: Any) -> None:
    with pytest.raises(DemosaicNtcError, match="threads"):
        demosaic(_mosaic(), threads=threads)
    with pytest.raises(DemosaicNtcError, match="threads"):
        inpaint(_picture(), _missing(), threads=threads)


@pytest.mark.parametrize("limit", ["x", float("nan"), -1, [1], 1j])
def test_time_limits_that_are_none(limit: Any) -> None:
    with pytest.raises(DemosaicNtcError, match="time_limit"):
        demosaic(_mosaic(), time_limit=limit)
    with pytest.raises(DemosaicNtcError, match="time_limit"):
        inpaint(_picture(), _missing(), time_limit=limit)


@pytest.mark.parametrize("white", ["x", float("nan"), -1, 0, [1]])
def test_white_levels_that_are_none(white: Any) -> None:
    with pytest.raises(DemosaicNtcError, match="white level"):
        demosaic(_mosaic(), white=white)


@pytest.mark.parametrize("denoise", ["x", float("nan"), -1, [1]])
def test_strengths_that_are_none(denoise: Any) -> None:
    with pytest.raises(DemosaicNtcError, match="denoise"):
        demosaic(_mosaic(), noise=0.1, denoise=denoise)


def test_masks_and_imaginary_parts_are_not_ignored() -> None:
    masked: Any = np.ma.MaskedArray(_mosaic(), _missing())
    with pytest.raises(DemosaicNtcError, match="masked array"):
        demosaic(masked)
    with pytest.raises(DemosaicNtcError, match="masked array"):
        inpaint(masked, _missing())
    with pytest.raises(DemosaicNtcError, match="not numbers"):
        demosaic(_mosaic() * 1j)
    with pytest.raises(DemosaicNtcError, match="not numbers"):
        inpaint(_picture() * 1j, _missing())
    index, value = np.array([[0, 0], [1, 1]]), np.array([1.0, 2.0])
    wrongs: list[Any] = [value * 1j, masked[0, :2]]
    for wrong in wrongs:
        with pytest.raises(DemosaicNtcError, match="value is not an array of numbers"):
            complete((2, 2), index, wrong)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"deadline": "x"}, "deadline"),
        ({"deadline": float("nan")}, "deadline"),
    ],
)
def test_completions_that_are_asked_for_wrongly(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DemosaicNtcError, match=words):
        complete((2, 2), [[0, 0]], [1.0], **options)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-30, 1e30, 1e100, 1e150, 1e300])
def test_tensors_of_any_range_are_finite_or_refused(scale: float) -> None:
    index, value = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1]]), np.array([1.0, 2.0, 0.5]) * scale
    if not 1e-120 < scale < 1e120:
        with pytest.raises(DemosaicNtcError, match="scale it"):
            complete((2, 2, 2), index, value, radius=4 * scale)
        return
    solution = complete((2, 2, 2), index, value, radius=4 * scale)
    assert np.isfinite(solution.at(index)).all()
    assert not np.isnan(solution.certificate.gap)


def test_nothing_completed_is_nothing_proven() -> None:
    for groups in (0, 7):
        nothing = NormCertificate.of(unproven(groups))
        assert nothing.median_ratio == np.inf
        assert nothing.facts["upper over lower bound"] == "none proven"
        assert (nothing.groups, nothing.completed, nothing.close, nothing.share) == (groups, 0, 0, 0)


def test_a_certificate_counts_the_norms_that_are_closely_known() -> None:
    bounds = np.array([[1, 1.05, 4], [1, 2, 6], [0, 0, 0], [0, np.inf, 0]], np.float32)
    some = NormCertificate.of(bounds)
    assert (some.groups, some.completed, some.close, some.share) == (4, 3, 2, 0.5)
    assert some.median_ratio == pytest.approx(1.05)
    assert some.vertices == pytest.approx(10 / 3)


def _ran_out(restored: Restored) -> bool:
    return any("time ran out" in notice for notice in restored.notices)


def test_time_that_ran_out_is_said() -> None:
    picture = _picture(300)
    mosaic = _mosaic(300) + np.random.default_rng(0).random((300, 300)) * 0.3
    for restored in (
        demosaic(mosaic, time_limit=0.0),
        demosaic(mosaic, method="ntc", time_limit=0.0, error=True),
        demosaic(mosaic, time_limit=0.0, noise=0.05, error=True),
        demosaic(mosaic, "XTRANS", method="ntc", time_limit=0.0),
        inpaint(picture, _missing(300), method="ntc", time_limit=0.0, error=True),
    ):
        assert _ran_out(restored)
        assert restored.certificate is None or restored.certificate.completed == 0
        assert np.isfinite(restored.image).all()
        assert restored.error is None or np.isfinite(restored.error).all()
    enough = demosaic(mosaic[:40, :40], time_limit=600.0)
    assert not _ran_out(enough)


def test_plain_fill_when_time_ran_out_is_close() -> None:
    """What stands at the deadline is no rubbish: plain means, and all samples in their place."""
    mosaic = _mosaic(200)
    restored = demosaic(mosaic, time_limit=0.0)
    assert np.abs(restored.image - _picture(200)).max() < 0.05
    picture, missing = _picture(200), _missing(200)
    filled = inpaint(picture, missing, time_limit=0.0)
    np.testing.assert_array_equal(filled.image[~missing], picture[~missing])
    assert np.abs(filled.image - picture).max() < 0.1


@pytest.mark.parametrize("noise", [None, 0.02])
def test_time_limit_bounds_the_first_estimate(noise: float | None) -> None:
    """Four megapixels whose first estimate takes many seconds, a fraction of one when it is bounded."""
    mosaic = np.random.default_rng(0).random((2000, 2000), np.float32)
    demosaic(mosaic[:64, :64], noise=noise)
    start, busy = time.monotonic(), time.process_time()
    restored = demosaic(mosaic, time_limit=0.2, noise=noise)
    # Seconds of processors, too: another program may hold them meanwhile.
    taken = min(time.monotonic() - start, time.process_time() - busy)
    assert _ran_out(restored)
    assert taken < 16.0  # a loose bound for slow machines; unbounded it is several times that


def test_deadline_tells_whether_it_was_heeded() -> None:
    now = [0.0]
    deadline = Deadline.after(1.0, lambda: now[0])
    assert not deadline.is_over()
    now[0] = 2.0
    assert not deadline.has_cut, "nobody has asked since"
    assert deadline.is_over()
    assert deadline.has_cut
    assert not Deadline().is_over()
