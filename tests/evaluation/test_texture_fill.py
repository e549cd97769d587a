"""The benchmark of wide holes: what it draws, measures and shows, on pictures whose answers are known."""

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from evaluation.data.removals import HoledPicture, cut_square, make_textures, read_removals
from evaluation.data.sets import ImageSet, read_picture
from evaluation.methods.method import Method
from evaluation.report.vote_page import write_vote_page
from evaluation.studies.texture_fill import compare_with_ring, compare_with_truth, fill
from tests.inpainting.test_wide_holes import bricks, square


def _method(answer: Any) -> Method:
    return Method("known", "", "ours", lambda picture, missing: answer(picture, missing))


def test_a_method_sees_nothing_behind_the_hole_and_is_compared_with_it() -> None:
    hole = HoledPicture("bricks", bricks(), square())

    def recall(picture: Any, missing: Any) -> Any:
        assert (picture[missing] == 0).all()
        return bricks()

    (exact,) = fill(_method(recall), [hole])
    row = compare_with_truth("80 px", "known", [exact])
    assert row["PSNR"] == np.inf
    assert row["gradients"] == pytest.approx(1)
    assert row["histogram"] == 0
    flat = bricks()
    flat[square()] = 128
    (plain,) = fill(_method(lambda picture, missing: flat), [hole])
    row = compare_with_truth("80 px", "known", [plain])
    assert row["gradients"] == 0
    assert row["histogram"] > 0.5
    around = compare_with_ring("known", [exact])
    assert 0.7 < around["gradients"] < 1.3
    assert 0 < around["seams"] < compare_with_ring("known", [plain])["seams"]


def test_removals_are_of_two_uses_and_lie_in_their_pictures(tmp_path: Path) -> None:
    text = Path("evaluation/data/removals.txt").read_text()
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    uses = [line[0] for line in lines]
    assert uses.count("choose") >= 12
    assert uses.count("report") >= 24
    assert len({tuple(line[1:4]) for line in lines}) == len(lines)
    for folder, name, size in (("kodak", "kodim19", (768, 512)), ("mcmaster", "18", (500, 500))):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / f"{name}.png"
        Image.fromarray(np.zeros((*size, 3), np.uint8)).save(path)
        pictures = ImageSet(folder, (read_picture(path),))
        for use in ("choose", "report"):
            (hole,) = read_removals([pictures], use)
            assert 400 < hole.missing.sum() < 0.2 * hole.missing.size


def test_squares_lie_where_their_seed_says(tmp_path: Path) -> None:
    Image.fromarray(bricks()).save(tmp_path / "a.png")
    picture = read_picture(tmp_path / "a.png")
    one, same, other = (cut_square(picture, 40, seed) for seed in (0, 0, 1))
    assert one.missing.sum() == 1600
    np.testing.assert_array_equal(one.missing, same.missing)
    assert (one.missing != other.missing).any()


def test_made_textures_are_what_they_are_called() -> None:
    made = {each.name: each for each in make_textures(80, 0)}
    assert list(made) == ["bricks", "stripes", "grass", "water", "ramp"]
    assert all(each.missing.sum() == 6400 for each in made.values())
    down, across = (np.abs(np.diff(made["grass"].picture[..., 0].astype(int), axis=k)).mean() for k in (0, 1))
    assert across > 2 * down


@pytest.mark.parametrize("seed", [None, 3])
def test_a_blind_page_names_nothing_but_counts_all(tmp_path: Path, seed: int | None) -> None:
    fills = {name: np.full_like(bricks(), level) for name, level in (("ours", 10), ("theirs", 200))}
    rows = {f"row {number}": (bricks(), square(), fills) for number in range(6)}
    page = write_vote_page(tmp_path / "page", rows, seed)
    text = page.read_text()
    found = re.search(r'atob\("([^"]+)"\)', text)
    assert found is not None
    names = json.loads(b64decode(found[1]))
    assert sorted(names.values()) == ["ours"] * 6 + ["theirs"] * 6
    for key, name in names.items():
        with Image.open(page.parent / f"{key}.png") as image:
            assert np.array(image)[0, 0, 0] == (10 if name == "ours" else 200)
    assert ("theirs" in text.replace(found[1], "")) == (seed is None)
    first = {names[f"{number:02}-A"] for number in range(6)}
    assert len(first) == (1 if seed is None else 2)


def test_the_command_compares_and_writes_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kodak"
    folder.mkdir()
    Image.fromarray(np.tile(bricks(), (4, 3, 1))[:768, :512]).save(folder / "kodim19.png")
    made = tuple(make_textures(80, 0))[:1]
    monkeypatch.setattr("evaluation.data.removals.make_textures", lambda width, seed: iter(made))
    words = ["benchmark", "texture-fill", str(folder), "--widths", "30", "--methods", "smooth,telea"]
    words += ["--quality", "fast", "--page", str(tmp_path / "page"), "--blind"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    for word in ("30 px", "bricks", "removals", "smooth", "telea", "errors of copied pixels"):
        assert word in result.stdout
    assert (tmp_path / "page" / "index.html").exists()
    assert CliRunner().invoke(app, [*words[:3], "--methods", "clouds"]).exit_code == 2
    assert CliRunner().invoke(app, [*words[:3], "--widths", "1"]).exit_code == 2
