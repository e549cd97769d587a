import numpy as np

from evaluation.data.synthetic import draw_samples, random_truth
from evaluation.methods.als import PUBLISHED, TUNED, AlsSettings, als
from evaluation.methods.tensors import RankOneSum, nmse


def test_an_exact_rank_one_tensor_is_recovered() -> None:
    truth = RankOneSum(
        np.ones(1),
        (np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, 1.0, 2.0, 1.0]]), np.array([[1.0, 3.0, 2.0]])),
    )
    samples = draw_samples(truth, 200, 0.0, np.random.default_rng(0))
    found = als(samples, 0, AlsSettings(rank=1, ridge=1e-12, tolerance=1e-14))
    assert nmse(found, truth) < 1e-10


def test_a_row_solves_its_normal_equations() -> None:
    """Two modes, rank one: the last factor is in closed form ⟨y, h⟩ / (⟨h, h⟩ + ridge)."""
    truth = RankOneSum(np.ones(1), (np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])))
    samples = draw_samples(truth, 30, 0.0, np.random.default_rng(0))
    found = als(samples, 0, AlsSettings(rank=1, ridge=0.5, sweeps=1))
    first, last = found.factors[0][0], found.factors[1][0]
    for column in (0, 1):
        own = samples.index[:, 1] == column
        design = first[samples.index[own, 0]]
        np.testing.assert_allclose(last[column], samples.value[own] @ design / (design @ design + 0.5))


def test_a_mode_index_without_samples_gets_zero_from_the_ridge() -> None:
    truth = RankOneSum(np.ones(1), (np.ones((1, 3)), np.ones((1, 3))))
    samples = draw_samples(truth, 40, 0.0, np.random.default_rng(0))
    seen = samples.index[:, 0] != 2
    partial = type(samples)(samples.shape, samples.index[seen], samples.value[seen])
    np.testing.assert_array_equal(als(partial, 0, PUBLISHED).factors[0][:, 2], 0.0)


def test_tuned_settings_beat_the_published_ones() -> None:
    generator = np.random.default_rng(3)
    truth = random_truth((10, 10, 10), generator)
    samples = draw_samples(truth, 500, 0.0, generator)
    assert nmse(als(samples, 0, TUNED), truth) < 0.5 * nmse(als(samples, 0, PUBLISHED), truth)


def test_tensors_that_no_memory_could_hold_are_fitted() -> None:
    generator = np.random.default_rng(0)
    truth = random_truth((10,) * 12, generator)
    samples = draw_samples(truth, 500, 0.0, generator)
    assert als(samples, 0, AlsSettings(sweeps=2)).shape == (10,) * 12
