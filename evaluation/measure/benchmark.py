"""What a benchmark compares, and the description of it that is kept with its results.

A part is a frozen dataclass: sets of inputs, methods, and plain values. Its plan is the same as JSON has it:
names, checksums and settings. Read back, a plan and the results are enough for tables and pages; nothing of
it can be run.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from demosaic_ntc.viewer.crops import Box, CropBox

from .. import split_names
from ..data.sets import ImageSet, SetImage
from ..methods.method import Effort, Method, pick_methods
from .case import Case, Measurement, Row

if TYPE_CHECKING:
    from ..report.gallery import Gallery
    from ..report.plots import Drawing
    from ..report.tables import DataTable
    from .results import Results


@dataclass(frozen=True)
class Figure:
    """A scene that a report shows in all versions: what of which picture, and what stands beside methods."""

    key: str
    name: str
    picture: SetImage
    frame: CropBox | None
    versions: Any  # a function from the picture's pixels to versions by name, the truth among them


@dataclass(frozen=True, kw_only=True)
class Options:
    """What can be asked of benchmarks of pictures; each uses what concerns it."""

    methods: str | None = None  # names separated by commas, as in all texts; None: the usual ones
    quality: Any = "normal"
    threads: int = 1
    cfa: str | None = None
    crop: int = 10  # pixels left out on each side
    box: Box | None = None  # the part of each picture that is used
    masks: str | None = None
    seed: int = 0  # of masks
    sigma: str | None = None
    poisson: bool = False
    usual: bool | str = False  # what reports have: the usual pictures of known sets, or these

    def choose(
        self, catalogue: Callable[[Effort], Mapping[str, Method]], usual: Iterable[str]
    ) -> tuple[Method, ...]:
        """The methods that are named, or the usual ones."""
        names = usual if self.methods is None else split_names(self.methods)
        return tuple(pick_methods(catalogue(Effort(self.quality, self.threads)), names))


@dataclass(frozen=True)
class Benchmark(ABC):
    """Which methods are compared on what.

    `name` names the part in files and on the command line. A result depends on the columns in `keys`, and on
    those in `stamps`, which are read from the inputs; those in `unbounded` may be infinite, null in JSON.
    `task_key` is the column of what is done to a picture, or of the method where that is all.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    keys: ClassVar[tuple[str, ...]]
    task_key: ClassVar[str] = "task"
    stamps: ClassVar[tuple[str, ...]] = ()
    unbounded: ClassVar[tuple[str, ...]] = ()
    warms_each_task: ClassVar[bool] = False  # whether other tasks take other ways, to be gone untimed before

    sets: tuple[ImageSet, ...]
    methods: tuple[Method, ...]

    @classmethod
    @abstractmethod
    def of(cls, *sets: Any, **options: Any) -> Self:
        """The part on some sets that options ask for; what makes no sense is refused."""

    @abstractmethod
    def measure(self, case: Case, loaded: Any) -> Measurement:
        """Do a case and compare its result with the truth."""

    @property
    @abstractmethod
    def protocol(self) -> dict[str, str]:
        """How the figures are made, line by line."""

    @abstractmethod
    def tables(self, results: "Results", *, details: bool = False) -> "Iterator[DataTable]":
        """What was found."""

    def drawings(self, results: "Results", gallery: "Gallery") -> "Iterable[Drawing]":
        """What is drawn of it."""
        return ()

    @classmethod
    def form(cls) -> str:
        """What files of results say they hold."""
        return f"demosaic-ntc benchmark {cls.name} {cls.version}"

    @property
    def cases(self) -> list[Case]:
        """All that is to be known in the end: every method and task on every picture, picture by picture."""
        shown = {look.key for look in self.looks}
        return [
            Case(
                self._key(picture, task, method),
                each.name,
                picture.name,
                method,
                picture,
                task,
                warmth=f"{method.name} {task if self.warms_each_task else ''}",
                scene=scene if (scene := self.scene(each, picture, task)) in shown else "",
            )
            for each in self.sets
            for picture in each.pictures
            for task in self.work
            for method in self.methods
        ]

    def _key(self, picture: SetImage, task: Any, method: Method) -> Row:
        """What the result of a method on a picture depends on."""
        known = {"method": method.name, "settings": method.settings, "sha256": picture.sha256}
        known[self.task_key] = method.name if task is None else getattr(task, "name", task)
        return {name: known[name] if name in known else self.depends(name) for name in self.keys}

    def depends(self, name: str) -> Any:
        """A column of all keys that is the part's."""
        return getattr(self, name)

    @property
    def place(self) -> str:
        """The part of the pictures in words, of parts with a box."""
        box: Box | None = getattr(self, "box", None)
        return "whole" if box is None else ",".join(map(str, box))

    @property
    def work(self) -> Sequence[Any]:
        """What is done to each picture: masks, noise."""
        return (None,)

    def scene(self, each: ImageSet, picture: SetImage, task: Any) -> str:
        """The key of the scene in which a case is shown, if it is."""
        return ""

    def warm_up(self, case: Case, loaded: Any) -> object:
        """Do something small like a case: kernels are compiled and loaded before time is taken."""
        return None

    def load(self, source: Any) -> Any:
        """What cases work on."""
        return source.pixels()

    def stamp(self, case: Case) -> Row:
        """What else a result depends on, by the names of `stamps`; known only where the case can be run."""
        return {}

    @property
    def looks(self) -> list[Figure]:
        """The scenes that a report shows."""
        return []

    @property
    def csv_names(self) -> dict[str, str]:
        """Columns that are called otherwise in CSV files."""
        return {}

    @property
    def protocol_lines(self) -> dict[str, str]:
        """The lines of the protocol about methods."""
        return {f"method {method.name}": method.settings for method in self.methods}

    @property
    def plan(self) -> Row:
        """The part as JSON has it."""
        others = {field.name: getattr(self, field.name) for field in fields(self)}
        return others | {
            "methods": [{"name": m.name, "settings": m.settings, "role": m.role} for m in self.methods],
            "sets": [_describe_set(each) for each in self.sets],
        }

    @classmethod
    def from_plan(cls, plan: Row) -> Self:
        """The part from its plan: methods are names, the files of sets are elsewhere."""
        others = {name: tuple(v) if isinstance(v, list) else v for name, v in plan.items()}
        methods = tuple(Method(**method, run=cannot_run) for method in plan["methods"])
        return cls(**others | {"methods": methods, "sets": tuple(map(_restore_set, plan["sets"]))})


def _describe_set(each: ImageSet) -> Row:
    """A set as JSON has it."""
    names = ("name", "sha256", "height", "width")
    pictures = [{name: getattr(picture, name) for name in names} for picture in each.pictures]
    return {"name": each.name, "pictures": pictures, "left_out": list(each.left_out)}


def _restore_set(each: Row) -> ImageSet:
    """A set whose files are elsewhere."""
    pictures = [
        SetImage(Path(f"{picture['name']}.elsewhere"), picture["sha256"], picture["height"], picture["width"])
        for picture in each["pictures"]
    ]
    return ImageSet(each["name"], tuple(pictures), tuple(each["left_out"]))


def cannot_run(*_: object) -> NoReturn:
    """Methods of a stored report are names."""
    raise TypeError("a method read from a report cannot be run; select it by its name")


def fit_box(box: Box, sets: Iterable[ImageSet]) -> Box | None:
    """A box, unless a picture is too small for it."""
    sides = (min(picture.width, picture.height) for each in sets for picture in each.pictures)
    return box if min(sides, default=0) >= box[0] + box[2] else None
