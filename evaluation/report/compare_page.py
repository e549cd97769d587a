"""The page that shows a photographer's raws in several versions."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from demosaic_ntc.errors import InputError
from demosaic_ntc.files.settings import Development
from demosaic_ntc.imaging.cfa import Cfa

from ..measure.protocol import commit, machine, versions
from ..measure.store import write_text
from ..methods.demosaicers import catalogue
from ..methods.method import Effort, Method, picked
from .comparison import (
    BAYER_METHODS,
    MARGIN,
    OTHER_METHODS,
    WHITE,
    Negative,
    Parts,
    read_negative,
    scenes,
    whole_scene,
)
from .page import Page, Scene, page_html

PAGE, PICTURES = "index.html", "pictures"

_MOST_NAMED = 3  # raws in the title

_INTRODUCTION = (
    "The same raw samples, interpolated in different ways and finished alike. There is no truth to compare "
    "with, so there are no figures: look at fine lines, coloured edges and small print."
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is compared; without parts whole pictures are."""

    methods: tuple[str, ...] = ()  # none: those that know the array
    parts: Parts | None = field(default_factory=Parts)
    development: Development = field(default_factory=Development)
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse names that nobody knows before any raw is read."""
        if self.methods and len(picked(catalogue(self.effort), self.methods)) == 1:
            raise InputError("a comparison needs two methods; name another one")

    @property
    def versions(self) -> int:
        """About how many versions of a raw there will be: X-Trans has fewer methods, small ones parts."""
        parts = 1 if self.parts is None else len(self.parts.boxes) or self.parts.count
        return parts * len(self.methods or BAYER_METHODS)

    @property
    def effort(self) -> Effort:
        """How methods are called."""
        return Effort(threads=self.threads, white=WHITE)


def write_comparison(
    sources: Sequence[Path], folder: Path, choice: Choice, report: Callable[[str], None]
) -> Path:
    """Make the page for some raws; returns where it is."""
    shown: list[Scene] = []
    used: dict[str, Method] = {}
    for name, source in zip(_names(sources), sources, strict=True):
        negative = replace(read_negative(source, choice.development), name=name)
        methods = chosen(choice, negative.cfa)
        used |= {method.name: method for method in methods}
        shown += _scenes(negative, methods, choice.parts, folder, report)
    page = Page(_title(sources), _INTRODUCTION, _facts(choice, used.values()), tuple(shown))
    write_text(folder / PAGE, page_html(page))
    return folder / PAGE


def chosen(choice: Choice, cfa: Cfa) -> list[Method]:
    """The methods named, or those that know the array."""
    usual = BAYER_METHODS if cfa.is_bayer else OTHER_METHODS
    return picked(catalogue(choice.effort), choice.methods or usual)


def _scenes(
    negative: Negative,
    methods: Sequence[Method],
    parts: Parts | None,
    folder: Path,
    report: Callable[[str], None],
) -> list[Scene]:
    """What is shown of one raw."""
    if parts is None:
        return [whole_scene(negative, methods, folder / PICTURES, report)]
    return list(scenes(negative, parts, methods, report))


def _names(sources: Iterable[Path]) -> list[str]:
    """What the pictures are called: by their files, numbered where two are called the same."""
    counts, names = Counter[str](), []
    for source in sources:
        counts[source.stem] += 1
        number = counts[source.stem]
        names.append(source.stem if number == 1 else f"{source.stem} ({number})")
    return names


def _title(sources: Sequence[Path]) -> str:
    """What the page is called."""
    names = [source.name for source in sources]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED:] = [f"{len(names) - _MOST_NAMED} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _facts(choice: Choice, methods: Iterable[Method]) -> dict[str, str]:
    """What a reader must know to make the same page again."""
    how = choice.development
    part = (
        "whole pictures"
        if choice.parts is None
        else f"parts, interpolated with {MARGIN} pixels around them; our groups of patches start elsewhere "
        "than in a whole picture, which changes single pixels by a step or two of 255"
    )
    return {
        "samples": "black subtracted, balanced, under the sRGB curve, 16 bits: the same for all methods",
        "development": f"white balance {how.balance}, exposure {how.exposure}, camera matrix, sRGB, 8 bits",
        "shown": part,
        "machine": machine(),
        "versions": versions("rawpy"),
        "commit": commit(),
        **{f"method {method.name}": method.settings for method in methods},
    }
