"""The chart of textures, what is measured of it, and the table."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.reading import read_photo
from evaluation.data.textures import CFA, NEUTRAL, PANEL, Chart, draw_chart, expose_noisily
from evaluation.studies import textures
from evaluation.studies.acutance import compare_texture, fit_colours, measure_chart, sensitivity, weigh_noise
from evaluation.studies.textures import WAYS, NoisyChart, measure, tables
from samples.dng import camera_from_srgb


@pytest.fixture(scope="module")
def chart() -> Chart:
    return draw_chart(3)


def with_noise(pixels: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    return pixels + sigma / 255 * np.random.default_rng(5).standard_normal(pixels.shape)


def test_a_chart_is_drawn_by_its_seed(chart: Chart) -> None:
    assert chart.pixels.shape == (2 * PANEL, 3 * PANEL, 3)
    assert np.array_equal(draw_chart(3).pixels, chart.pixels)
    assert not np.array_equal(draw_chart(4).pixels, chart.pixels)
    deviations = {name: 255 * chart.pixels[at].std(axis=(0, 1)).mean() for name, at in chart.textures.items()}
    assert deviations.pop("skin") == pytest.approx(3, abs=0.01)
    assert deviations.pop("weave") == pytest.approx(4, abs=0.01)
    assert deviations.pop("hair") == pytest.approx(6, abs=0.01)
    assert all(15 < value < 35 for value in deviations.values())
    grey = chart.pixels[chart.places["grey leaves"]]
    assert np.ptp(grey, axis=2).max() < 1e-6
    assert 0.28 - 1e-6 <= grey.min() < grey.max() <= 0.68 + 1e-6
    assert all(np.ptp(chart.pixels[at], axis=(0, 1)).max() == 0 for at in chart.flats)


def test_samples_have_the_noise_and_the_profile_states_what_it_is_told(chart: Chart, tmp_path: Path) -> None:
    slope, path = 0.001, tmp_path / "chart.dng"
    path.write_bytes(expose_noisily(SRGB_CURVE.decode(chart.pixels), slope, 1.6, 0))
    photo = read_photo(path)
    light = CFA.sample(SRGB_CURVE.decode(chart.pixels) @ camera_from_srgb().T * np.array(NEUTRAL))
    error = (photo.mosaic - 1024) / (16383 - 1024) - light
    told = slope * light + slope / 1000 + 1e-7
    assert np.square(error / np.sqrt(told)).mean() == pytest.approx(1, abs=0.01)
    assert photo.noise is not None
    assert photo.noise.slope[0] == pytest.approx(1.6**2 * slope)
    assert photo.noise.floor[1] == pytest.approx(1.6**2 * (slope / 1000 + 1e-7))
    path.write_bytes(expose_noisily(SRGB_CURVE.decode(chart.pixels), slope, None, 0))
    assert read_photo(path).noise is None


def test_the_truth_has_all_of_its_texture_and_no_noise(chart: Chart) -> None:
    found = measure_chart(chart.pixels + 1e-9, chart)
    assert found.acutance == pytest.approx(1, abs=1e-6)
    assert max(found.luma_noise, found.chroma_noise, found.texture_noise) < 1e-3
    assert found.psnr > 150


def test_blur_takes_texture_and_noise_does_not_pass_for_it(chart: Chart) -> None:
    blurred = measure_chart(gaussian_filter(chart.pixels, (1, 1, 0)), chart)
    noisy = measure_chart(with_noise(chart.pixels, 3), chart)
    assert blurred.acutance < 0.75
    assert blurred.by_texture["weave"] < blurred.by_texture["skin"]
    assert noisy.acutance == pytest.approx(1, abs=0.03)
    assert noisy.texture_noise == pytest.approx(noisy.luma_noise, rel=0.1)
    assert noisy.luma_noise > 0.5
    assert measure_chart(with_noise(chart.pixels, 6), chart).luma_noise == pytest.approx(
        2 * noisy.luma_noise, rel=1e-6
    )


def test_half_of_a_texture_is_half_of_its_acutance(chart: Chart) -> None:
    truth = chart.pixels[chart.places["skin"]][..., 1]
    acutance, noise = compare_texture(truth.mean() + (truth - truth.mean()) / 2, truth)
    assert acutance == pytest.approx(0.5, abs=1e-6)
    assert noise < 1e-6


def test_a_wave_is_weighed_by_the_sensitivity_at_its_frequency() -> None:
    for cycles in (12, 26, 60):
        wave = np.broadcast_to(np.sin(2 * np.pi * cycles * np.arange(256) / 256), (256, 256))
        expected = np.sqrt(0.5) * sensitivity(np.array([cycles / 256]))[0]
        assert weigh_noise(wave) == pytest.approx(expected, rel=0.05)
    assert sensitivity(np.array([0.1]))[0] == pytest.approx(1)
    assert sensitivity(np.array([0.0, 0.5])).max() < 0.2


def test_colours_are_fitted_whatever_a_program_made_of_them(chart: Chart) -> None:
    truth = SRGB_CURVE.decode(chart.pixels)
    changed = truth @ np.array([[0.8, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]) * 0.6 + 0.05
    assert fit_colours(changed, truth) == pytest.approx(truth, abs=1e-9)


def test_denoising_trades_texture_for_noise_and_texture_less_of_it(chart: Chart) -> None:
    found = measure(0.001, 3, ["ours", "ours, texture", "ours, off"]).ways
    usual, texture, off = found.values()
    assert usual.acutance < texture.acutance < off.acutance
    assert usual.luma_noise < texture.luma_noise < off.luma_noise
    assert usual.psnr > off.psnr


def test_programs_that_are_missing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(textures, "import_module", _refuse_import)
    absent = [name for name in WAYS if name.startswith(("RawTherapee", "darktable"))]
    assert len(absent) == 5
    assert measure(0.001, 0, absent).ways == {}
    assert tables([measure(0.001, 0, absent)]) == []
    noisy = NoisyChart(draw_chart(0), 0.001, 0)
    with pytest.raises(Unsupported, match="bm3d is not installed"):
        WAYS["off, then CBM3D"](noisy)


def _refuse_import(name: str) -> None:
    raise ImportError(name)


@pytest.mark.parametrize("slopes", ["0", "-1", "x", "0.5"])
def test_impossible_slopes_are_refused(slopes: str) -> None:
    result = CliRunner().invoke(app, ["benchmark", "texture", "--slopes", slopes])
    assert result.exit_code == 2
    assert "are not slopes" in result.output


def test_the_command_prints_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WAYS, "ours", lambda noisy: SRGB_CURVE.decode(noisy.chart.pixels))
    words = ["benchmark", "texture", "--charts", "1", "--slopes", "0.001", "--ways"]
    result = CliRunner().invoke(app, [*words, "ours"])
    assert result.exit_code == 0, result.output
    assert "1.000" in result.stdout
    assert "seeds 0 to 0" in result.stdout
    assert CliRunner().invoke(app, [*words, "wish"]).exit_code == 2
