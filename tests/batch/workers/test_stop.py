"""A wish to stop: heard at once, counted, and never too much."""

import select

from demosaic_ntc.batch.workers.stop import Stop


def test_wish_is_heard_by_whoever_waits(stop: Stop) -> None:
    assert select.select([stop], [], [], 0)[0] == []
    stop.ask()
    assert select.select([stop], [], [], 0)[0] == [stop]
    stop.hear()
    assert select.select([stop], [], [], 0)[0] == []
    assert stop.is_asked, "it is not forgotten"


def test_second_wish_insists(stop: Stop) -> None:
    stop.ask()
    assert (stop.is_asked, stop.is_forced) == (True, False)
    stop.ask()
    assert stop.is_forced


def test_wishes_without_end_do_no_harm(stop: Stop) -> None:
    for _ in range(5000):
        stop.ask()
    assert stop.is_forced
