"""Results that are kept as they come, and continued from.

The JSON file is replaced as a whole after every result: whatever ends the run, everything finished is in it,
and the next run does only what is missing; what was refused is tried again. JSON has no infinity: the PSNR of
an exact result is null there.
"""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from math import inf, isfinite
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from demosaic_ntc.errors import InputError

from .writing import write_text


class Keyed(Protocol):
    """A result that knows what it depends on."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def key(self) -> Hashable:
        """What this result depends on."""


class Place(Protocol):
    """Where the results of a benchmark are kept."""

    @property
    def name(self) -> str:
        """What to call it in a message."""

    def read(self) -> Any:
        """What is kept there, as JSON has it; None if nothing is. Raises OSError or ValueError."""

    def write(self, content: Mapping[str, Any]) -> None:
        """Keep this instead."""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file for one benchmark."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def read(self) -> Any:
        """The file's content; None if there is no file."""
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else None

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the file as a whole."""
        write_text(self.path, json_text(content))


AnyRecord = TypeVar("AnyRecord", bound=Keyed)


class ResultStore(Generic[AnyRecord]):
    """The results of this run and of earlier ones, on disk if there is a file for them.

    `form` names what is in the file, `kind` is the type of a result, `key_kind` that of its key, and its
    numbers called `unbounded` may be infinite.
    """

    form: ClassVar[str]
    kind: ClassVar[type[Any]]
    key_kind: ClassVar[type[Any]]
    unbounded: ClassVar[tuple[str, ...]]

    def __init__(self, place: Place | Path | None, protocol: Mapping[str, str]) -> None:
        self._place = OwnFile(place) if isinstance(place, Path) else place
        self._protocol = protocol
        self._records: dict[Hashable, AnyRecord] = {}
        self._reasons: dict[Any, str] = {}
        self._read()

    def __contains__(self, key: Hashable) -> bool:
        """Whether there is a result for this key."""
        return key in self._records

    def get(self, key: Hashable) -> AnyRecord | None:
        """The result for this key."""
        return self._records.get(key)

    def add(self, record: AnyRecord) -> None:
        """Keep a result, on disk at once."""
        self._records[record.key] = record
        self._reasons.pop(record.key, None)
        self._write()

    def refuse(self, key: Hashable, reason: str) -> None:
        """Keep why there is no result, on disk at once; one that is there already stays."""
        if key not in self._records:
            self._reasons[key] = reason
            self._write()

    @property
    def reasons(self) -> Mapping[Any, str]:
        """Why there are no results, by their keys."""
        return dict(self._reasons)

    def __iter__(self) -> Iterator[AnyRecord]:
        """All results."""
        return iter(list(self._records.values()))

    def _write(self) -> None:
        """Replace what is on disk."""
        if self._place is not None:
            content = {
                "format": self.form,
                "protocol": self._protocol,
                "results": [_encoded(each) for each in self._records.values()],
                "refusals": [asdict(key) | {"reason": reason} for key, reason in self._reasons.items()],
            }
            self._place.write(content)

    def _read(self) -> None:
        """Take over the results of earlier runs, if any are kept."""
        if self._place is None:
            return
        try:
            content = self._place.read()
            if content is None:
                return
            if content["format"] != self.form:
                raise KeyError("format")
            self._records = {record.key: record for record in map(self._decoded, content["results"])}
            for row in content.get("refusals", ()):
                key = {name: value for name, value in row.items() if name != "reason"}
                self._reasons[self.key_kind(**key)] = row["reason"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            name = self._place.name
            raise InputError(f"{name}: holds no results of this benchmark; choose another name") from error

    def _decoded(self, row: dict[str, Any]) -> AnyRecord:
        """A result from its JSON form; raises KeyError or TypeError when it is none."""
        if set(row) != {field.name for field in fields(self.kind)}:
            raise KeyError("fields")
        infinite = {name: inf for name in self.unbounded if row[name] is None}
        record: AnyRecord = self.kind(**(row | infinite))
        return record


def json_text(content: Mapping[str, Any]) -> str:
    """JSON that people can read and compare line by line."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _encoded(record: Keyed) -> dict[str, Any]:
    """A result as JSON has it."""
    return {name: value if _is_finite(value) else None for name, value in asdict(record).items()}


def _is_finite(value: object) -> bool:
    """Whether JSON can hold a value."""
    return not isinstance(value, float) or isfinite(value)
