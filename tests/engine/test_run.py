"""Work shared by threads: results in order, a few at a time."""

from threading import Event

import pytest

from demosaic_ntc.engine.run import imap_threads
from tests.batch.batches import PATIENCE


@pytest.mark.parametrize("threads", [1, 3, 20])
def test_results_stand_as_the_items_do(threads: int) -> None:
    assert list(imap_threads(lambda item: item**2, range(10), threads)) == [item**2 for item in range(10)]


def test_a_slow_item_does_not_lose_its_place() -> None:
    second_is_done = Event()

    def work(item: int) -> int:
        if item == 0:
            assert second_is_done.wait(PATIENCE)
        else:
            second_is_done.set()
        return item

    assert list(imap_threads(work, [0, 1], 2)) == [0, 1]


def test_only_a_few_items_are_begun_ahead_of_their_use() -> None:
    begun: list[int] = []
    results = imap_threads(begun.append, range(100), 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(begun) <= 4


def test_errors_of_the_work_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        list(imap_threads(lambda item: 1 // item, [1, 0], 2))
