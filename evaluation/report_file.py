"""The file ``results.json`` of a report: what every part has found, kept together, whole or not at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demosaic_ntc.errors import InputError

from .store import json_text
from .writing import write_text

FORMAT = "demosaic-ntc report 1"
NAME = "results.json"


class ReportFile:
    """Named sections of one JSON file; each change is on disk at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sections: dict[str, Any] = _read(path)

    def get(self, name: str) -> Any:
        """The content of a section; None if there is none."""
        return self._sections.get(name)

    def put(self, name: str, content: Any) -> None:
        """Replace a section."""
        self._sections[name] = content
        write_text(self.path, json_text({"format": FORMAT, **self._sections}))

    def section(self, name: str) -> "Section":
        """A section as a place for results."""
        return Section(self, name)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report, as a place for results."""

    file: ReportFile
    section: str

    @property
    def name(self) -> str:
        """The path and the section."""
        return f"{self.file.path} ({self.section})"

    def read(self) -> Any:
        """What the section holds; None if nothing."""
        return self.file.get(self.section)

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the section."""
        self.file.put(self.section, content)


def _read(path: Path) -> dict[str, Any]:
    """The sections of an earlier run; none when there is no file yet."""
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.pop("format") != FORMAT:
            raise KeyError("format")
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: holds no report; choose another folder") from error
    return content
