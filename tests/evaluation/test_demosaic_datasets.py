from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc.errors import InputError, Truncated, Unsupported
from evaluation.data.reference import demosaic_reference
from evaluation.data.sets import check_crop, read_set, read_sets


def write(path: Path, size: tuple[int, int] = (20, 16), mode: str = "RGB") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, 77).save(path)
    return path


def test_pictures_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10.tif", "2.tif", "1.tif"):
        write(tmp_path / name)
    (tmp_path / "readme.txt").write_text("no picture")
    assert [picture.name for picture in read_set(tmp_path).pictures] == ["1", "2", "10"]


def test_sizes_may_differ_and_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.png", (20, 16))
    write(tmp_path / "b.bmp", (16, 20))
    write(tmp_path / "c.tif", (20, 16))
    assert read_set(tmp_path).sizes == "2 of 20×16, 1 of 16×20"


def test_a_limit_says_which_pictures_are_left_out(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path / f"{name}.png")
    limited = read_set(tmp_path, limit=1)
    assert [picture.name for picture in limited.pictures] == ["a"]
    assert limited.left_out == ("b", "c")
    assert limited.size == 3


@pytest.mark.parametrize("mode", ["L", "RGBA", "P"])
def test_pictures_other_than_rgb_are_refused_by_name(tmp_path: Path, mode: str) -> None:
    path = write(tmp_path / "a.png", mode=mode)
    with pytest.raises(Unsupported, match=f"{path}: is not 8-bit RGB"):
        read_set(tmp_path)


def test_sixteen_bits_are_not_silently_cut_to_eight(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    cv2.imwrite(str(tmp_path / "a.png"), np.full((16, 16, 3), 999, np.uint16))
    with pytest.raises(Unsupported, match="is not 8-bit RGB"):
        read_set(tmp_path)


def test_damaged_pictures_are_found_before_any_work(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.png", (200, 200)).read_bytes()
    (tmp_path / "b.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Truncated, match=r"b\.png: truncated or damaged"):
        read_set(tmp_path)


def test_folders_without_pictures_or_with_ambiguous_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pictures"):
        read_set(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        read_set(tmp_path / "missing")
    write(tmp_path / "x" / "set" / "a.png")
    write(tmp_path / "y" / "set" / "a.png")
    with pytest.raises(InputError, match="two folders are called set"):
        read_sets([tmp_path / "x" / "set", tmp_path / "y" / "set"])
    write(tmp_path / "x" / "set" / "a.tif")
    with pytest.raises(InputError, match="two pictures are called a"):
        read_set(tmp_path / "x" / "set")


def test_a_folder_given_twice_is_one_set(tmp_path: Path) -> None:
    write(tmp_path / "set" / "a.png")
    assert len(read_sets([tmp_path / "set", tmp_path / "set" / ".." / "set"])) == 1


def test_a_crop_must_leave_something_to_compare(tmp_path: Path) -> None:
    write(tmp_path / "a.png", (20, 16))
    sets = [read_set(tmp_path)]
    check_crop(sets, 2)
    with pytest.raises(InputError, match="less than 11 pixels"):
        check_crop(sets, 3)


def test_references_are_read_by_set_method_and_picture(tmp_path: Path) -> None:
    path = tmp_path / "peers.csv"
    head = "method,set,image,cpsnr_crop0,cpsnr_crop10,cpu_s_per_mp\n"
    path.write_text(head + '"DCB (iter 2, enhance)",kodak,kodim01,33.48,34.85,0.194\n')
    (row,) = demosaic_reference(path, 10)
    assert (row["set"], row["method"], row["image"]) == ("kodak", "DCB (iter 2, enhance) *", "kodim01")
    assert (row["cpsnr_crop0"], row["cpsnr"], row["cpu_s_per_mp"]) == (33.48, 34.85, 0.194)
    path.write_text(head + "x,kodak,kodim01,33.48,,0.194\n")
    with pytest.raises(InputError, match="line 2"):
        demosaic_reference(path, 10)
    path.write_text("method,set\n")
    with pytest.raises(InputError, match="no column image"):
        demosaic_reference(path, 10)
