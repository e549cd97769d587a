"""Results that are kept as they come, and continued from.

The JSON file is replaced as a whole after every result: whatever ends the run, everything finished is in it,
and the next run does only what is missing; what was refused is tried again. JSON has no infinity: the PSNR of
an exact result is null there. A report keeps the results of all its parts in the sections of one file.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, isfinite
from operator import itemgetter
from pathlib import Path
from typing import Any

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.header import InputLimits, open_regular

from .benchmark import Benchmark
from .case import Case, Measurement, Refusal, Row, run

REPORT = "demosaic-ntc report 1"
NAME = "results.json"

Key = Any  # a tuple, or one value


def write_text(target: Path, text: str) -> None:
    """Write a text in one piece."""
    with whole_file(target, overwrite=True) as file:
        file.write(text.encode(errors="backslashreplace"))  # names of files may be no text


def json_text(content: Mapping[str, Any]) -> str:
    """JSON that people can read and compare line by line."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


class ReportFile:
    """Named sections of one JSON file; each change is on disk at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sections: Row = _sections(path)

    def get(self, name: str) -> Any:
        """The content of a section; None if there is none."""
        return self._sections.get(name)

    def put(self, name: str, content: Any) -> None:
        """Replace a section."""
        self._sections[name] = content
        write_text(self.path, json_text({"format": REPORT, **self._sections}))


def _json(path: Path) -> Any:
    """What a regular file of JSON holds."""
    with open_regular(path, InputLimits()) as file:
        return json.load(file)


def _sections(path: Path) -> Row:
    """The sections of an earlier run; none when there is no file yet."""
    if not path.exists():
        return {}
    try:
        content: Row = _json(path)
        if not isinstance(content, dict) or content.pop("format") != REPORT:
            raise KeyError("format")
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise InputError(f"{path}: holds no report; choose another folder") from error
    return content


class Store:
    """The results of a part, of this run and of earlier ones, on disk if there is a place for them."""

    def __init__(self, place: ReportFile | Path | None, part: Benchmark, protocol: Row | None = None) -> None:
        self._place, self.part = place, part
        self._protocol = part.protocol if protocol is None else protocol
        self._key = itemgetter(*part.keys, *part.stamps)  # what a result is found by
        self._rows: dict[Key, Row] = {}
        self._reasons: dict[Key, Row] = {}
        self.extra: Row = {}  # what else is written, made of the results
        self._read()

    def __contains__(self, case: Case) -> bool:
        """Whether there is a result for this case."""
        return self._key(self._depends(case)) in self._rows

    def __iter__(self) -> Iterator[Row]:
        """All results."""
        return iter(list(self._rows.values()))

    def fill(
        self, cases: Iterable[Case], keep: Callable[[Case, Measurement], None] | None = None
    ) -> Iterator[Case]:
        """Do cases, telling each that is over; what `keep` does comes before the result that says so."""
        for case, result in run(self.part, cases):
            if isinstance(result, Refusal):
                self.refuse(result)
            elif isinstance(result, Measurement):
                if keep is not None:
                    keep(case, result)
                self.add(case, result.figures)
            yield case

    def add(self, case: Case, figures: Row) -> None:
        """Keep a result, on disk at once."""
        depends = self._depends(case)
        self._rows[self._key(depends)] = depends | {"set": case.set, "image": case.image} | figures
        self._reasons.pop(self._key(depends), None)
        self.write()

    def refuse(self, refusal: Refusal) -> None:
        """Keep why there is no result, on disk at once; one that is there already stays."""
        depends = self._depends(refusal.case)
        if self._key(depends) not in self._rows:
            self._reasons[self._key(depends)] = depends | {"reason": refusal.reason}
            self.write()

    def found(self, *, stamped: bool) -> tuple[list[Row], list[Refusal]]:
        """The results and refusals of the part's cases, under the names that set and image have now.

        Where inputs are not there any more, results are found without what is read from them.
        """
        key_of = self._key if stamped else itemgetter(*self.part.keys)
        done, reasons = ({key_of(row): row for row in kept.values()} for kept in (self._rows, self._reasons))
        rows, refusals = [], []
        for case in self.part.cases:
            key = key_of(self._depends(case) if stamped else case.key)
            if key in done:
                rows.append(done[key] | {"set": case.set, "image": case.image})
            elif key in reasons:
                refusals.append(Refusal(case, reasons[key]["reason"]))
        return rows, refusals

    def _depends(self, case: Case) -> Row:
        """All that the result of a case depends on."""
        return case.key | self.part.stamp(case)

    def write(self) -> None:
        """Replace what is on disk."""
        content = {
            "format": self.part.form(),
            "protocol": self._protocol,
            "results": [
                {
                    name: None if isinstance(value, float) and not isfinite(value) else value
                    for name, value in row.items()
                }
                for row in self._rows.values()
            ],
            "refusals": list(self._reasons.values()),
            **self.extra,
        }
        if isinstance(self._place, ReportFile):
            self._place.put(self.part.name, content)
        elif self._place is not None:
            write_text(self._place, json_text(content))

    def _read(self) -> None:
        """Take over the results of earlier runs, if any are kept."""
        place = self._place
        path = place.path if isinstance(place, ReportFile) else place
        try:
            if isinstance(place, ReportFile):
                content = place.get(self.part.name)
            else:
                content = _json(place) if place and place.exists() else None
            if content is None:
                return
            if content["format"] != self.part.form():
                raise KeyError("format")
            for row in content["results"]:
                infinite = {name: inf for name in self.part.unbounded if row.get(name, 0) is None}
                self._rows[self._key(row)] = row | infinite
            self._reasons = {self._key(row): row for row in content.get("refusals", ())}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{path}: holds no results of this benchmark; choose another name") from error
