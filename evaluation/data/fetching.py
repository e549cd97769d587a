"""Sets of pictures by name: found where the user keeps them, or downloaded once and checked.

A set is looked for under the folder that DEMOSAIC_NTC_DATA names, then in the user's cache; what is missing
there is downloaded. Every file must have its known checksum, wherever it lies.
"""

import logging
import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from demosaic_ntc.errors import InputError

from ..methods.method import requires
from . import known_sets
from .known_sets import KnownSet

DATA_VARIABLE = "DEMOSAIC_NTC_DATA"

Tell = Callable[[str], None]


def located(names: Iterable[Path], tell: Tell) -> list[Path]:
    """The folders meant: a folder that is there, or the set of that name."""
    return [
        name if name.is_dir() or str(name) not in known_sets.KNOWN_SETS else fetched(str(name), tell)
        for name in names
    ]


def fetched(name: str, tell: Tell) -> Path:
    """The folder of a known set with all of its files, downloaded where they are missing."""
    known = known_sets.KNOWN_SETS[name]
    kept = os.environ.get(DATA_VARIABLE)
    if kept and (Path(kept) / name).is_dir():
        return checked(Path(kept) / name, known)
    return _downloaded(known, _cache() / name, tell)


def checked(folder: Path, known: KnownSet) -> Path:
    """The folder, if it holds the files of a set and no others of that name."""
    for name, file in known.files.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: is missing; the set {known.name} has {len(known.files)} pictures")
        if sha256(path.read_bytes()).hexdigest() != file.sha256:
            raise InputError(
                f"{path}: is not the picture of the set {known.name}; replace it or rename the folder"
            )
    return folder


def _cache() -> Path:
    """Where downloads are kept."""
    return Path(_pooch().os_cache("demosaic-ntc")) / "sets"


def _downloaded(known: KnownSet, folder: Path, tell: Tell) -> Path:
    """Complete a folder; files that are there and right are not asked for again."""
    store = _pooch().create(
        path=folder,
        base_url=known.address,
        registry={name: f"sha256:{file.sha256}" for name, file in known.files.items()},
        urls={name: f"{known.address}/{file.source}" for name, file in known.files.items()},
        retry_if_failed=1,
    )
    missing = [name for name in known.files if not (folder / name).is_file()]
    if missing:
        tell(f"{known.name}: downloading {len(missing)} pictures to {folder}")
        tell(f"{known.name}: {known.title}; licence: {known.licence}")
    for name in known.files:
        _fetch(store, name, known, folder)
    return folder


def _fetch(store: Any, name: str, known: KnownSet, folder: Path) -> None:
    """Make sure that a file is there, or say exactly what to put where."""
    address, otherwise = store.get_url(name), _by_hand(known, folder)
    try:
        store.fetch(name)
    except ValueError as error:
        wrong = f"{address}: is not the picture of the set {known.name} (another checksum)"
        raise InputError(f"{wrong}; {otherwise}") from error
    except OSError as error:  # the system's, and those of requests
        raise InputError(f"{known.name} is not here and {address} cannot be read; {otherwise}") from error


def _by_hand(known: KnownSet, folder: Path) -> str:
    """What a user can do without a network."""
    first, last = next(iter(known.files)), list(known.files)[-1]
    return (
        f"put its {len(known.files)} files {first} … {last} into {folder}, "
        f"or into a folder {known.name} of the one that {DATA_VARIABLE} names"
    )


def _pooch() -> Any:
    """The package that downloads; it reports errors only, by exceptions."""
    with requires("benchmark"):
        import pooch
    pooch.get_logger().setLevel(logging.ERROR)
    return pooch
