"""Estimates before a batch: right where headers tell, sensible where they do not."""

from pathlib import Path

import pytest
from PIL import Image

from demosaic_ntc.batch.space import room_for
from demosaic_ntc.workflows.costs import bytes_per_pixel


def _linked(small: Path, folder: Path, count: int) -> list[Path]:
    """So many inputs, all of them the same."""
    sources = [folder / f"{number}.dng" for number in range(count)]
    for source in sources:
        source.symlink_to(small)
    return sources


def test_headers_tell_the_pixels(small: Path, tmp_path: Path) -> None:
    sources = _linked(small, tmp_path, 3)
    room = room_for(sources, tmp_path, bytes_per_pixel("TIFF", 16))
    assert room.largest_pixels == 48 * 36
    assert room.needed == 3 * 48 * 36 * 6
    assert room.sizes == {str(source): small.stat().st_size for source in sources}
    assert room.free


def test_results_may_take_what_their_inputs_do(small: Path, tmp_path: Path) -> None:
    assert room_for(_linked(small, tmp_path, 2), tmp_path, None).needed == 2 * small.stat().st_size


def test_length_tells_about_the_pixels_where_no_header_does(tmp_path: Path) -> None:
    (tmp_path / "a.cr3").write_bytes(bytes(30_000))
    assert room_for([tmp_path / "a.cr3"], tmp_path, 1.0).needed == 20_000


def test_some_headers_stand_for_many_files(small: Path, tmp_path: Path) -> None:
    assert room_for(_linked(small, tmp_path, 300), tmp_path, 1.0).needed == 300 * 48 * 36


def test_nothing_and_unreadable_take_no_room(tmp_path: Path) -> None:
    assert room_for([], tmp_path, 1.0).needed == 0
    assert room_for([tmp_path / "none.dng"], tmp_path, 1.0).needed == 0


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_pictures_are_judged_by_their_headers(suffix: str, tmp_path: Path) -> None:
    picture = tmp_path / f"flat{suffix}"
    Image.new("RGB", (400, 300)).save(picture)
    assert room_for([picture], tmp_path, 1.0).needed == 120_000
