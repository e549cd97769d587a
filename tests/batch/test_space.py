"""Estimates before a batch: right where headers tell, sensible where they do not."""

from pathlib import Path

import pytest
from PIL import Image

from demosaic_ntc.batch.space import expect
from demosaic_ntc.machine import free_bytes


def test_headers_tell_the_pixels(small: Path) -> None:
    expected = expect([small] * 3)
    assert (expected.pixels, expected.largest_pixels) == (3 * 48 * 36, 48 * 36)
    assert expected.result_bytes(".tif", 16) == 3 * 48 * 36 * 6


def test_length_tells_about_the_pixels_where_no_header_does(tmp_path: Path) -> None:
    (tmp_path / "a.cr3").write_bytes(bytes(30_000))
    assert expect([tmp_path / "a.cr3"]).pixels == 20_000


def test_some_headers_stand_for_many_files(small: Path, tmp_path: Path) -> None:
    sources = [tmp_path / f"{number}.dng" for number in range(300)]
    for source in sources:
        source.symlink_to(small)
    assert expect(sources).pixels == 300 * 48 * 36


def test_nothing_and_unreadable_take_no_room(tmp_path: Path) -> None:
    assert expect([]).pixels == 0
    assert expect([tmp_path / "none.dng"]).pixels == 0


def test_free_room_is_known(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) > 0


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_pictures_are_judged_by_their_headers(suffix: str, tmp_path: Path) -> None:
    picture = tmp_path / f"flat{suffix}"
    Image.new("RGB", (400, 300)).save(picture)
    assert expect([picture]).pixels == 120_000
