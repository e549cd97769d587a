"""Sets of pictures by name: found where the user keeps them, or downloaded once and checked.

The name of a set stands for exactly the files of its registry, in the form of pooch, beside this module: a
benchmark on other pictures under the same name would be no comparison. A set is looked for under the folder
that DEMOSAIC_NTC_DATA names, then in the user's cache; what is missing there is downloaded. Every file must
have its known checksum, wherever it lies.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from demosaic_ntc.errors import InputError

from ..methods.method import requires
from .facades import make_set

DATA_VARIABLE = "DEMOSAIC_NTC_DATA"

#: Registries of sets that everybody measures on: a line of title, one of licence, and of each file its name,
#: checksum and address.
KNOWN_SETS = {name: Path(__file__).with_name(f"{name}.txt") for name in ("kodak", "mcmaster")}

GENERATED = "facades"  #: pictures that are drawn here, whose truth is exact

Tell = Callable[[str], None]


def locate(name: Path, tell: Tell) -> Path:
    """The folder meant: one that is there, or that of a known or generated set; what is none stays."""
    if name.is_dir():
        return name
    if str(name) == GENERATED:
        return make_set(Path(_pooch().os_cache("demosaic-ntc")) / "sets" / GENERATED)
    return fetch(str(name), tell) if str(name) in KNOWN_SETS else name


def fetch(name: str, tell: Tell) -> Path:
    """The folder of a known set with all of its files, downloaded where they are missing."""
    kept = os.environ.get(DATA_VARIABLE)
    if kept and (Path(kept) / name).is_dir():
        return check_folder(Path(kept) / name, name)
    return _download(name, Path(_pooch().os_cache("demosaic-ntc")) / "sets" / name, tell)


def check_folder(folder: Path, name: str) -> Path:
    """The folder, if it holds the files of a set and no others of that name."""
    registry = _store(name, folder).registry
    for path in (folder / file for file in registry):
        if not path.is_file():
            raise InputError(f"{path}: is missing; the set {name} has {len(registry)} pictures")
        if f"sha256:{_pooch().file_hash(path)}" != registry[path.name]:
            raise InputError(f"{path}: is not the picture of the set {name}; replace it or rename the folder")
    return folder


def _download(name: str, folder: Path, tell: Tell) -> Path:
    """Complete a folder; files that are there and right are not asked for again."""
    store = _store(name, folder)
    missing = [file for file in store.registry if not (folder / file).is_file()]
    if missing:
        title, licence = (line[2:] for line in KNOWN_SETS[name].read_text(encoding="utf-8").splitlines()[:2])
        tell(f"{name}: downloading {len(missing)} pictures to {folder}")
        tell(f"{name}: {title}; {licence}")
    for file in store.registry:
        _fetch(store, file, name, folder)
    return folder


def _fetch(store: Any, file: str, name: str, folder: Path) -> None:
    """Make sure that a file is there, or say exactly what to put where."""
    address, (first, *_, last) = store.get_url(file), store.registry
    otherwise = (
        f"put its {len(store.registry)} files {first} … {last} into {folder}, "
        f"or into a folder {name} of the one that {DATA_VARIABLE} names"
    )
    try:
        store.fetch(file)
    except ValueError as error:
        wrong = f"{address}: is not the picture of the set {name} (another checksum)"
        raise InputError(f"{wrong}; {otherwise}") from error
    except OSError as error:  # the system's, and those of requests
        raise InputError(f"{name} is not here and {address} cannot be read; {otherwise}") from error


def _store(name: str, folder: Path) -> Any:
    """A folder for the files of a set, none of which is looked for yet."""
    store = _pooch().create(path=folder, base_url="", retry_if_failed=1)
    store.load_registry(KNOWN_SETS[name])
    return store


def _pooch() -> Any:
    """The package that downloads; it reports errors only, by exceptions."""
    with requires("benchmark"):
        import pooch
    pooch.get_logger().setLevel(logging.ERROR)
    return pooch
