"""Which raws of some folders belong together: those of one folder, or those taken soon after each other."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from demosaic_ntc.batch.discovery import RAW_SUFFIXES, FoundInput, InputSearch
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits, open_header
from demosaic_ntc.raw.reading import read_facts


@dataclass(frozen=True, slots=True)
class Burst:
    """Raws that become one picture, and the name of that, below the folder of results."""

    frames: tuple[Path, ...]
    name: Path  # without extension


@dataclass(frozen=True, slots=True)
class FoundBursts:
    """The bursts in folders, and what cannot be a frame: linear DNGs, such as this program writes."""

    bursts: list[Burst]
    left_out: list[Path]


def find_bursts(folders: Iterable[Path], output: Path, gap: float | None, *, recursive: bool) -> FoundBursts:
    """The bursts in folders, in a fixed order.

    Without a gap the raws of a folder are one. With one they are ordered by the times they were taken at, and
    a burst ends where the next was taken more than so many seconds later, or at no known time.
    """
    every = list(InputSearch(RAW_SUFFIXES, recursive, output).files(folders))
    linear = [each for each in every if _is_linear(each.source)]
    found = [each for each in every if each not in linear]
    bursts = list[Burst]()
    for folder, inputs in groupby(found, key=lambda each: each.source.parent):
        group = list(inputs)
        if gap is None:
            name = group[0].within if group[0].within != Path() else Path(folder.name)
            bursts.append(Burst(tuple(each.source for each in group), name))
        else:
            bursts += _split(group, gap)
    return FoundBursts(bursts, [each.source for each in linear])


def _is_linear(path: Path) -> bool:
    """Whether a file is a DNG whose pixels have all colours; one that cannot be read is told of later."""
    if path.suffix.lower() != ".dng":
        return False
    with suppress(InputError), open_header(path, InputLimits()) as header:
        return header.is_linear
    return False


def _split(inputs: list[FoundInput[Path]], gap: float) -> Iterator[Burst]:
    """The bursts of one folder, by the times of their frames; each is called as its first."""
    times = {each.source: read_facts(each.source).get("date") for each in inputs}
    ordered = sorted(inputs, key=lambda each: (times[each.source] or datetime.min, each.source))
    frames: list[Path] = []
    for each in ordered:
        last, now = times[frames[-1]] if frames else None, times[each.source]
        follows = last is not None and now is not None and (now - last).total_seconds() <= gap
        if frames and not follows:
            yield Burst(tuple(frames), each.within / frames[0].stem)
            frames = []
        frames.append(each.source)
    yield Burst(tuple(frames), ordered[0].within / frames[0].stem)
