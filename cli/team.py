"""How the processors and the memory of this machine are shared out among workers."""

import os
from collections.abc import Iterator

import psutil

from demosaic_ntc.batch.job import Work
from demosaic_ntc.batch.worker import Terms

from .costs import BYTES_AT_REST, BYTES_PER_PIXEL


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers_that_fit(largest_pixels: int) -> int:
    """How many of the largest file fit into free memory at a time."""
    needed = BYTES_AT_REST + BYTES_PER_PIXEL * largest_pixels
    return max(int(psutil.virtual_memory().available // needed), 1)


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
) -> list[Terms]:
    """The workers for a batch, each with its share of the processors."""
    return [Terms(work, share, memory) for share in shared_out(processors(), jobs, threads, most)]
