"""What a batch takes, where results go, and what is refused before anything is touched."""

import os
from pathlib import Path

import pytest

from demosaic_ntc.batch.discovery import (
    RAW_SUFFIXES,
    InputSearch,
    check_output,
    check_pairs,
    make_folders,
    make_output,
)
from demosaic_ntc.errors import Clash, InputError, NotWritable
from demosaic_ntc.io.remote import RemotePath


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _found(folder: Path, *sources: Path, recursive: bool = False) -> list[str]:
    search = InputSearch(RAW_SUFFIXES, recursive, folder / "out")
    return [str(found.source.relative_to(folder)) for found in search.files(sources or (folder,))]


def test_folder_gives_its_raws_in_order(tmp_path: Path) -> None:
    _touch(tmp_path, "b.dng", "a.CR2", "notes.txt", "c.png", ".hidden.dng", "x.partial", "sub/d.nef")
    assert _found(tmp_path) == ["a.CR2", "b.dng"]


@pytest.mark.parametrize(
    ("output", "left_out"), [("raws/out", ["raws/out/d.dng"]), ("raws", []), ("", []), ("pictures", [])]
)
def test_addresses_below_the_output_are_left_out_only_if_that_lies_below(
    output: str, left_out: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["raws/a.dng", "raws/out/d.dng", "raws/sub/c.dng"]
    inside = [RemotePath("s3", f"bucket/{name}") for name in names]
    monkeypatch.setattr(RemotePath, "list_files", lambda *_, recursive: iter(inside))
    search = InputSearch(RAW_SUFFIXES, True, RemotePath("s3", f"bucket/{output}".rstrip("/")))
    found = [str(each.source) for each in search.files([RemotePath("s3", "bucket/raws")])]
    assert found == [f"s3://bucket/{name}" for name in names if name not in left_out]


def test_folders_within_are_searched_when_asked(tmp_path: Path) -> None:
    _touch(tmp_path, "a.dng", "sub/deep/b.dng", ".trash/c.dng", "out/d.dng")
    assert _found(tmp_path, recursive=True) == ["a.dng", "sub/deep/b.dng"]


def test_links_to_folders_are_not_followed_but_links_to_files_are(tmp_path: Path) -> None:
    _touch(tmp_path, "a.dng", "sub/b.dng")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.dng").symlink_to(tmp_path / "a.dng")
    (tmp_path / "gone.dng").symlink_to(tmp_path / "nothing")
    assert _found(tmp_path, recursive=True) == ["a.dng", "gone.dng", "link.dng", "sub/b.dng"]


def test_named_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    _touch(tmp_path, "odd.xyz")
    assert _found(tmp_path, tmp_path / "odd.xyz", tmp_path / "missing.dng") == ["odd.xyz", "missing.dng"]


def test_patterns_are_expanded(tmp_path: Path) -> None:
    _touch(tmp_path, "a1.dng", "a2.dng", "b1.dng", "sub/a3.dng")
    assert _found(tmp_path, tmp_path / "a*.dng") == ["a1.dng", "a2.dng"]
    assert _found(tmp_path, tmp_path / "**" / "a?.dng") == ["a1.dng", "a2.dng", "sub/a3.dng"]


def test_file_named_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    _touch(tmp_path, "a[1].dng", "a1.dng")
    assert _found(tmp_path, tmp_path / "a[1].dng") == ["a[1].dng"]


def test_pattern_without_matches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file matches"):
        _found(tmp_path, tmp_path / "*.dng")


def test_what_is_named_twice_is_taken_once(tmp_path: Path) -> None:
    _touch(tmp_path, "a.dng")
    assert _found(tmp_path, tmp_path, tmp_path / "a.dng", tmp_path / "sub" / ".." / "a.dng") == ["a.dng"]


def test_folder_that_cannot_be_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_folder: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "scandir", forbidden)
    with pytest.raises(InputError, match=r"cannot be listed \(Permission denied\); check"):
        _found(tmp_path)


def test_two_inputs_of_one_output_are_refused(tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    with pytest.raises(Clash, match=r"a.dng and .*a.cr2 would both become .*a.png; tell them apart"):
        check_pairs([(tmp_path / "a.dng", target), (tmp_path / "a.cr2", target)])


def test_output_over_an_input_is_refused_also_through_a_link(tmp_path: Path) -> None:
    _touch(tmp_path, "a.png", "b.png")
    (tmp_path / "link.png").symlink_to(tmp_path / "b.png")
    with pytest.raises(Clash, match="is an input and would be overwritten"):
        check_pairs([(tmp_path / "a.png", tmp_path / "a.png")])
    with pytest.raises(Clash, match="is an input and would be overwritten"):
        check_pairs([(tmp_path / "a.png", tmp_path / "link.png"), (tmp_path / "b.png", tmp_path / "c.png")])


def test_a_missing_output_is_made_with_all_above_it(tmp_path: Path) -> None:
    make_output(tmp_path / "a" / "b")
    make_output(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    _touch(tmp_path, "file")
    with pytest.raises(NotWritable, match="cannot be made"):
        make_output(tmp_path / "file" / "below")


def test_output_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    _touch(tmp_path, "file")
    with pytest.raises(NotWritable, match="there is no such folder; create it"):
        check_output(tmp_path / "none")
    with pytest.raises(NotWritable, match="is not a folder"):
        check_output(tmp_path / "file")
    with pytest.raises(NotWritable):
        check_output(tmp_path / "file" / "below")
    assert os.listdir(tmp_path) == ["file"]


def test_folders_are_made_below_the_output_only(tmp_path: Path) -> None:
    make_folders(tmp_path, [tmp_path / "x" / "y" / "a.png", tmp_path / "b.png"])
    assert (tmp_path / "x" / "y").is_dir()
    with pytest.raises(NotWritable, match="cannot be made"):
        make_folders(tmp_path / "gone", [tmp_path / "gone" / "x" / "a.png"])
