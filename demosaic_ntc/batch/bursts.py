"""Which raws of some folders belong together: those of one folder, or those taken soon after each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from demosaic_ntc.batch.discovery import RAW_SUFFIXES, FoundInput, InputSearch
from demosaic_ntc.raw.reading import read_facts


@dataclass(frozen=True, slots=True)
class Burst:
    """Raws that become one picture, and the name of that, below the folder of results."""

    frames: tuple[Path, ...]
    name: Path  # without extension


def find_bursts(folders: Iterable[Path], output: Path, gap: float | None, *, recursive: bool) -> list[Burst]:
    """The bursts in folders, in a fixed order.

    Without a gap the raws of a folder are one. With one they are ordered by the times they were taken at, and
    a burst ends where the next was taken more than so many seconds later, or at no known time.
    """
    found = InputSearch(RAW_SUFFIXES, recursive, output).files(folders)
    bursts = []
    for folder, inputs in groupby(found, key=lambda each: each.source.parent):
        group = list(inputs)
        if gap is None:
            name = group[0].within if group[0].within != Path() else Path(folder.name)
            bursts.append(Burst(tuple(each.source for each in group), name))
        else:
            bursts += _split(group, gap)
    return bursts


def _split(inputs: list[FoundInput[Path]], gap: float) -> Iterator[Burst]:
    """The bursts of one folder, by the times of their frames; each is called as its first."""
    times = {each.source: read_facts(each.source).get("date") for each in inputs}
    ordered = sorted(inputs, key=lambda each: (times[each.source] or datetime.min, each.source))
    frames: list[Path] = []
    for each in ordered:
        if frames and not _follows(times[frames[-1]], times[each.source], gap):
            yield Burst(tuple(frames), each.within / frames[0].stem)
            frames = []
        frames.append(each.source)
    yield Burst(tuple(frames), ordered[0].within / frames[0].stem)


def _follows(one: datetime | None, other: datetime | None, gap: float) -> bool:
    """Whether a frame was taken soon after another."""
    return one is not None and other is not None and (other - one).total_seconds() <= gap
