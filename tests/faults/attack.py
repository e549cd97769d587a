"""A standing attack: files and options are mutated at random, and all readers and commands keep their word.

    python -m tests.faults.attack --minutes 30 --seed 1

A seed tells everything about a mutant: its target, its file, its mutations. Children work on mutants, so that
a crash or a hang costs no more than a child. A finding is minimised to the mutations that it takes; what is
kept of it is its seed, to be turned into a small generated case among the tests.
"""

import argparse
import os
import random
import select
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import psutil

from demosaic_ntc.jit.precompile import prepare_all
from tests.faults.mutants import Mutant, tried
from tests.faults.targets import ROOM

ROOT = Path(__file__).resolve().parents[2]

# No mutant may take longer: seconds of a processor, or, where nothing goes on at all, of any clock.
_BUSY, _IDLE = 60.0, 600.0

_GRACE = 20.0  # seconds in which a child closes what it has opened


def main() -> int:
    """Attack for some minutes; exit 1 if anything was found."""
    options = _options()
    if options.child:
        return _serve()
    prepare_all()  # mutants that wait for kernels to be compiled would count as hanging
    tally = _Tally(options.seed, time.monotonic() + 60 * options.minutes)
    with ThreadPoolExecutor(options.jobs) as pool:
        for attacker in [pool.submit(_attack, tally) for _ in range(options.jobs)]:
            attacker.result()
    _say(f"{tally.tried} mutants from seed {options.seed}: {dict(tally.counts)}")
    _say(f"findings: {sorted(tally.findings) or 'none'}")
    if tally.findings:
        options.seeds.parent.mkdir(exist_ok=True)
        with options.seeds.open("a", encoding="ascii") as file:
            file.writelines(f"{seed}\n" for seed in sorted(tally.findings))
    return 1 if tally.findings else 0


def _attack(tally: "_Tally") -> None:
    """Try one mutant after another until time is over."""
    child = _Child()
    try:
        while (seed := tally.next_seed()) is not None:
            answer = child.ask(f"{seed}\n")
            if answer.startswith("finding"):
                tally.findings.append(seed)
                _say(f"seed {seed}: {answer}\nseed {seed}: minimal mutations {_minimised(seed, child)}")
            tally.add(answer.partition(" ")[0], seed)
    finally:
        child.end()


class _Tally:
    """Seeds handed out to those who attack, and what became of them."""

    def __init__(self, seed: int, end: float) -> None:
        self._lock, self._seeds, self._end = Lock(), iter(range(seed, sys.maxsize)), end
        self.counts, self.findings = Counter[str](), list[int]()

    @property
    def tried(self) -> int:
        """How many mutants there were."""
        return sum(self.counts.values())

    def next_seed(self) -> int | None:
        """The next mutant; none when time is over."""
        with self._lock:
            return next(self._seeds) if time.monotonic() < self._end else None

    def add(self, what: str, seed: int) -> None:
        """Count a mutant, and say so now and then."""
        with self._lock:
            self.counts[what] += 1
            if self.tried % 500 == 0:
                _say(f"{self.tried} mutants up to seed {seed}: {dict(self.counts)}")


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--seeds", type=Path, default=ROOT / "build" / "attack.seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.child:
        _say(f"seed {options.seed}, {options.minutes:g} minutes")
    return options


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class _Child:
    """A process that tries mutants, replaced when it ends or hangs."""

    def __init__(self) -> None:
        self._process = self._started()

    def ask(self, line: str) -> str:
        """What became of a mutant: ``ok``, ``refused`` or ``finding`` with its reason."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            spoke = self._speaks()
            answer = process.stdout.readline().strip() if spoke else ""
        except OSError:
            spoke, answer = True, ""
        if answer:
            return answer
        self.end()
        self._process = self._started()
        return f"finding crash, exit {process.returncode}" if spoke else "finding hang"

    def _speaks(self) -> bool:
        """Whether the child says something before it has taken too long; another program may hold it up."""
        begun, busy, stream = time.monotonic(), self._cpu_seconds(), self._process.stdout
        assert stream is not None
        while not select.select([stream], [], [], 1.0)[0]:
            if self._cpu_seconds() - busy > _BUSY or time.monotonic() - begun > _IDLE:
                return False
        return True

    def _cpu_seconds(self) -> float:
        """Seconds of processors that the child and its children have taken."""
        try:
            return float(sum(psutil.Process(self._process.pid).cpu_times()[:4]))
        except psutil.Error:
            return 0.0

    def end(self) -> None:
        """End the child: it leaves nothing behind if it hears that there is no more to do."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _started(self) -> "subprocess.Popen[str]":
        """A child that has said that it is ready."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.attack", "--child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise SystemExit("the attack cannot begin: a child has ended; run tests/faults/test_attack.py")
        return process


def _serve() -> int:
    """Try the mutants that standard input names: a seed, and perhaps the numbers of its mutations to keep."""
    with TemporaryDirectory() as folder:
        _say("ready")
        try:
            for line in sys.stdin:
                seed, *kept = map(int, line.split())
                mutant = Mutant.of(seed)
                _say(tried(mutant.with_only(kept) if kept else mutant, Path(folder) / "work"))
        finally:
            ROOM.close()
    return 0


def _minimised(seed: int, child: _Child) -> list[int]:
    """The numbers of the mutations that a finding takes: those without which it is none are kept."""
    kept = list(range(1, 1 + Mutant.count(seed)))
    for number in list(kept):
        fewer = [other for other in kept if other != number]
        if fewer and child.ask(f"{seed} {' '.join(map(str, fewer))}\n").startswith("finding"):
            kept = fewer
    return kept


if __name__ == "__main__":
    sys.exit(main())
