"""Files that appear in a folder while one shoots, each taken once it has stopped growing."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from watchfiles import watch

from demosaic_ntc.batch.batch import RunningBatch
from demosaic_ntc.batch.discovery import FoundInput, InputSearch, make_folders, make_output
from demosaic_ntc.batch.job import Job
from demosaic_ntc.batch.space import room_for
from demosaic_ntc.batch.spec import BatchTask
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.errors import Clash, InputError
from demosaic_ntc.io.atomic import check_target, file_key, remove_stale
from demosaic_ntc.io.remote import Place
from demosaic_ntc.machine import processors

# Even without a notice of the system, which can be lost, the folder is looked at this often.
_LOOK_SECONDS = 5.0

Signature = tuple[int, int]  # bytes, time of the last change


class Arrivals:
    """The new files of a folder; leaving the block ends the watch."""

    def __init__(
        self, folder: Path, search: InputSearch, *, settle: float, existing: bool = False, poll: bool = False
    ) -> None:
        """Watch a folder; `existing` takes what is there already, `poll` needs no notices of the system."""
        self._folder = folder
        self._search = search
        self._settle = settle
        self._bell, self._over = Event(), Event()
        self._known = {} if existing else dict(self._list_files())
        self._growing: dict[FoundInput[Path], tuple[Signature, float]] = {}
        self._watcher = Thread(target=self._watch, args=(poll,), daemon=True)

    def __enter__(self) -> "Arrivals":
        self._bell.set()
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def __iter__(self) -> Iterator[FoundInput[Path] | None]:
        """The files in the order in which they are complete; None while there is none."""
        while True:
            if not self._folder.is_dir():
                raise InputError(f"{self._folder}: the watched folder is gone; start again when it is back")
            if self._bell.is_set():
                self._bell.clear()
                self._look()
            yield self._complete()

    def _watch(self, poll: bool) -> None:
        """Ring whenever something happens in the folder, and now and then without a reason."""
        with suppress(Exception):  # where the system sends no notices, now and then has to do
            for _ in watch(
                self._folder,
                watch_filter=None,
                stop_event=self._over,
                rust_timeout=round(_LOOK_SECONDS * 1000),
                yield_on_timeout=True,
                force_polling=poll,
                recursive=self._search.recursive,
            ):
                self._bell.set()
        while not self._over.wait(_LOOK_SECONDS):
            self._bell.set()

    def _list_files(self) -> Iterator[tuple[FoundInput[Path], Signature]]:
        """All files of the folder as they are now."""
        # Folders come and go while one watches: those that are back are listed next time.
        for found in self._search.files([self._folder], on_refusal=lambda _: None):
            signature = _signature(found)
            if signature is not None:
                yield found, signature

    def _look(self) -> None:
        """Find what is new or has changed."""
        for found, signature in self._list_files():
            if self._known.get(found) != signature and found not in self._growing:
                self._growing[found] = signature, time.monotonic()

    def _complete(self) -> FoundInput[Path] | None:
        """A file that has not grown for long enough, if there is one."""
        now = time.monotonic()
        for found, (before, since) in list(self._growing.items()):
            signature = _signature(found)
            if signature is None:
                del self._growing[found]
            elif signature != before:
                self._growing[found] = signature, now
            elif now - since >= self._settle:
                del self._growing[found]
                self._known[found] = signature
                return found
        return None


def _signature(found: FoundInput[Path]) -> Signature | None:
    """What changes while a file grows; None if it is gone."""
    with suppress(OSError):
        status = found.source.stat()
        return status.st_size, status.st_mtime_ns
    return None


def check_watched(task: BatchTask) -> Path:
    """The folder to watch; refuses one that is none, or in which results would be taken for new inputs."""
    (folder,) = task.sources
    if not isinstance(folder, Path):
        raise InputError(f"{folder}: cannot be watched; run a batch with `resume` now and then instead")
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give the one in which raws appear")
    same = file_key(folder) == file_key(task.naming.output)
    if same and task.search.takes(f"any{task.naming.suffix}"):
        raise Clash("results would be taken for new raws; give another `output`")
    return folder


@contextmanager
def begin_watch(task: BatchTask, arrivals: Arrivals, tell: Callable[[str], None]) -> Iterator[RunningBatch]:
    """Make a place for the results of files as they arrive; `tell` hears of those that can have none."""
    make_output(task.naming.output)
    check_target(task.report.path)
    remove_stale(task.naming.output)
    room = room_for([], task.naming.output, task.kind.bytes_per_pixel)
    with arrivals, closing(Stop()) as stop:
        yield RunningBatch(task, _jobs(arrivals, task, tell), processors(), room, stop)


def _jobs(arrivals: Arrivals, task: BatchTask, tell: Callable[[str], None]) -> Iterator[Job | None]:
    """The jobs of files as they arrive; no result takes the place of another input's."""
    owners: dict[Place, Place] = {}
    for number, found in enumerate(arrivals, start=1):
        if found is None:
            yield None
            continue
        job = task.job(found, number)
        if (owner := owners.setdefault(job.target, job.source)) != job.source:
            tell(f"{job.source}: passed over, {job.target} is the result of {owner}; give `name`")
        elif file_key(job.target) == file_key(task.report.path):
            tell(f"{job.source}: passed over, {job.target} is the report; give `name`")
        else:
            make_folders(task.naming.output, [job.target])
            yield job
