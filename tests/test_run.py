"""The context of a restoration: work shared by threads, time, progress."""

import os
import subprocess
import sys
from threading import Event, get_ident
from time import sleep

import pytest

from demosaic_ntc import run as module
from demosaic_ntc.run import Progress, Run, Timings, do_threads, imap_threads
from tests.batch.batches import PATIENCE


@pytest.mark.parametrize("threads", [1, 3, 20, 10**20])
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


def test_what_waits_is_not_begun_after_an_error_or_when_nobody_asks_any_more() -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        sleep(0.005)
        if item == 0:
            raise MemoryError

    with pytest.raises(MemoryError):
        do_threads(work, range(200), 2)
    assert len(begun) < 100
    begun.clear()
    results = imap_threads(work, range(1, 200), 2, waiting=200)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(begun) < 100


def test_small_results_wait_for_a_slow_one_before_them() -> None:
    last_is_done = Event()

    def work(item: int) -> int:
        if item == 0:
            assert last_is_done.wait(PATIENCE)
        elif item == 9:
            last_is_done.set()
        return item

    assert list(imap_threads(work, range(10), 2, waiting=10)) == [*range(10)]
    last_is_done.clear()
    do_threads(work, range(10), 2)


def test_one_thread_is_the_one_that_asks() -> None:
    assert {*imap_threads(lambda _: get_ident(), range(5), 1)} == {get_ident()}
    assert get_ident() not in {*imap_threads(lambda _: get_ident(), range(5), 2)}


@pytest.mark.parametrize("threads", [1, 2])
def test_errors_of_the_work_come_through(threads: int) -> None:
    with pytest.raises(ZeroDivisionError):
        list(imap_threads(lambda item: 1 // item, [1, 0], threads))


def test_threads_are_as_many_as_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3, 5, 8}, raising=False)
    assert Run.start().threads == 3
    assert Run.start(2).threads == 2


@pytest.mark.skipif(
    module._trim is None or os.sysconf("SC_PAGE_SIZE") != 4096, reason="the C library gives no memory back"
)
def test_a_stage_begins_without_what_was_freed_before_it() -> None:
    code = (
        "from demosaic_ntc.run import Run\n"
        "def resident(): return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "kept, room = [], []\n"
        "for _ in range(4000): room.append(bytearray(20_000)); kept.append(bytearray(100))\n"
        "room.clear(); before = resident(); Run().stage('groups'); print(before - resident())"
    )
    freed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert int(freed) > 40e6


def test_stages_and_their_parts_are_reported_in_units() -> None:
    told: list[Progress] = []
    Run(1, told.append).stage("groups").part(0.5, 1.0).part(0.0, 0.5).report(0.5)
    assert told == [Progress("groups", 625, 1000)]


def test_parts_that_run_at_once_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module, "read_work_clock", lambda: now[0])
    timings = Timings()
    with timings.stage("write"):
        first, second = timings.part("render"), timings.part("render")
        first.__enter__()
        now[0] = 1.0
        second.__enter__()
        now[0] = 2.0
        first.__exit__(None, None, None)
        now[0] = 3.0
        second.__exit__(None, None, None)
        now[0] = 5.0
        with timings.part("render"):
            now[0] = 6.0
    assert timings.seconds == {"render": 4.0, "write": 2.0}
