"""How the processors and the memory of this machine are shared out among workers."""

from demosaic_ntc.batch.job import JobWork
from demosaic_ntc.batch.spec import Workers
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.machine import available_memory, processors
from demosaic_ntc.workflows.costs import memory as bytes_of


def workers_that_fit(largest_pixels: int) -> int:
    """How many of the largest file fit into free memory at a time."""
    return max(int(available_memory() // bytes_of(largest_pixels)), 1)


def team_for(work: JobWork, wish: Workers, most: int) -> list[WorkerSetup]:
    """The workers for a batch, whose threads together are as many as the processors.

    `most` bounds the number of workers that nobody has asked for.
    """
    cores = processors()
    workers = wish.jobs or max(min(cores // (wish.threads or 1), most), 1)
    share, rest = divmod(cores, workers)
    threads = [wish.threads or max(share + (worker < rest), 1) for worker in range(workers)]
    return [WorkerSetup(work, each, wish.memory) for each in threads]
