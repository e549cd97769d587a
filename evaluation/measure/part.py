"""What a benchmark compares, and the description of it that is kept with its results.

A part is a frozen dataclass: sets of inputs, methods, and plain values. Its plan is the same as JSON has it:
names, checksums and settings. Read back, a plan and the results are enough for tables and pages; nothing of
it can be run.
"""

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

from ..data.crops import CropBox
from ..data.sets import Picture, PictureSet
from ..methods.method import Method
from .case import Case, Measured, Row


@dataclass(frozen=True)
class Look:
    """A scene that a report shows in all versions: what of which picture, and what stands beside methods."""

    key: str
    name: str
    picture: Picture
    frame: CropBox | None
    versions: Any  # a function from the picture's pixels to versions by name, the truth among them


@dataclass(frozen=True)
class Part(ABC):
    """Which methods are compared on what.

    `name` names the part in files and on the command line. A result depends on the columns in `keys`, and on
    those in `stamps`, which are read from the inputs; those in `unbounded` may be infinite, null in JSON.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    keys: ClassVar[tuple[str, ...]]
    stamps: ClassVar[tuple[str, ...]] = ()
    unbounded: ClassVar[tuple[str, ...]] = ()

    sets: tuple[PictureSet, ...]
    methods: tuple[Method, ...]

    @classmethod
    def form(cls) -> str:
        """What files of results say they hold."""
        return f"demosaic-ntc benchmark {cls.name} {cls.version}"

    @property
    def cases(self) -> list[Case]:
        """All that is to be known in the end: every method and task on every picture, picture by picture."""
        shown = {look.key for look in self.looks}
        return [
            self._case(each, picture, task, method, shown)
            for each in self.sets
            for picture in each.pictures
            for task in self.work
            for method in self.methods
        ]

    def _case(
        self, each: PictureSet, picture: Picture, task: Any, method: Method, shown: Container[str]
    ) -> Case:
        """One method on one picture."""
        known = {"method": method.name, "settings": method.settings, "sha256": picture.sha256}
        known |= self.depends(method, task)
        scene = self.scene(each, picture, task)
        return Case(
            {name: known[name] for name in self.keys},
            each.name,
            picture.name,
            method,
            picture,
            task,
            warmth=f"{method.name} {self.warmth(task)}",
            scene=scene if scene in shown else "",
        )

    @property
    def work(self) -> Sequence[Any]:
        """What is done to each picture: masks, noise."""
        return (None,)

    def depends(self, method: Method, task: Any) -> Row:
        """The columns of a key besides those of method and picture."""
        return {}

    def warmth(self, task: Any) -> str:
        """What must have been done once, untimed, before time is taken, besides the method itself."""
        return ""

    def scene(self, each: PictureSet, picture: Picture, task: Any) -> str:
        """The key of the scene in which a case is shown, if it is."""
        return ""

    @property
    @abstractmethod
    def protocol(self) -> dict[str, str]:
        """How the figures are made, line by line."""

    @abstractmethod
    def measure(self, case: Case, loaded: Any) -> Measured:
        """Do a case and compare its result with the truth."""

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
    def looks(self) -> list[Look]:
        """The scenes that a report shows."""
        return []

    @property
    def csv_names(self) -> dict[str, str]:
        """Columns that are called otherwise in CSV files."""
        return {}

    @property
    def told(self) -> dict[str, str]:
        """The lines of the protocol about methods."""
        return {f"method {method.name}": method.settings for method in self.methods}

    @property
    def plan(self) -> Row:
        """The part as JSON has it."""
        others = {field.name: getattr(self, field.name) for field in fields(self)}
        return others | {
            "methods": [{"name": m.name, "settings": m.settings, "role": m.role} for m in self.methods],
            "sets": [_described(each) for each in self.sets],
        }

    @classmethod
    def revived(cls, plan: Row) -> Self:
        """The part from its plan."""
        others = {name: tuple(v) if isinstance(v, list) else v for name, v in plan.items()}
        return cls(**others | {"methods": revived_methods(plan), "sets": revived_sets(plan)})


def revived_methods(plan: Row) -> tuple[Method, ...]:
    """The methods of a plan, which are names."""
    return tuple(Method(**method, run=cannot_run) for method in plan["methods"])


def revived_sets(plan: Row) -> tuple[PictureSet, ...]:
    """The sets of a plan, whose files are elsewhere."""
    return tuple(
        PictureSet(each["name"], tuple(map(_revived, each["pictures"])), tuple(each["left_out"]))
        for each in plan["sets"]
    )


def _described(each: PictureSet) -> Row:
    """A set as JSON has it."""
    names = ("name", "sha256", "height", "width")
    pictures = [{name: getattr(picture, name) for name in names} for picture in each.pictures]
    return {"name": each.name, "pictures": pictures, "left_out": list(each.left_out)}


def _revived(picture: Row) -> Picture:
    """A picture whose file is elsewhere."""
    path = Path(f"{picture['name']}.elsewhere")
    return Picture(path, picture["sha256"], picture["height"], picture["width"])


def cannot_run(*_: object) -> NoReturn:
    """Methods of a stored report are names."""
    raise TypeError("a method read from a report cannot be run; select it by its name")
