"""A standing attack: files and options are mutated at random, and all readers and commands keep their word.

    python -m tests.faults.attack --minutes 30 --seed 1

A seed tells everything about a mutant: its target, its file, its mutations. Children work on mutants, so that
a crash or a hang costs no more than a child. A finding is minimised to the mutations that it takes; what is
kept of it is its seed, to be turned into a small generated case among the tests.
"""

import argparse
import random
import select
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.faults.mutants import Mutant, bases, tried

ROOT = Path(__file__).resolve().parents[2]

# No mutant may take longer, on a busy machine.
_PATIENCE = 60.0


def main() -> int:
    """Attack for some minutes; exit 1 if anything was found."""
    options = _options()
    if options.child:
        return _serve()
    seeds = iter(range(options.seed, sys.maxsize))
    end, counts, findings = time.monotonic() + 60 * options.minutes, Counter[str](), []
    child = _Child()
    while time.monotonic() < end:
        seed = next(seeds)
        answer = child.ask(f"{seed}\n")
        counts[answer.partition(" ")[0]] += 1
        if answer.startswith("finding"):
            findings.append(seed)
            _say(f"seed {seed}: {answer}")
            _say(f"seed {seed}: minimal mutations {_minimised(seed, child)}")
        if sum(counts.values()) % 500 == 0:
            _say(f"{sum(counts.values())} mutants up to seed {seed}: {dict(counts)}")
    child.end()
    _say(f"{sum(counts.values())} mutants from seed {options.seed}: {dict(counts)}")
    _say(f"findings: {findings or 'none'}")
    if findings:
        options.seeds.parent.mkdir(exist_ok=True)
        with options.seeds.open("a", encoding="ascii") as file:
            file.writelines(f"{seed}\n" for seed in findings)
    return 1 if findings else 0


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--seeds", type=Path, default=ROOT / "build" / "attack.seeds")
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
            spoke = bool(select.select([process.stdout], [], [], _PATIENCE)[0])
            answer = process.stdout.readline().strip() if spoke else ""
        except OSError:
            spoke, answer = True, ""
        if answer:
            return answer
        self.end()
        self._process = self._started()
        return f"finding crash, exit {process.returncode}" if spoke else f"finding hang of {_PATIENCE:g} s"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _started(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.attack", "--child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


def _serve() -> int:
    """Try the mutants that standard input names: a seed, and perhaps the numbers of its mutations to keep."""
    with TemporaryDirectory() as folder:
        files = bases(Path(folder))
        for line in sys.stdin:
            seed, *kept = map(int, line.split())
            mutant = Mutant.of(seed, files)
            _say(tried(mutant.with_only(kept) if kept else mutant, Path(folder) / "work"))
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
