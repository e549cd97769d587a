"""Results that are kept as they come, and continued from.

The JSON file is replaced as a whole after every result: whatever ends the run, everything finished is in it,
and the next run does only what is missing. JSON has no infinity: the PSNR of an exact result is null there.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import asdict, fields
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


AnyRecord = TypeVar("AnyRecord", bound=Keyed)


class ResultStore(Generic[AnyRecord]):
    """The results of this run and of earlier ones, on disk if there is a file for them.

    `form` names what is in the file, `kind` is the type of a result, and its numbers called `unbounded` may
    be infinite.
    """

    form: ClassVar[str]
    kind: ClassVar[type[Any]]
    unbounded: ClassVar[tuple[str, ...]]

    def __init__(self, path: Path | None, protocol: Mapping[str, str]) -> None:
        self._path = path
        self._protocol = protocol
        self._records: dict[Hashable, AnyRecord] = {record.key: record for record in self._read(path)}

    def __contains__(self, key: Hashable) -> bool:
        """Whether there is a result for this key."""
        return key in self._records

    def get(self, key: Hashable) -> AnyRecord | None:
        """The result for this key."""
        return self._records.get(key)

    def add(self, record: AnyRecord) -> None:
        """Keep a result, on disk at once."""
        self._records[record.key] = record
        if self._path is not None:
            rows = [_encoded(each) for each in self._records.values()]
            content = {"format": self.form, "protocol": self._protocol, "results": rows}
            write_text(self._path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    def _read(self, path: Path | None) -> list[AnyRecord]:
        """The results of earlier runs; none when there is no file yet."""
        if path is None or not path.exists():
            return []
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != self.form:
                raise KeyError("format")
            return [self._decoded(row) for row in content["results"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: holds no results of this benchmark; choose another name") from error

    def _decoded(self, row: dict[str, Any]) -> AnyRecord:
        """A result from its JSON form; raises KeyError or TypeError when it is none."""
        if set(row) != {field.name for field in fields(self.kind)}:
            raise KeyError("fields")
        infinite = {name: inf for name in self.unbounded if row[name] is None}
        record: AnyRecord = self.kind(**(row | infinite))
        return record


def _encoded(record: Keyed) -> dict[str, Any]:
    """A result as JSON has it."""
    return {name: value if _is_finite(value) else None for name, value in asdict(record).items()}


def _is_finite(value: object) -> bool:
    """Whether JSON can hold a value."""
    return not isinstance(value, float) or isfinite(value)
