"""The report of a batch: one JSON line per file and run, on its way to the disk as soon as the file is over.

Paths that are no text are written as JSON's escapes of lone surrogates, which Python reads back as the path.
"""

import errno
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from demosaic_ntc.batch.job import Identity, Job, Outcome, Status
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.files.atomic import refusals_explained

DEFAULT_NAME = "demosaic-ntc-report.jsonl"

Record = dict[str, Any]


def record_of(job: Job, outcome: Outcome) -> Record:
    """The line of a job that is over."""
    known = outcome.identity
    return {
        "input": str(job.source),
        "output": str(job.target),
        "status": outcome.status.value,
        "reason": outcome.reason,
        "settings": job.work.fingerprint,
        "input_bytes": known and known.bytes,
        "input_mtime_ns": known and known.mtime_ns,
        "input_sha256": known and known.sha256,
        "pixels": outcome.pixels,
        "seconds": {stage: round(seconds, 3) for stage, seconds in outcome.seconds.items()},
        "peak_bytes": outcome.peak_bytes,
        "certified_share": outcome.certified_share,
        "notices": list(outcome.notices),
        "log": outcome.log,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def identity_in(record: Record) -> Identity | None:
    """What the input of a record was known by."""
    if record["input_sha256"] is None:
        return None
    return Identity(record["input_bytes"], record["input_mtime_ns"], record["input_sha256"])


@dataclass(frozen=True, slots=True)
class Report:
    """A file of records, only ever added to; several runs may do so at the same time."""

    path: Path

    def append(self, record: Record) -> None:
        """Add a line, in one write, so that no other run's line can come in between."""
        line = json.dumps(record).encode("ascii") + b"\n"
        with refusals_explained(self.path):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                if os.write(descriptor, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(descriptor)

    def records(self) -> list[Record]:
        """All records; a last line that a dying run has left unfinished is passed over."""
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be read ({error.strerror}); give another --report"
            ) from error
        if lines and _is_torn(lines[-1]):
            lines.pop()
        return [self._record(number, line) for number, line in enumerate(lines, 1)]

    def mend(self) -> None:
        """Cut off a last line that is unfinished, so that the next one starts at its own."""
        self.records()  # refuses a file that is no report of ours: nothing of it may be cut
        with refusals_explained(self.path):
            if not self.path.exists():
                return
            with open(self.path, "r+b") as file:
                lines = file.readlines()
                if lines and _is_torn(lines[-1]):
                    file.truncate(sum(map(len, lines[:-1])))

    def _record(self, number: int, line: bytes) -> Record:
        """A line read back, or an error that names it."""
        try:
            record = json.loads(line)
            Status(record["status"])
            identity_in(record)
        except (ValueError, TypeError, KeyError) as error:
            advice = "move the file away or give another --report"
            raise InputError(f"{self.path}: line {number} is no record of a batch; {advice}") from error
        if missing := {"input", "output", "settings"} - record.keys():
            raise InputError(f"{self.path}: line {number} has no {missing.pop()}; give another --report")
        return dict(record)


def _is_torn(line: bytes) -> bool:
    """Whether a line is the start of a record that was never finished."""
    return line.startswith(b'{"input"') and not line.endswith(b"\n")
