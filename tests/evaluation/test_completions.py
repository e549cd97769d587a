"""Completions of the same group tensors: what they are told, how they are compared, what the command says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine.kernels.completion import LeastNorm, complete_group, empty_group_tensor
from demosaic_ntc.engine.kernels.gather import empty_group
from demosaic_ntc.engine.passes import bits_of
from evaluation.data.masks import DEFAULT as MASKS
from evaluation.measure.completions import CompletionBenchmark, sum_squares
from evaluation.methods import als, group_completions, low_rank, tncp
from evaluation.methods.group_completions import DEFAULT, catalogue, complete_ours
from evaluation.methods.group_tensors import MOSAIC, PLAIN, Form, PatchTensor, make_source
from evaluation.methods.tensors import Floats, TensorSamples, constant_mean
from tests.cli.waves import save_waves

COMPLETIONS = (
    "als",
    "als-tuned",
    "silrtc",
    "silrtc-tuned",
    "tncp",
    "tncp-tuned",
    "halrtc",
    "halrtc-tuned",
    "mean",
)


@pytest.fixture(autouse=True)
def thread_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a benchmark tells the libraries of this process ends with the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def draw_picture(side: int = 40) -> Any:
    """A picture of slanted waves, of which channels follow each other."""
    rows, columns = np.indices((side, side))
    wave = np.sin(rows / 3 + columns / 5)
    return np.stack([127 + gain * wave for gain in (100, 80, 60)], axis=2).astype(np.uint8)


def draw_groups(task: str, count: int = 3) -> list[PatchTensor]:
    return make_source(task, draw_picture(), Cfa.parse("RGGB"), 0).draw(count, 0)


def measure_nmse(groups: list[PatchTensor], made: list[Floats]) -> float:
    error, size = np.sum([sum_squares(*pair) for pair in zip(groups, made, strict=True)], axis=0)
    return float(error / size)


def test_errors_count_at_entries_that_nobody_measured() -> None:
    (group,) = draw_groups(MOSAIC, 1)
    values = group.truth.copy()
    values[group.known] = 7.0
    assert sum_squares(group, values)[0] == 0.0
    hidden = np.argwhere(~group.known)
    values[tuple(hidden[0])] += 0.5
    values[tuple(hidden[1])] -= 0.25
    error, size = sum_squares(group, values)
    assert error == pytest.approx(0.25 + 0.0625)
    assert size == pytest.approx(float((group.truth[~group.known] ** 2).sum()))


def test_the_truth_has_no_error_and_shuffled_entries_a_large_one() -> None:
    groups = draw_groups(MOSAIC)
    assert measure_nmse(groups, [group.truth for group in groups]) == 0.0
    ours = [catalogue()["ntc"].run(group) for group in groups]
    random = np.random.default_rng(0)
    shuffled = [random.permutation(values.ravel()).reshape(values.shape) for values in ours]
    assert measure_nmse(groups, shuffled) > 3 * measure_nmse(groups, ours) > 0.0


@pytest.mark.parametrize("task", [MOSAIC, PLAIN, "random:50"])
def test_samples_are_what_is_shown_and_nothing_else(task: str) -> None:
    for group in draw_groups(task):
        samples = group.samples
        assert len(samples.value) == group.known.sum()
        shown = np.zeros(group.known.shape, np.bool_)
        shown[tuple(samples.index.T)] = True
        assert (shown == group.known).all()
        assert group.form.invert(group.form.apply(group.truth))[group.known] == pytest.approx(
            group.truth[group.known]
        )
        assert (samples.value.min(), samples.value.max()) >= (0.0, 0.99)
        if task in (MOSAIC, PLAIN):
            assert (group.known.sum(axis=0) == 1).all()  # every pixel shows one channel
        else:
            assert (group.known.all(axis=0) == group.known.any(axis=0)).all()


def test_every_method_sees_the_same_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    (group,) = draw_groups(MOSAIC, 1)
    seen: list[TensorSamples] = []

    def watch(samples: TensorSamples, *_: object) -> Any:
        seen.append(samples)
        return constant_mean(samples)

    monkeypatch.setattr(als, "als", watch)
    for name in ("silrtc", "halrtc"):
        monkeypatch.setattr(low_rank, name, watch)
    monkeypatch.setattr(tncp, "tncp", watch)
    monkeypatch.setattr(group_completions, "constant_mean", watch)
    methods = catalogue()
    for name in COMPLETIONS:
        methods[name].run(group)
    assert len(seen) == len(COMPLETIONS)
    for samples in seen:
        assert (samples.index == group.samples.index).all()
        assert (samples.value == group.samples.value).all()


@pytest.mark.parametrize("name", ["ntc", *COMPLETIONS])
def test_completions_know_nothing_of_entries_that_are_not_shown(name: str) -> None:
    (group,) = draw_groups(PLAIN, 1)
    spoilt = PatchTensor(
        np.full_like(group.truth, np.nan),
        np.where(group.known, group.estimate, 0.123),
        group.known,
        group.form,
        group.norm,
        group.does,
        group.prior,
    )
    run = catalogue()[name].run
    assert (run(spoilt) == run(group)).all()


@pytest.mark.parametrize("share", [0.0, 0.7])
def test_the_tensor_is_that_of_the_kernel(share: float) -> None:
    (group,) = draw_groups(MOSAIC, 1)
    norm = LeastNorm(*group.norm)._replace(brightness=share)
    form = Form.of(group.estimate, group.known, share)
    channels, patches, pixels = group.known.shape
    room, entries = empty_group(patches, patches, patches, pixels, channels, False), channels * pixels
    room.data[:, :entries] = group.estimate.transpose(1, 0, 2).reshape(patches, entries)
    room.known[:] = bits_of(group.known)
    room.noise[:] = 0.0  # what is exact has brightness without noise
    tensor = empty_group_tensor(channels, patches, pixels, norm.vertices)
    complete_group(room, norm, tensor)
    value = tensor.tensor.value.transpose(0, 2, 1) / form.scale
    assert value[group.known] == pytest.approx(form.apply(group.estimate)[group.known], abs=1e-4)
    same = PatchTensor(group.truth, group.estimate, group.known, form, norm, group.does, group.prior)
    fit = room.fit[:, :entries].reshape(patches, channels, pixels).transpose(1, 0, 2)
    ours = same.restore(complete_ours(same))
    assert np.abs(ours - fit).mean() < 2e-3  # single precision may choose other vertices


def test_what_a_method_leaves_in_the_mean_is_added() -> None:
    (group,) = draw_groups(MOSAIC, 1)
    entries = group.form.apply(group.truth)
    assert group.restore(entries - 0.25) == pytest.approx(group.truth, abs=1e-6)


def test_the_engine_predicts_better_than_a_constant() -> None:
    groups, methods = draw_groups(MOSAIC), catalogue()
    errors = {name: measure_nmse(groups, [methods[name].run(g) for g in groups]) for name in DEFAULT}
    assert errors["gaussian"] < errors["mean"]
    assert errors["ntc"] < errors["mean"]


def test_groups_hold_together_and_are_the_same_again() -> None:
    first, again = draw_groups("blocks:8"), draw_groups("blocks:8")
    assert 0 < len(first) <= 3
    for one, other in zip(first, again, strict=True):
        assert (one.truth == other.truth).all()
        assert (one.samples.value == other.samples.value).all()
        assert not one.known[:, 0].all()  # the reference itself lacks something


def test_pictures_have_their_own_task() -> None:
    part = CompletionBenchmark.of(())
    assert part.tasks == (MOSAIC, PLAIN, *MASKS.split(","), "pictures")
    assert [m.name for m in part.methods][: len(DEFAULT)] == list(DEFAULT)
    assert "pictures" not in CompletionBenchmark.of((), pictures="").tasks


def test_the_command_measures_and_continues(tmp_path: Path) -> None:
    folder, kept = save_waves(tmp_path / "waves", [(40, 48)] * 2, pace=5.0), tmp_path / "kept.json"
    words = [
        "benchmark",
        "completions",
        folder,
        "--methods",
        "ntc,mean,als",
        "--masks",
        "dead",
        "--groups",
        2,
    ]
    words += ["--pictures", "bilinear,ntc", "--json", kept]
    first = CliRunner().invoke(app, [str(word) for word in words])
    assert first.exit_code == 0, first.output
    rows = json.loads(kept.read_text())["results"]
    assert len(rows) == 2 * (3 * 3 + 2)
    assert all(row["nmse"] >= 0 and row["cpu_seconds"] >= 0 for row in rows)
    assert {row["completed"] for row in rows if row["task"] == MOSAIC} == {2}
    for words_shown in ("Group tensors of waves", "around holes", "Pictures of waves", "observations: what"):
        assert words_shown in first.stdout
    again = CliRunner().invoke(app, [str(word) for word in words])
    assert again.stdout == first.stdout
    assert json.loads(kept.read_text())["results"] == rows
