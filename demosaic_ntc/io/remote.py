"""The one place where fsspec is reached: objects in storage beyond this machine, known by addresses.

An object is fetched whole, as it was at one moment, and published whole or not at all. What tells it from a
changed one is its ETag; where a storage has none, its size and time.

fsspec: https://filesystem-spec.readthedocs.io; s3fs: https://s3fs.readthedocs.io
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from demosaic_ntc.errors import (
    NO_SPACE,
    DemosaicNtcError,
    DiskFull,
    Exists,
    InputError,
    NotWritable,
    border,
    words,
)

_ADDRESS = re.compile(r"(?P<protocol>[a-z][a-z0-9+.-]+)://(?P<key>.+)", re.DOTALL)
_LOCAL = ("file", "local")

# Storage in which an upload appears at its end, in one step, and can be kept from replacing anything.
_IN_ONE_STEP = ("s3", "s3a")

# Larger than any picture: one request uploads all of it, so that nothing half can stay behind.
_CHUNK_BYTES = 2**32

# A storage that does not answer, or transfers fewer bytes a second, is given up as out of reach.
_ANSWER_SECONDS, _BYTES_PER_SECOND = 60.0, 2**16

# How servers refuse conditions that they do not know, or that do not hold.
_OF_CONDITIONS = (errno.EEXIST, errno.ENOSYS, errno.EINVAL)

# How often an object is fetched that changes meanwhile.
_TRIES = 3

# What libraries call their errors of networks and credentials; they are not imported here.
_OF_NETWORKS = {"ConnectionError", "HTTPClientError", "ClientConnectionError", "TimeoutError", "gaierror"}
_OF_CREDENTIALS = {"NoCredentialsError", "PartialCredentialsError", "NoAuthTokenError", "TokenRetrievalError"}


@dataclass(frozen=True, slots=True)
class RemoteStatus:
    """What a storage tells of an object, called as the system calls it of a file."""

    st_size: int  # -1 where it is not told
    st_mtime_ns: int
    etag: str  # empty where the storage has none
    st_mode: int = stat.S_IFREG


@dataclass(frozen=True, slots=True, order=True)
class RemotePath:
    """The address of an object, with the names that `Path` has for what a batch does with one."""

    protocol: str
    key: str  # bucket, folders and name
    listed: RemoteStatus | None = field(default=None, compare=False, repr=False)  # as its folder told it

    def __str__(self) -> str:
        return f"{self.protocol}://{self.key}"

    def __truediv__(self, below: str | os.PathLike[str]) -> "RemotePath":
        parts = (self.key, *PurePosixPath(below).parts)
        return RemotePath(self.protocol, "/".join(parts))

    @property
    def name(self) -> str:
        """The last part."""
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The last part without its extension."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The extension."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> "RemotePath":
        """The folder that it lies in."""
        return RemotePath(self.protocol, self.key.rpartition("/")[0])

    def with_stem(self, stem: str) -> "RemotePath":
        """Another object of the same folder and extension."""
        return self.parent / f"{stem}{self.suffix}"

    def is_relative_to(self, folder: object) -> bool:
        """Whether it is a folder, or lies below it."""
        return f"{self}/".startswith(f"{folder}/")

    def stat(self) -> RemoteStatus:
        """What is known of it: from its folder's list, or asked now; FileNotFoundError if there is none."""
        return self.listed or self._look()

    def sha256(self) -> str:
        """The checksum of its content."""
        with self._border(InputError):
            size = self._look().st_size
            return sha256(self._ask("cat_file", str(self), size=size)).hexdigest()

    def list_files(self, *, recursive: bool) -> "Iterator[RemotePath] | None":
        """The objects in this folder, and below it if asked; None if it is an object, or nothing."""
        with self._border(InputError):
            try:
                if self._ask("info", str(self))["type"] != "directory":
                    return None
            except FileNotFoundError:
                return None
            found = (
                self._ask("find", str(self), detail=True).values()
                if recursive
                else self._ask("ls", str(self), detail=True)
            )
            return self._below(found)

    def glob(self) -> "Iterator[RemotePath]":
        """The objects that a pattern stands for."""
        with self._border(InputError):
            return self._below(self._ask("glob", str(self), detail=True).values())

    def fetch(self, place: Path) -> RemoteStatus:
        """Copy it to a new file, whole and as it was at one moment; return what it was known by then."""
        with self._border(InputError):
            for _ in range(_TRIES):
                before = self._look()
                self._ask("get_file", str(self), str(place), size=before.st_size)
                if before == self._look() and before.st_size in (-1, place.stat().st_size):
                    return before
        raise InputError(f"{self}: changes while it is read; wait until it is complete")

    def publish(self, finished: Path, *, overwrite: bool) -> RemoteStatus:
        """Let a finished file appear at the address, whole or not at all; return what it is known by."""
        with self._border(NotWritable):
            try:
                if self.protocol in _IN_ONE_STEP:
                    self._upload(finished, overwrite=overwrite)
                else:
                    self._upload_aside(finished, overwrite=overwrite)
            except Exception:
                if not self._holds(finished):
                    raise  # else an answer was lost on its way, or another run has made the same
            return self._look(NotWritable)

    def check_folder(self) -> None:
        """Refuse a folder whose bucket is not there or cannot be reached; the folder itself need not be."""
        bucket = RemotePath(self.protocol, self.key.partition("/")[0])
        with self._border(NotWritable), suppress(PermissionError):  # who may write need not be able to list
            self._ask("info", str(bucket))

    def _storage(self) -> Any:
        """The storage itself, which must not remember what it has told before."""
        import fsspec  # noqa: PLC0415 (an extra)

        storage = fsspec.filesystem(self.protocol)
        storage.invalidate_cache()
        return storage

    def _ask(self, what: str, *arguments: str, size: int = 0, **options: Any) -> Any:
        """Let the storage do something, within a time that is enough for so many bytes."""
        storage = self._storage()
        if storage.async_impl:
            options["timeout"] = _ANSWER_SECONDS + max(size, 0) / _BYTES_PER_SECOND
        return getattr(storage, what)(*arguments, **options)

    def _look(self, kind: type[DemosaicNtcError] = InputError) -> RemoteStatus:
        """What the storage tells of the object now; FileNotFoundError if there is none."""
        with self._border(kind, FileNotFoundError):
            return _status(self._ask("info", str(self)))

    def _below(self, found: Any) -> "Iterator[RemotePath]":
        """Files among what a storage has listed, in a fixed order; refuses names that leave their folder."""
        names = {str(each["name"]): each for each in found if each["type"] == "file"}
        for name, facts in sorted(names.items()):
            address = read_address(self._storage().unstrip_protocol(name))
            assert isinstance(address, RemotePath)
            yield replace(address, listed=_status(facts))

    def _upload(self, finished: Path, *, overwrite: bool) -> None:
        """Upload in one step, by a condition unless anything may be replaced."""
        upload = partial(self._ask, "put_file", str(finished), str(self), chunksize=_CHUNK_BYTES)
        size = finished.stat().st_size
        try:
            upload(mode="overwrite" if overwrite else "create", size=size)
        except OSError as error:
            exists = isinstance(error, FileExistsError)
            if overwrite or not (exists or error.errno in _OF_CONDITIONS):
                raise
            self._check_new()
            upload(mode="overwrite", size=size)

    def _upload_aside(self, finished: Path, *, overwrite: bool) -> None:
        """Upload under another name, then rename: uploads of such storage can be seen while they grow."""
        aside = self.parent / f".demosaic-ntc-{secrets.token_hex(6)}.partial"
        storage = self._storage()
        try:
            storage.put_file(str(finished), str(aside))
            if not overwrite:
                self._check_new()
            storage.mv(str(aside), str(self))
        except BaseException:
            with suppress(Exception):
                storage.rm_file(str(aside))
            raise

    def _check_new(self) -> None:
        """Refuse an address at which there is something."""
        with suppress(FileNotFoundError):
            if self._look().st_size:
                raise FileExistsError(errno.EEXIST, "exists already")

    def _holds(self, finished: Path) -> bool:
        """Whether what lies at the address is what a file holds."""
        with suppress(Exception):
            return self.sha256() == sha256(finished.read_bytes()).hexdigest()
        return False

    @contextmanager
    def _border(self, kind: type[DemosaicNtcError], *passing: type[OSError]) -> Iterator[None]:
        """Turn whatever fsspec and its likes raise into errors of ours, but for those that may pass."""
        try:
            with border(lambda error: self._explain(error, kind)):
                yield
        except DemosaicNtcError as error:
            if isinstance(error.__cause__, passing):
                raise error.__cause__ from None
            raise

    def _explain(self, error: Exception, kind: type[DemosaicNtcError]) -> DemosaicNtcError:
        """What a failure means, and what to do."""
        if isinstance(error, FileExistsError):
            return Exists(f"{self}: exists already; use `overwrite` to replace it")
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            return DiskFull(f"{self}: no space left; free some, or let TMPDIR name another folder for copies")
        kinds, said = {each.__name__ for each in type(error).__mro__}, words(error)
        if isinstance(error, FileNotFoundError):
            reason = "there is nothing at this address; check its bucket and name"
        elif isinstance(error, PermissionError):
            reason = f"access denied ({said}); check the credentials and what they allow"
        elif isinstance(error, ImportError):
            reason = f"needs a package ({said}); install it, or for s3:// 'demosaic-ntc[cluster]'"
        elif kinds & _OF_CREDENTIALS:
            reason = f"no credentials ({said}); set e.g. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        elif kinds & _OF_NETWORKS:
            reason = f"cannot be reached ({said}); check network and endpoint, go on with `resume`"
        else:
            reason = f"the storage refuses ({said}); check the address"
        return kind(f"{self}: {reason}")


Place = Path | RemotePath


def read_address(text: str) -> Place:
    """The place that an address names: an object or folder in storage, or a path of this machine."""
    address = _ADDRESS.fullmatch(text)
    if address is None:
        raise InputError(f"{text}: is not an address; give one such as s3://bucket/folder")
    if address["protocol"] in _LOCAL:
        return Path(address["key"])
    key = address["key"].rstrip("/")
    if not key or {".", ".."} & set(key.split("/")):
        raise InputError(f"{text}: leads out of its folder; give an address without such parts")
    return RemotePath(address["protocol"], key)


def _status(facts: Mapping[str, Any]) -> RemoteStatus:
    """What a storage tells, whatever it calls that."""
    size = facts.get("size")
    times = (facts.get(name) for name in ("LastModified", "mtime", "last_modified", "modified", "created"))
    time = next((time for time in times if time is not None), 0)
    seconds = time.timestamp() if isinstance(time, datetime) else time
    tag = next((facts[name] for name in ("ETag", "etag") if facts.get(name)), "")
    nanoseconds = round(seconds * 1e9) if isinstance(seconds, (int, float)) else 0
    return RemoteStatus(-1 if size is None else int(size), nanoseconds, str(tag).strip('"'))
