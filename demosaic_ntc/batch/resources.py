"""How the processors and the memory of this machine are shared out among workers."""

from collections.abc import Iterator

from demosaic_ntc.batch.job import Work
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.files.costs import memory as bytes_of
from demosaic_ntc.machine import available_memory, processors


def workers_that_fit(largest_pixels: int) -> int:
    """How many of the largest file fit into free memory at a time."""
    return max(int(available_memory() // bytes_of(largest_pixels)), 1)


def shared_out(cores: int, jobs: int | None, threads: int | None, most: int) -> Iterator[int]:
    """The threads of each worker, which together are as many as the processors.

    `most` bounds the number of workers that nobody has asked for.
    """
    workers = jobs or max(min(cores // (threads or 1), most), 1)
    share, rest = divmod(cores, workers)
    for worker in range(workers):
        yield threads or max(share + (worker < rest), 1)


def team_for(
    work: Work, *, jobs: int | None, threads: int | None, memory: int | None, most: int
) -> list[WorkerSetup]:
    """The workers for a batch, each with its share of the processors."""
    return [WorkerSetup(work, share, memory) for share in shared_out(processors(), jobs, threads, most)]
