"""What whole conversions cost, from raw file to picture, by ours and by other programs."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from ..data.raws import Raw
from ..methods.method import Method
from .case import Case, Measured, Row
from .part import Part, cannot_run, revived_methods
from .protocol import machine, versions


@dataclass(frozen=True)
class ConvertPart(Part):
    """Which programs are compared on which raws."""

    name = "convert"
    keys = ("program", "settings", "sha256")

    sources: tuple[Raw, ...] = ()

    @classmethod
    def of(cls, sources: Iterable[Raw], programs: Iterable[Method]) -> Self:
        """Programs on raws."""
        return cls((), tuple(programs), tuple(sources))

    @property
    def cases(self) -> list[Case]:
        """Every program on every raw, raw by raw."""
        return [
            Case(
                {"program": method.name, "settings": method.settings, "sha256": raw.sha256},
                raw.set,
                raw.name,
                method,
                raw,
                warmth="none",
            )
            for raw in self.sources
            for method in self.methods
        ]

    def load(self, source: Raw) -> Raw:
        """A raw is made, where it must be, for each program anew."""
        return source

    def measure(self, case: Case, loaded: Raw) -> Measured:
        """Convert a raw in a folder that is then removed."""
        with TemporaryDirectory() as folder:
            took = case.method.run(loaded.make(Path(folder)), Path(folder))
        return Measured({"megapixels": loaded.megapixels, **asdict(took), "machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
        return {
            "versions": versions("rawpy"),
            "raws": "real ones as they are; synthetic 14-bit DNGs, uncompressed, the sample side by side",
            "processes": "each conversion in one of its own; ours after a small raw: kernels are there",
            "stages": "CPU seconds between reports of progress; writing includes rendering",
            "memory": "peak resident memory of the process, interpreter and libraries included",
            **{f"program {method.name}": method.settings for method in self.methods},
        }

    @property
    def plan(self) -> Row:
        """The part as JSON has it."""
        names = ("set", "name", "sha256", "megapixels")
        sources = [{name: getattr(raw, name) for name in names} for raw in self.sources]
        return super().plan | {"sources": sources}

    @classmethod
    def revived(cls, plan: Row) -> Self:
        """The part from its plan."""
        return cls.of((Raw(**raw, make=cannot_run) for raw in plan["sources"]), revived_methods(plan))
