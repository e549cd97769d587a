"""Workers that cost no more than their own file: watched, ended at their limits, replaced when they die."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import wait
from types import TracebackType

from demosaic_ntc.batch.job import (
    Allowance,
    Ended,
    Event,
    Identity,
    Job,
    Moved,
    Outcome,
    Publishing,
    Started,
    Status,
    result_from,
)
from demosaic_ntc.batch.seat import HungUp, Seat
from demosaic_ntc.batch.stop import Stop
from demosaic_ntc.batch.worker import Terms, out_of_memory
from demosaic_ntc.files.partial import remove_stale

# How often limits are checked and new jobs looked for.
_TICK_SECONDS = 0.2

# What is under way may still be finished this long after a wish to stop.
_GRACE_SECONDS = 1.5

# This many workers in a row that end before they have begun a file mean that none ever will.
_FALSE_STARTS = 3


class Supervisor:
    """A team of workers, each started when there is something to do; leaving the block ends them all."""

    def __init__(self, team: Sequence[Terms], allowance: Allowance, stop: Stop) -> None:
        self._team = team
        self._allowance = allowance
        self._stop = stop
        self._size = len(team)
        self._seats: dict[int, Seat] = {}
        self._waiting: deque[Job] = deque()
        self._unwanted: deque[Job] = deque()
        self._false_starts = 0

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for seat in self._seats.values():
            _dismiss(seat)

    def abandon(self, job: Job) -> None:
        """Give up a job that was fetched, soon; may be called from any thread."""
        self._unwanted.append(job)

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """Work on the jobs as they come, telling what happens; a None means that there is none at the moment.

        A job is given to its worker only after its `Started` has been taken note of.
        """
        more = True
        while not self._stop.asked:
            more = more and self._fetch(jobs)
            yield from self._drop_unwanted()
            if not more and not self._waiting and not self._busy():
                return
            self._fill_seats()
            yield from self._hand_out()
            yield from self._watch()
        yield from self._wind_down()

    def _fetch(self, jobs: Iterator[Job | None]) -> bool:
        """Take as many jobs as there is room for; return whether more may come."""
        for _ in range(self._size - len(self._busy()) - len(self._waiting)):
            try:
                job = next(jobs)
            except StopIteration:
                return False
            if job is None:
                return True
            self._waiting.append(job)
        return True

    def _fill_seats(self) -> None:
        """Start as many workers as there are jobs for them."""
        needed = len(self._busy()) + len(self._waiting)
        for number in range(self._size):
            if len(self._seats) < needed and number not in self._seats:
                self._seats[number] = Seat(number, self._team[number])

    def _hand_out(self) -> Iterator[Event]:
        """Give a job to everybody who waits for one."""
        for seat in self._seats.values():
            if seat.is_idle and self._waiting:
                job = self._waiting.popleft()
                yield Started(seat.number, job)
                seat.give(job)

    def _drop_unwanted(self) -> Iterator[Event]:
        """Give up what is no longer wanted, whether it waits or is under way."""
        while self._unwanted:
            job = self._unwanted.popleft()
            if job in self._waiting:
                self._waiting.remove(job)
                yield Ended(None, job, Outcome(Status.ABANDONED, "given up"))
            for seat in [seat for seat in self._busy() if seat.job is job]:
                yield from self._give_up(seat, Status.ABANDONED, "given up")

    def _busy(self) -> list[Seat]:
        """Who is at work."""
        return [seat for seat in self._seats.values() if seat.job]

    def _wind_down(self) -> Iterator[Event]:
        """Let what is nearly done be finished; the rest is given up when the block is left."""
        end = time.monotonic() + _GRACE_SECONDS
        while self._busy() and time.monotonic() < end and not self._stop.insisted:
            yield from self._watch()

    def _watch(self) -> Iterator[Event]:
        """Wait until something happens, then see to everybody."""
        voices = [voice.fileno() for seat in self._seats.values() for voice in (seat.channel, seat.stderr)]
        if self._stop.fileno() in wait([*voices, self._stop.fileno()], _TICK_SECONDS):
            self._stop.hear()
        for seat in list(self._seats.values()):
            try:
                yield from self._hear(seat)
                yield from self._hold_to_limits(seat)
            except (HungUp, KeyError, TypeError, ValueError):  # gone, or its answers make no sense
                yield from self._mourn(seat)

    def _hear(self, seat: Seat) -> Iterator[Event]:
        """Take in what a worker says."""
        for answer in seat.answers():
            if "ready" in answer:
                seat.is_ready = True
            elif "identity" in answer:
                seat.has_begun, self._false_starts = True, 0
                seat.identity = answer["identity"] and Identity(**answer["identity"])
            elif seat.job and "stage" in answer:
                yield Moved(seat.number, seat.job, answer["stage"], answer["share"])
            elif seat.job and "publishing" in answer:
                yield Publishing(seat.number, seat.job, result_from(answer["publishing"]))
                seat.nod()
            elif seat.job and "outcome" in answer:
                outcome = Outcome.from_plain(answer["outcome"])
                job, seat.job = seat.job, None
                yield Ended(seat.number, job, outcome)

    def _hold_to_limits(self, seat: Seat) -> Iterator[Event]:
        """End a worker that takes too long or too much."""
        seconds, memory = self._allowance.seconds, self._allowance.memory
        if seconds is not None and seat.seconds > seconds:
            reason = f"took longer than {seconds:g} s; raise `timeout` or choose a faster `quality`"
            yield from self._give_up(seat, Status.TIMEOUT, reason)
        elif memory is not None and seat.job and seat.resident_bytes > memory:
            yield from self._give_up(seat, Status.FAILED, out_of_memory(memory))

    def _give_up(self, seat: Seat, status: Status, reason: str) -> Iterator[Event]:
        """End a worker in the middle of its job; another will take its place."""
        job, identity, seconds = seat.job, seat.identity, seat.seconds
        self._remove(seat)
        if job is not None:
            outcome = Outcome(status, reason, identity=identity, seconds={"total": seconds})
            yield Ended(seat.number, job, outcome)

    def _mourn(self, seat: Seat) -> Iterator[Event]:
        """See what became of a worker that has ended by itself; another will take its place."""
        job, seconds = seat.job, seat.seconds
        ending = seat.last_words()
        self._remove(seat)
        if not seat.has_begun:  # no file can be blamed
            self._count_false_start(seat, ending)
            self._waiting.extendleft([job] if job else [])
        elif job is not None:
            reason = f"the process working on it crashed ({ending}); the file is probably damaged"
            known = Outcome(Status.CRASHED, reason, identity=seat.identity, log=seat.log)
            yield Ended(seat.number, job, replace(known, seconds={"total": seconds}))

    def _count_false_start(self, seat: Seat, ending: str) -> None:
        """Give up when no worker comes up."""
        self._false_starts += 1
        if self._false_starts >= _FALSE_STARTS:
            raise RuntimeError(f"workers end before they begin ({ending}): {seat.log}")

    def _remove(self, seat: Seat) -> None:
        """End a worker and give its place free."""
        _dismiss(seat)
        del self._seats[seat.number]


def _dismiss(seat: Seat) -> None:
    """End a worker, and clear away what it leaves half-written."""
    seat.end()
    if seat.job is not None:
        remove_stale(seat.job.target.parent)
