"""The offsets of lines that have some: found by blocks, and by samples where there is much texture.

Offsets are found by turns: what blocks show beside a smooth course along the picture, and the
weighted mean of that over all blocks of a line. Offsets of a readout are white noise; where their slow
changes exceed that of fast ones, content is among them, and they are shrunk accordingly (Wiener's filter).
Where there is much texture, samples tell fast changes better: how far those of a line lie off the mean of the
lines before and after it is heaped around what the line is off by, since most of a picture is smooth. Those
offsets o are taken that make Σ (dᵢ − oᵢ + (oᵢ₋₁ + oᵢ₊₁)/2)²/vᵢ + Σ (oᵢ − bᵢ)²/w least, where dᵢ is the middle
of such a heap and vᵢ its variance, bᵢ what blocks say, and w the variance of that.
"""

from collections.abc import Callable
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import SIGMA_OF_MAD, Float64
from demosaic_ntc.cfa import Cfa

LEAST = 0.25  # steps of the samples: less is lost in rounding

_SMOOTHNESS, _TURNS = 12.0, 3  # lines; how often offsets and content are found by turns
_ACTIVE = 17  # lines that tell how a block varies
_SLOW = 4  # lines or more, half of a period: changes that content may have as well
_EXCESS, _OCTAVE = 1.5, 1.4  # of power that is put down to chance; of one band to the next of frequencies

_BAND = 256  # lines whose samples are looked at together
_HEAP, _HEAP_DEVIATIONS = 0.25, 0.3186  # the share of samples in a heap; its half-width if they are normal
_ROUNDS = 6  # in which the middle of a heap is found
_LEAST_SLOPE = 0.05  # of samples: heaps that are less sharp count as if they were so
_CAUTION, _CONTENT = 2.0, 0.01  # times its variance; of the power of offsets: content within every heap
# Deviations: lines that are further off were drawn, such as the border of a scan. Stripes are fewer.
FARTHEST, FARTHEST_STRIPE = 5.0, 8.0


def find_medians(values: Float64) -> Float64:
    """Medians of rows without what is not known; NaN where nothing is."""
    ordered = np.sort(values, axis=1)  # NaN come last
    known = np.isfinite(values).sum(axis=1)
    rows = np.arange(len(values))
    low, high = np.maximum(known - 1, 0) // 2, np.minimum(known // 2, values.shape[1] - 1)
    return np.asarray((ordered[rows, low] + ordered[rows, high]) / 2)


def read_lines(
    mosaic: NDArray[np.uint16],
    cfa: Cfa,
    saturated: float,
    axis: int,
    means: Float64,
    colour: int | EllipsisType,
) -> Callable[[slice], Float64]:
    """What reads some lines as (lines, values): samples of all colours or one, NaN where they say nothing.

    Values of lines of one kind stand for the same colours and columns. Where samples do not, they are means
    of blocks.
    """
    if not (cfa.is_bayer or cfa.is_mono):
        return lambda lines: means[lines, colour].reshape(len(means[lines]), -1)
    samples = mosaic if axis == 0 else mosaic.T
    pattern = cfa.pattern if axis == 0 else cfa.pattern.T
    period = pattern.shape[0]

    def read(lines: slice) -> Float64:
        values = samples[lines].astype(np.float64)
        values[values >= saturated] = np.nan
        if colour is not ...:
            start = lines.start % period
            others = np.roll(pattern, -start, axis=0) != colour
            tiles = -(-values.shape[0] // period), -(-values.shape[1] // pattern.shape[1])
            values[np.tile(others, tiles)[: values.shape[0], : values.shape[1]]] = np.nan
        return np.asarray(values)

    return read


def estimate_offsets(
    read: Callable[[slice], Float64],
    means: Float64,
    known: Float64,
    step: int,
    deviation: float,
    farthest: float,
) -> Float64:
    """The offsets of lines beside those that are known; those of each kind have the mean of zero."""
    guess, doubt = _guess_by_blocks(means, step, deviation, farthest * deviation)
    middles, variances = _compare_lines(read, known, step)
    far = ~(np.abs(middles) <= farthest * deviation)
    weights = np.where(far, 0.0, 1 / (_CAUTION * variances + _CONTENT * deviation**2))
    middles, offsets = np.where(far, 0.0, middles), np.zeros(len(known))
    for kind in range(step):
        each = slice(kind, None, step)
        own = _solve(middles[each], weights[each], guess[each], doubt)
        offsets[each] = own - own.mean()
    return offsets


def _guess_by_blocks(means: Float64, step: int, deviation: float, limit: float) -> tuple[Float64, float]:
    """What blocks say of the offsets, given how strong these are, and the variance that is left."""
    half = means.shape[2] // 2
    parts = (means, means[..., :half], means[..., half:])
    whole, left, right = (_alternate(part, step) for part in parts)
    apart = SIGMA_OF_MAD * float(np.median(np.abs(left - right))) / 2
    guess = _shrink(*(np.clip(each, -limit, limit) for each in (whole, left, right)))
    sure = deviation**2 / (deviation**2 + apart**2)
    return sure * guess, max(sure * apart**2, 1e-12)


def _alternate(means: Float64, step: int) -> Float64:
    """What lines have in common beside a smooth course of each block, found by turns."""
    from scipy.ndimage import gaussian_filter1d  # noqa: PLC0415 (slow to load; hardly a photo has banding)

    blocks = means.reshape(len(means), -1)
    known = np.isfinite(blocks)
    filled = np.where(known, blocks, 0.0)
    weight = np.maximum(
        gaussian_filter1d(known.astype(np.float64), _SMOOTHNESS, axis=0, mode="nearest"), 1e-9
    )
    offsets = np.zeros(len(blocks))
    for _ in range(_TURNS):
        level = np.where(known, filled - offsets[:, None], 0.0)
        course = gaussian_filter1d(level, _SMOOTHNESS, axis=0, mode="nearest") / weight
        offsets += _weighted_mean(np.where(known, level - course, np.nan))
    for kind in range(step):  # a colour may measure more in some kinds than in others
        offsets[kind::step] -= offsets[kind::step].mean()
    return offsets


def _weighted_mean(beside: Float64) -> Float64:
    """Means of lines in which blocks count by how little they vary around, and wild ones less."""
    from scipy.ndimage import uniform_filter1d  # noqa: PLC0415 (see above)

    known = np.isfinite(beside)
    middle = np.nan_to_num(find_medians(beside))[:, None]
    values = np.where(known, beside, middle)
    variance = uniform_filter1d(np.square(values - middle), _ACTIVE, axis=0, mode="nearest")
    spread = np.sqrt(np.maximum(variance, 0))  # sums that run along may fall below
    spread += np.quantile(spread, 0.1) / 2 + 1e-9
    for _ in range(2):
        far = np.maximum(np.abs(values - middle) / spread, 1e-9)
        weights = known * np.minimum(1.0, 1 / far) / np.square(spread)
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)
        middle = (weights * values).sum(axis=1, keepdims=True) / total
    return np.asarray(middle[:, 0])


def _shrink(whole: Float64, left: Float64, right: Float64) -> Float64:
    """Offsets without what is slower and stronger than white noise of the power that both halves share."""
    from scipy.fft import dct, idct  # noqa: PLC0415 (see above)

    spectrum, one, other = (dct(each, norm="ortho") for each in (whole, left, right))
    count = len(spectrum)
    common = one * other
    power = max(float(np.mean(common[count // _SLOW :])), 0.0)
    kept, low = np.zeros(count), 1
    while low < count:
        high = min(max(low + 4, int(low * _OCTAVE)), count)
        seen = float(np.mean(np.square(spectrum[low:high])))
        agreed = max(float(np.mean(common[low:high])), 0.0)
        if low < count // _SLOW and seen > _EXCESS * power:
            agreed = min(agreed, power)
        kept[low:high] = min(agreed / max(seen, 1e-30), 1.0)
        low = high
    return np.asarray(idct(spectrum * kept, norm="ortho"))


def _compare_lines(
    read: Callable[[slice], Float64], known: Float64, distance: int
) -> tuple[Float64, Float64]:
    """How far lines are off the mean of those at a distance before and after, and the variance of that."""
    count = len(known)
    middles, variances = np.full(count, np.nan), np.full(count, np.inf)
    for first in range(distance, count - distance, _BAND):
        last = min(first + _BAND, count - distance)
        seen = slice(first - distance, last + distance)
        values = read(seen) - known[seen, None]
        bent = values[distance:-distance] - (values[: -2 * distance] + values[2 * distance :]) / 2
        middles[first:last], variances[first:last] = _agree(
            _find_heaps(bent[:, ::2]), _find_heaps(bent[:, 1::2])
        )
    return middles, variances


def _agree(one: tuple[Float64, Float64], other: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
    """The mean of what two colours say, which knows less where they disagree; or what one says alone."""
    weights = [np.where(np.isfinite(each[0]), 1 / np.maximum(each[1], 1e-12), 0.0) for each in (one, other)]
    total = np.maximum(weights[0] + weights[1], 1e-12)
    first, second = (np.nan_to_num(each[0]) for each in (one, other))
    apart = np.where((weights[0] > 0) & (weights[1] > 0), (first - second) / 2, 0.0)
    is_known = (weights[0] > 0) | (weights[1] > 0)
    middle = np.where(is_known, (weights[0] * first + weights[1] * second) / total, np.nan)
    return middle, np.where(is_known, 1 / total + np.square(apart), np.inf)


def _find_heaps(values: Float64) -> tuple[Float64, Float64]:
    """The places around which the values of each row are heaped, and their variances.

    Weights fall as those of Cauchy's distribution whose width is that of the heap.
    """
    known = np.isfinite(values)
    middle = np.nan_to_num(_quantile(values, known, 0.5))
    off = np.where(known, values, 0.0) - middle[:, None]
    width = np.nan_to_num(_quantile(np.where(known, np.abs(off), np.nan), known, _HEAP)) / _HEAP_DEVIATIONS
    width = np.maximum(width, LEAST)[:, None]
    for _ in range(_ROUNDS):
        weights = known / (1 + np.square(off / width))
        moved = (weights * off).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        middle, off = middle + moved, off - moved[:, None]
    seen = known.any(axis=1)
    return np.where(seen, middle, np.nan), np.where(seen, _find_variances(off, width, known), np.inf)


def _find_variances(off: Float64, width: Float64, known: NDArray[np.bool_]) -> Float64:
    """The variances of the middles of heaps: those of M-estimators, from their own residuals."""
    shares = np.square(off / width)
    slope = (known * (1 - shares) / np.square(1 + shares)).sum(axis=1)
    spread = np.square(known * off / (1 + shares)).sum(axis=1)
    least = _LEAST_SLOPE * known.sum(axis=1) + 1e-9
    return np.asarray(spread / np.square(np.maximum(slope, least)))


def _quantile(values: Float64, known: NDArray[np.bool_], share: float) -> Float64:
    """The value in each row that a share of those that are known lies below."""
    ordered = np.sort(values, axis=1)  # NaN come last
    places = (share * np.maximum(known.sum(axis=1) - 1, 0)).astype(np.intp)
    return np.asarray(ordered[np.arange(len(values)), places])


def _solve(middles: Float64, weights: Float64, guess: Float64, doubt: float) -> Float64:
    """The offsets of lines of one kind, from how far each is off its neighbours and from a guess."""
    from scipy.linalg import solveh_banded  # noqa: PLC0415 (slow to load; hardly a photo has banding)

    count = len(middles)
    inner, aims = weights[1:-1], (weights * middles)[1:-1]
    bands, right = np.zeros((3, count)), guess / doubt  # beside the diagonal by two, one and none
    bands[2] = 1 / doubt
    for shift, share in ((0, -0.5), (1, 1.0), (2, -0.5)):
        bands[2, shift : count - 2 + shift] += share**2 * inner
        right[shift : count - 2 + shift] += share * aims
    bands[1, 1:-1] -= inner / 2
    bands[1, 2:] -= inner / 2
    bands[0, 2:] += inner / 4
    return np.asarray(solveh_banded(bands, right))
