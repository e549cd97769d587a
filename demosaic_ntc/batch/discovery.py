"""Which files a batch takes and where each result goes, all decided before the first one is touched."""

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar, overload

from demosaic_ntc.batch.records.report import DEFAULT_NAME, Report
from demosaic_ntc.errors import Clash, InputError, NotWritable, OutputError
from demosaic_ntc.io.atomic import check_target, file_key, is_absent
from demosaic_ntc.io.remote import Place, RemotePath

_RAWS = """
3fr ari arw bay bmq cap cr2 cr3 crw cs1 dcr dcs dng drf eip erf fff fit fits fts gpr iiq k25 kc2 kdc mdc mef
mos mrw nef nrw orf ori pef ptx pxn qtk r3d raf raw rw2 rwl rwz sr2 srf srw x3f
"""
RAW_SUFFIXES = frozenset(f".{name}" for name in _RAWS.split())
MOSAIC_SUFFIXES = frozenset((".png", ".tif", ".tiff"))
PICTURE_SUFFIXES = MOSAIC_SUFFIXES | {".jpg", ".jpeg"}

# What a mask is called beside ``photo.jpg``: ``photo.mask.png`` or ``photo_mask.png``.
MASK_ENDINGS = (".mask.png", "_mask.png")

OnRefusal = Callable[[OSError], None]


# Where inputs lie: on this machine, or anywhere.
Where = TypeVar("Where", bound=Place, covariant=True)


@dataclass(frozen=True, slots=True)
class FoundInput(Generic[Where]):
    """An input, and where it lies within the folder that was named."""

    source: Where
    within: Path = Path()


@dataclass(frozen=True, slots=True)
class InputSearch:
    """Which files of a folder are taken."""

    suffixes: frozenset[str]
    recursive: bool
    output: Place  # not searched: what is there was made by this program
    except_endings: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Whether a file of this name is an input; hidden ones are not."""
        if name.startswith(".") or name.lower().endswith(self.except_endings):
            return False
        return os.path.splitext(name)[1].lower() in self.suffixes

    @overload
    def files(
        self, sources: Iterable[Path], on_refusal: OnRefusal | None = None
    ) -> Iterator[FoundInput[Path]]: ...

    @overload
    def files(
        self, sources: Iterable[Place], on_refusal: OnRefusal | None = None
    ) -> Iterator[FoundInput[Place]]: ...

    def files(
        self, sources: Iterable[Place], on_refusal: OnRefusal | None = None
    ) -> Iterator[FoundInput[Place]]:
        """The inputs that files, folders and patterns stand for, each once, in a fixed order.

        Folders that cannot be listed are refused: files in them would be missed without a word; unless
        somebody is told of them.
        """
        seen: set[FoundInput[Place]] = set()
        for source in sources:
            for found in self._expand(source, on_refusal or _refuse):
                if found not in seen:
                    seen.add(found)
                    yield found

    def _expand(self, source: Place, on_refusal: OnRefusal) -> Iterator[FoundInput[Place]]:
        """The inputs that one argument stands for; a file that is named is taken, whatever its name."""
        if isinstance(source, RemotePath):
            yield from self._expand_address(source)
            return
        place = Path(os.path.abspath(source))
        if place.is_dir():
            yield from self._walk(place, on_refusal)
        elif glob.has_magic(str(source)) and not os.path.lexists(place):
            matches = sorted(glob.glob(str(place), recursive=True))
            if not matches:
                raise InputError(f"{source}: no file matches this pattern; check it")
            for match in matches:
                yield from self._expand(Path(match), on_refusal)
        else:
            yield FoundInput(place)

    def _expand_address(self, source: RemotePath) -> Iterator[FoundInput[Place]]:
        """The inputs that an address stands for: those in a folder, those of a pattern, or an object."""
        if (inside := source.list_files(recursive=self.recursive)) is not None:
            for found in inside:
                within = Path(found.parent.key[len(source.key) :].lstrip("/"))
                hidden = any(part.startswith(".") for part in within.parts)
                if self.takes(found.name) and not hidden and not self._is_in_output(found, source):
                    yield FoundInput(found, within)
        elif glob.has_magic(source.key) and is_absent(source):
            matches = list(source.glob())
            if not matches:
                raise InputError(f"{source}: no object matches this pattern; check it")
            yield from map(FoundInput, matches)
        else:
            yield FoundInput(source)

    def _is_in_output(self, found: RemotePath, source: RemotePath) -> bool:
        """Whether an object lies in the folder of results, and that below the one that was named."""
        output = self.output
        if not isinstance(output, RemotePath) or output == source:
            return False
        return output.is_relative_to(source) and found.is_relative_to(output)

    def _walk(self, top: Path, on_refusal: OnRefusal) -> Iterator[FoundInput[Path]]:
        """The inputs in a folder, and below it if asked; links to folders are not followed.

        Results of another batch that lie further below, where its report names them, are no inputs.
        """
        output, results = os.path.realpath(str(self.output)), set[str]()
        for folder, below, names in os.walk(top, onerror=on_refusal):
            inside = (name for name in sorted(below) if self.recursive and not name.startswith("."))
            below[:] = [name for name in inside if os.path.realpath(os.path.join(folder, name)) != output]
            if DEFAULT_NAME in names and Path(folder) != top:
                results |= _find_results(Path(folder, DEFAULT_NAME))
            for name in sorted(filter(self.takes, names)):
                if os.path.join(folder, name) not in results:
                    yield FoundInput(Path(folder, name), Path(folder).relative_to(top))


def _find_results(report: Path) -> set[str]:
    """The places of results that a report names; none if it cannot be read as one."""
    with suppress(InputError, OutputError):
        return {str(record["output"]) for record in Report(report).records()}
    return set()


def _refuse(error: OSError) -> None:
    """Refuse a folder that cannot be listed."""
    raise InputError(f"{error.filename}: cannot be listed ({error.strerror}); check its permissions")


def mask_beside(source: Place) -> Path | None:
    """The mask that lies beside a picture, if one does."""
    if isinstance(source, RemotePath):
        raise InputError(f"{source}: masks are not fetched; copy the pictures and masks into a folder first")
    masks = (source.with_name(f"{source.stem}{ending}") for ending in MASK_ENDINGS)
    return next((mask for mask in masks if mask.exists()), None)


def check_pairs(pairs: Iterable[tuple[Place, Place]], others: Iterable[Path] = ()) -> None:
    """Refuse results that would fall on each other, on an input, or on other files that are read."""
    taken: dict[str, Place] = {}
    existing: list[Place] = []
    for source, target in pairs:
        first = taken.setdefault(os.path.normcase(str(target)), source)
        if first != source:
            advice = "tell them apart by `name`, such as '{stem}_{ext}'"
            raise Clash(f"{first} and {source} would both become {target}; {advice}")
        if isinstance(target, RemotePath) or os.path.lexists(target):
            existing.append(target)
    inputs = {file_key(path) for path in (*taken.values(), *others)}
    for target in existing:
        if file_key(target) in inputs:
            raise Clash(f"{target} is an input and would be overwritten; choose another `output` or `name`")


def check_apart(report: Path, *others: Iterable[Place]) -> None:
    """Refuse a report that is one of these files as well: lines would be added to a picture."""
    place = file_key(report)
    for path in chain(*others):
        if file_key(path) == place:
            raise Clash(
                f"{report} would be the report and is an input or a result, too; give another `report`"
            )


def check_output(folder: Place) -> None:
    """Refuse a folder that does not take files, or is gone, such as the place of a disk taken out."""
    if isinstance(folder, RemotePath):
        folder.check_folder()
        return
    if not folder.is_dir():
        kind = "is not a folder" if os.path.lexists(folder) else "there is no such folder"
        raise NotWritable(f"{folder}: {kind}; create it, or choose another `output`")
    check_target(folder / "demosaic-ntc")


def make_output(folder: Place) -> None:
    """Make the folder of results where it is missing, and refuse one that does not take files."""
    if isinstance(folder, Path) and not os.path.lexists(folder):
        _make_folder(folder, parents=True)
    check_output(folder)


def make_folders(output: Place, targets: Iterable[Place]) -> None:
    """Make the folders of results below the output folder, which itself must be there; storage needs none."""
    for folder in sorted({target.parent for target in targets if isinstance(target, Path)}):
        for place in reversed([folder, *folder.parents]):
            if place.is_relative_to(str(output)) and place != output:
                _make_folder(place)


def _make_folder(place: Path, *, parents: bool = False) -> None:
    """Make a folder, unless it is there."""
    try:
        place.mkdir(parents=parents, exist_ok=True)
    except OSError as error:
        raise NotWritable(f"{place}: cannot be made ({error.strerror}); choose another `output`") from error
