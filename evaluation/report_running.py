"""Jobs of a report, done once: what is measured is kept, and what is to be looked at beside it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from demosaic_ntc import Restored

from .crops import CropBox
from .gallery import Gallery
from .pictures import eight_bit
from .running import Refusal, StoredJob
from .store import ResultStore

AnyJob = TypeVar("AnyJob", bound=StoredJob)
Results = Iterator[Any]


@dataclass(frozen=True, slots=True)
class Showing:
    """What is shown of which job: the box of its picture, or None if it is not shown."""

    gallery: Gallery
    box: Callable[[Any], CropBox | None]

    def lacks(self, job: StoredJob) -> bool:
        """Whether a picture is to be shown that is not there."""
        return self.box(job) is not None and not self.gallery.has(job.key)

    def keep(self, job: StoredJob, restored: Restored) -> None:
        """Keep what is shown of a job's result."""
        box = self.box(job)
        if box is not None:
            self.gallery.keep(job.key, eight_bit(restored.image), box)


@dataclass(slots=True)
class _Latest:
    """What a method returned last, so that it can be shown after it was measured."""

    restored: list[Restored] = field(default_factory=list)

    def watched(self, job: AnyJob) -> AnyJob:
        """The job, with its method's result noted."""
        method: Any = job.method  # benchmarks have their own kinds of methods, all with a function `run`

        def noted(*arguments: Any) -> Restored:
            self.restored[:] = [method.run(*arguments)]
            return self.restored[0]

        changed: Any = job
        watched: AnyJob = replace(changed, method=replace(method, run=noted))
        return watched


def missing(jobs: Iterable[AnyJob], store: ResultStore[Any], showing: Showing) -> list[AnyJob]:
    """The jobs whose result or picture is not there."""
    return [job for job in jobs if job.key not in store or showing.lacks(job)]


def run_all(
    jobs: Iterable[AnyJob],
    run: Callable[[list[AnyJob]], Results],
    store: ResultStore[Any],
    showing: Showing,
) -> Iterator[AnyJob]:
    """Do the jobs, each of them yielded when it is done or refused.

    A picture is kept before its result, which says that the job is done.
    """
    latest = _Latest()
    todo = [latest.watched(job) for job in jobs]
    for job, result in zip(todo, run(todo), strict=True):
        if isinstance(result, Refusal):
            store.refuse(job.key, result.reason)
        else:
            showing.keep(job, latest.restored[0])
            store.add(result)
        yield job
