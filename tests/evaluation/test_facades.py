"""Generated pictures of façades, and sets by their name."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.data import fetching
from evaluation.data.facades import COUNT, draw_facade, make_set
from evaluation.data.sets import read_set


def test_a_facade_is_the_same_whenever_it_is_drawn_and_others_differ() -> None:
    one = draw_facade(1)
    assert one.shape == (384, 512, 3)
    assert np.array_equal(one, draw_facade(1))
    assert not np.array_equal(one, draw_facade(2))


def test_facades_are_as_fine_as_a_pixel_and_repeat_themselves() -> None:
    grey = draw_facade(3).astype(float).mean(axis=2)
    assert np.abs(np.diff(grey, axis=1)).mean() > 3  # of 255, from pixel to pixel
    spectrum = np.abs(np.fft.rfft2(grey - grey.mean()))
    assert spectrum.max() > 30 * np.median(spectrum)  # a few waves make most of it


def test_the_set_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pooch:
        @staticmethod
        def os_cache(name: str) -> Path:
            return tmp_path / name

    monkeypatch.setattr(fetching, "_pooch", lambda: Pooch)
    folder = fetching.locate(Path("facades"), print)
    assert [picture.name for picture in read_set(folder).pictures] == [str(n + 1) for n in range(COUNT)]
    before = (folder / "1.png").stat().st_mtime_ns
    assert make_set(folder) == folder
    assert (folder / "1.png").stat().st_mtime_ns == before  # what is there is not drawn again


def test_a_folder_is_taken_before_a_set_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "facades").mkdir()
    for path in (tmp_path / "facades", Path("elsewhere")):
        assert fetching.locate(path, print) == path
