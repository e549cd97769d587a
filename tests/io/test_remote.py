"""Addresses of storage: their parts, what they are known by, and objects that come and go whole."""

import errno
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from demosaic_ntc.errors import DiskFull, Exists, InputError, NotWritable
from demosaic_ntc.io import remote
from demosaic_ntc.io.remote import RemotePath, read_address

fsspec = pytest.importorskip("fsspec")


def test_parts_of_an_address() -> None:
    address = read_address("s3://bucket/shoot//a.b.NEF/")
    assert isinstance(address, RemotePath)
    assert str(address) == "s3://bucket/shoot//a.b.NEF"
    assert (address.name, address.stem, address.suffix) == ("a.b.NEF", "a.b", ".NEF")
    assert str(address.with_stem("x").parent / Path("y/z.png")) == "s3://bucket/shoot//y/z.png"
    assert address.is_relative_to("s3://bucket/shoot")
    assert not address.is_relative_to("s3://bucket/sho")


def test_addresses_of_this_machine_are_paths() -> None:
    assert read_address("file:///home/a.dng") == Path("/home/a.dng")


@pytest.mark.parametrize("text", ["s3://", "s3:///", "s3://a/../b", "s3://a/./b", "S3:/a", "1://a"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InputError, match="; give"):
        read_address(text)


FACTS: list[tuple[dict[str, Any], tuple[int, int, str]]] = [
    ({"size": 3, "LastModified": datetime.fromtimestamp(2, UTC), "ETag": '"abc"'}, (3, 2 * 10**9, "abc")),
    ({"size": 3, "mtime": 1.5}, (3, 1_500_000_000, "")),
    ({"size": None, "created": datetime.fromtimestamp(1, UTC), "etag": "x"}, (-1, 10**9, "x")),
    ({"size": 0, "modified": "yesterday"}, (0, 0, "")),
]


@pytest.mark.parametrize(("facts", "known"), FACTS, ids=range(4))
def test_what_storages_tell(facts: dict[str, Any], known: tuple[int, int, str]) -> None:
    status = remote._status(facts)
    assert (status.st_size, status.st_mtime_ns, status.etag) == known


@pytest.fixture
def memory() -> Iterator[Any]:
    """Storage in which uploads can be seen while they grow."""
    storage = fsspec.filesystem("memory")
    yield storage
    storage.store.clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "a").write_bytes(b"content")
    return tmp_path / "a"


def test_objects_come_and_go_whole(memory: Any, file: Path, tmp_path: Path) -> None:
    address = RemotePath("memory", "top/sub/a.dng")
    known = address.publish(file, overwrite=False)
    assert known.st_size == 7
    assert address.stat() == known
    assert address.fetch(tmp_path / "b") == known
    assert (tmp_path / "b").read_bytes() == b"content"
    assert list(memory.find("/")) == ["/top/sub/a.dng"]
    assert address.sha256() == "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    top = RemotePath("memory", "top")
    found = top.list_files(recursive=True)
    assert found is not None
    assert [each.key.lstrip("/") for each in found] == ["top/sub/a.dng"]
    assert list(top.list_files(recursive=False) or ()) == []
    assert address.list_files(recursive=True) is None
    with pytest.raises(FileNotFoundError):
        (top / "none").stat()


def test_nothing_is_replaced_unasked(memory: Any, file: Path) -> None:
    address = RemotePath("memory", "a")
    memory.pipe_file("/a", b"other")
    with pytest.raises(Exists, match="memory://a: exists already"):
        address.publish(file, overwrite=False)
    assert memory.cat_file("/a") == b"other"
    assert list(memory.find("/")) == ["/a"], "nothing else stays"
    address.publish(file, overwrite=True)
    assert memory.cat_file("/a") == b"content"
    memory.pipe_file("/a", b"")
    address.publish(file, overwrite=False)
    assert memory.cat_file("/a") == b"content", "an empty object is nobody's work"


def test_failed_upload_leaves_nothing(memory: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe_file("/a", b"old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(5, "broken")

    monkeypatch.setattr(type(memory), "mv", fail)
    with pytest.raises(NotWritable, match=r"memory://a: the storage refuses \(broken\)"):
        RemotePath("memory", "a").publish(file, overwrite=True)
    assert {name: memory.cat_file(name) for name in memory.find("/")} == {"/a": b"old"}


def test_object_that_changes_while_it_is_read(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe_file("/a", b"half")
    get = type(memory).get_file

    def get_and_grow(self: Any, *words: Any, **options: Any) -> None:
        get(self, *words, **options)
        if len(memory.cat_file("/a")) < grown:
            memory.pipe_file("/a", memory.cat_file("/a") + b"+")

    monkeypatch.setattr(type(memory), "get_file", get_and_grow)
    grown = 5
    RemotePath("memory", "a").fetch(tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"half+"
    grown = 50
    with pytest.raises(InputError, match="changes while it is read"):
        RemotePath("memory", "a").fetch(tmp_path / "b")


def test_no_room_for_a_copy_is_not_laid_on_the_storage(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    memory.pipe_file("/a", b"content")
    monkeypatch.setattr(type(memory), "get_file", fail)
    with pytest.raises(DiskFull, match=r"^memory://a: no space left; free some, or let TMPDIR"):
        RemotePath("memory", "a").fetch(tmp_path / "b")


FAILURES = [
    (FileNotFoundError("x"), "there is nothing at this address; check its bucket and name"),
    (PermissionError("Forbidden"), r"access denied \(Forbidden\); check the credentials"),
    (ImportError("Install s3fs"), r"needs a package \(Install s3fs\); install it"),
    (ConnectionResetError(104, "reset"), r"cannot be reached \(reset\); check network"),
    (TimeoutError(), r"cannot be reached \(TimeoutError\); check network"),
    (type("NoCredentialsError", (Exception,), {})("none"), r"no credentials \(none\); set e.g. AWS_"),
    (RuntimeError("surprise"), r"the storage refuses \(surprise\); check the address"),
]


@pytest.mark.parametrize(("error", "reason"), FAILURES, ids=lambda each: type(each).__name__)
def test_failures_say_what_to_do(
    memory: Any, file: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    for call in ("info", "get_file", "put_file", "cat_file", "glob"):
        monkeypatch.setattr(type(memory), call, fail)
    address = RemotePath("memory", "a")
    for read in (lambda: address.fetch(file), address.glob, address.sha256):
        with pytest.raises(InputError, match=f"^memory://a: {reason}"):
            read()
    with pytest.raises(NotWritable, match=f"^memory://a: {reason}"):
        address.publish(file, overwrite=True)
    if not isinstance(error, PermissionError):
        with pytest.raises(NotWritable, match=reason):
            address.check_folder()


def test_storage_that_never_answers(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs")
    monkeypatch.setattr(remote, "_ANSWER_SECONDS", 1.0)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(NotWritable, match="s3://bucket/a: cannot be reached"):
            RemotePath("s3", "bucket/a").publish(file, overwrite=False)
    s3fs.S3FileSystem.clear_instance_cache()
