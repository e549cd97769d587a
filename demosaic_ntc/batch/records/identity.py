"""What inputs and settings are known by, so that a later run can tell whether anything has changed."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demosaic_ntc.batch.job import Identity
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits, open_regular
from demosaic_ntc.io.remote import Place, RemotePath

# Settings that change how long a result takes or whether it is refused, never what it is; and the paths of
# files whose content counts instead.
_WITHOUT_EFFECT = {"threads", "overwrite", "limits", "bad_pixels", "dark", "flat", "source"}

_BLOCK = 2**20


def identify(path: Path) -> Identity | None:
    """What a file is known by; None for what is no regular file that can be read."""
    with suppress(InputError, OSError), open_regular(path, InputLimits()) as file:
        status = os.fstat(file.fileno())
        digest = hashlib.sha256()
        while block := file.read(_BLOCK):
            digest.update(block)
        return Identity(status.st_size, status.st_mtime_ns, digest.hexdigest())
    return None


def is_unchanged(path: Place, known: Identity, *, proven: bool = False) -> bool:
    """Whether a file is the one that was known; it is read only where the cheap signs differ.

    A file that was merely copied or touched is the same. One of equal size and time is taken for the same,
    unless that is to be proven: programs that edit in place can keep both. An object's ETag is a proof.
    """
    with suppress(OSError):
        if isinstance(path, RemotePath):
            return _is_same_object(path, known, proven=proven)
        status = path.stat()
        if status.st_size != known.bytes:
            return False
        if not proven and status.st_mtime_ns == known.mtime_ns:
            return True
        now = identify(path)
        return now is not None and now.sha256 == known.sha256
    return False


def _is_same_object(path: RemotePath, known: Identity, *, proven: bool) -> bool:
    """Whether an object is the one that was known; it is read only where its ETag or time do not tell."""
    now = path.stat()
    if now.st_size != known.bytes:
        return False
    if now.etag and known.etag:
        is_same = now.etag == known.etag
    else:
        is_same = not proven and now.st_mtime_ns == known.mtime_ns
    return is_same or path.sha256() == known.sha256


def fingerprint(kind: str, settings: Any, *companions: Path | str | None) -> str:
    """A name for settings and the content of the files that go with them, or words in place of a file.

    Settings as they are by default are left out, so that a new version, which may have more of them, gives
    the same name to the same wish: it alone makes nothing be done again.
    """
    facts = {
        "kind": kind,
        "settings": _that_matter(settings),
        "companions": [
            getattr(identify(each), "sha256", None) if isinstance(each, Path) else each for each in companions
        ],
    }
    return hashlib.sha256(_text(facts).encode()).hexdigest()[:16]


def _that_matter(settings: Any) -> dict[str, Any]:
    """The settings of a dataclass without those that are as by default or have no effect on the result."""
    chosen = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.name in _WITHOUT_EFFECT or _text(value) == _text(default):
            continue
        chosen[field.name] = _that_matter(value) if is_dataclass(value) else value
        if is_dataclass(default) and not chosen[field.name]:
            del chosen[field.name]
    return chosen


def _text(value: Any) -> str:
    """A value in words that tell it from others."""
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    """A value that JSON does not know, in types that it does."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
