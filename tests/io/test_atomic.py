import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from demosaic_ntc.errors import DiskFull, Exists, NotWritable
from demosaic_ntc.io import atomic
from demosaic_ntc.io.atomic import check_target, is_absent, whole_file


def _write_half(target: Path, error: BaseException) -> None:
    with whole_file(target, overwrite=True) as file:
        file.write(b"half")
        raise error


def test_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    with whole_file(target, overwrite=False) as file:
        file.write(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_failure_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        _write_half(target, ZeroDivisionError())
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_interrupt_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        _write_half(target, KeyboardInterrupt())
    assert (target.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a.bin"])


def test_existing_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with pytest.raises(Exists, match="`overwrite`"), whole_file(target, overwrite=False) as file:
        file.write(b"new")
    assert target.read_bytes() == b"old"
    with whole_file(target, overwrite=True) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"


def test_link_stays_a_link(tmp_path: Path) -> None:
    place, link = tmp_path / "place.bin", tmp_path / "link.bin"
    link.symlink_to(place)
    with whole_file(link, overwrite=True) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert place.read_bytes() == b"new"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG])
def test_full_disk_says_so(tmp_path: Path, code: int) -> None:
    target = tmp_path / "a.bin"
    with pytest.raises(DiskFull, match="no space left; free some"), whole_file(target, overwrite=True):
        raise OSError(code, os.strerror(code))
    assert os.listdir(tmp_path) == []


def test_missing_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(NotWritable, match="there is no folder"):
        check_target(tmp_path / "none" / "a.png")


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritable):
        check_target(tmp_path / "file" / "a.png")


def test_folder_as_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotWritable, match="not a regular file"):
        check_target(tmp_path)


def test_checking_leaves_no_trace(tmp_path: Path) -> None:
    check_target(tmp_path / "a.png")
    assert os.listdir(tmp_path) == []


def _refuse(code: int) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


@pytest.fixture(params=["no way", "links alone", "all"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file system that takes new names by no step of its own, by links alone, or as this one does."""
    if request.param != "all":
        monkeypatch.setattr(atomic, "_rename_without_replacing", _refuse(errno.EINVAL))
    if request.param == "no way":
        monkeypatch.setattr(os, "link", _refuse(errno.EPERM))
    return str(request.param)


@pytest.mark.usefixtures("file_system")
def test_names_that_are_taken_are_refused_everywhere(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    with whole_file(target, overwrite=False) as file:
        file.write(b"first")
    with pytest.raises(Exists), whole_file(target, overwrite=False) as file:
        file.write(b"second")
    assert (target.read_bytes(), os.listdir(tmp_path)) == (b"first", ["a.bin"])


@pytest.mark.usefixtures("file_system")
def test_an_empty_target_counts_as_absent(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.touch()
    assert is_absent(target)
    with whole_file(target, overwrite=False) as file:
        file.write(b"new")
    assert (target.read_bytes(), os.listdir(tmp_path)) == (b"new", ["a.bin"])
    assert not is_absent(target)


@pytest.mark.usefixtures("file_system")
@pytest.mark.parametrize("left_by_the_dead", [False, True])
def test_nothing_empty_stays_where_the_last_step_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_system: str, left_by_the_dead: bool
) -> None:
    target = tmp_path / "a.bin"
    if left_by_the_dead:
        target.touch()
    monkeypatch.setattr(os, "replace", _refuse(errno.EIO))
    if file_system == "no way" or left_by_the_dead:
        with pytest.raises(NotWritable), whole_file(target, overwrite=False) as file:
            file.write(b"new")
        assert os.listdir(tmp_path) == []


def test_a_name_that_another_writer_holds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_rename_without_replacing", _refuse(errno.EINVAL))
    monkeypatch.setattr(os, "link", _refuse(errno.EPERM))
    target = tmp_path / "a.bin"
    with open(target, "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Exists), whole_file(target, overwrite=False) as file:
            file.write(b"mine")
    assert (target.read_bytes(), os.listdir(tmp_path)) == (b"", ["a.bin"])


def test_a_link_that_leads_nowhere_is_not_absent(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "none")
    assert not is_absent(tmp_path / "link")
    assert not is_absent(tmp_path)
    assert is_absent(tmp_path / "none")
