"""One method on one input, measured: cases, their results, and how they are run one after the other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from textwrap import shorten
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, TypeVar

from demosaic_ntc import Restored
from demosaic_ntc.errors import InputError, LicenceMissing, ModelTooLarge
from demosaic_ntc.peak_memory import peak_bytes, reset_peak

from ..methods.method import Method
from .protocol import machine

if TYPE_CHECKING:
    from .benchmark import Benchmark

#: A result as names and plain values, as JSON and a data frame have it.
Row = dict[str, Any]

_LONGEST = 300  # letters of a reason; some libraries explain themselves over pages


@dataclass(frozen=True, slots=True)
class Case:
    """One method on one input.

    `key` is what the result depends on: two results with the same key are interchangeable. Set and image are
    where it belongs now. `source` is what is loaded, once for all cases in a row that share it.
    """

    key: Row
    set: str
    image: str
    method: Method
    source: Any
    task: Any = None  # what is done to the source: a mask, noise
    warmth: str = ""  # what must have been run once, untimed, before time is taken
    row: str = ""  # once refused, other cases of this row are not tried
    scene: str = ""  # what it is shown in, if it is shown

    @property
    def words(self) -> str:
        """The case in words."""
        task = getattr(self.task, "name", self.task)
        return f"{self.set}, {self.image}{f', {task}' if task else ''}: {self.method.name}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a case gave: its figures, and the picture if there is one."""

    figures: Row
    restored: Restored | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A case that could not be done, and why."""

    case: Case
    reason: str

    @property
    def words(self) -> str:
        """Whose figures are missing, and why."""
        return f"{self.case.method.name}: {self.reason}"


def run(part: "Benchmark", cases: Iterable[Case]) -> Iterator[tuple[Case, Measurement | Refusal | None]]:
    """Do the cases one after the other; one that is refused does not stop the others.

    Nor does it matter when a method refuses what it is warmed up on. Nothing is returned for a case whose row
    was refused before.
    """
    warm, refused = set[str](), set[str]()
    for source, group in groupby(cases, key=lambda case: case.source):
        loaded = None
        for case in group:
            if case.row and case.row in refused:
                yield case, None
                continue
            loaded = part.load(source) if loaded is None else loaded
            if case.warmth not in warm:
                _attempt(case, partial(part.warm_up, case, loaded))
                warm.add(case.warmth)
            result = _attempt(case, partial(part.measure, case, loaded))
            if isinstance(result, Refusal):
                refused.add(case.row)
            yield case, result


Result = TypeVar("Result")


def _attempt(case: Case, work: Callable[[], Result]) -> Result | Refusal:
    """Do some work of a case; whatever goes wrong in a peer is a refusal, in ours an error."""
    try:
        return work()
    except Exception as error:
        if case.method.role != "peer" and not isinstance(error, InputError | LicenceMissing | ModelTooLarge):
            raise
        return Refusal(case, reason(error))


def reason(error: Exception) -> str:
    """Why a method has no figures, in a line."""
    if isinstance(error, InputError):
        return str(error)
    told = ": ".join(filter(None, (type(error).__name__, str(error))))
    return f"failed ({shorten(told, _LONGEST, placeholder=' …')}); its figures are left out"


def refusal_words(refusals: Iterable[Refusal]) -> list[str]:
    """Why methods have no figures, each reason once."""
    return list(dict.fromkeys(refusal.words for refusal in refusals))


def measure_cost(call: Callable[[], Result]) -> tuple[Result, Row]:
    """What a call returns, and what it took: on the wall, on all threads, the process's peak memory."""
    reset_peak()
    wall, cpu = perf_counter(), process_time()
    result = call()
    cost = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
    return result, cost | {"peak_bytes": peak_bytes()}


def collect_proof(restored: Restored) -> Row:
    """What a picture's certificate proves, and where it was made."""
    proof = restored.certificate
    return {
        "groups": proof.groups if proof else None,
        "norms_known": proof.close if proof else None,
        "vertices": proof.vertices if proof else None,
        "machine": machine(),
    }
