"""Work shared by threads, with results in the order of the work."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def imap_threads(work: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[Result]:
    """Work on the items in threads, a few at a time, and yield the results as the items stand."""
    waiting = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        running: list[Future[Result]] = [pool.submit(work, item) for item in islice(waiting, threads + 1)]
        while running:
            result = running.pop(0).result()
            running.extend(pool.submit(work, item) for item in islice(waiting, 1))
            yield result
