"""Kernels prepared before a command needs them, and what is shown of it."""

import logging
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demosaic_ntc.errors import OutputError

from ..output.messages import print_lines, print_note

if TYPE_CHECKING:
    from demosaic_ntc.jit.precompile import Report

_WORDS = "preparing kernels for this machine, once"


def prepare_shown(names: Collection[str], *, quiet: bool) -> None:
    """Have kernels compiled that are not yet; say so at once, and show how far it is where somebody looks."""
    from demosaic_ntc.jit.signatures import prepare_kernels

    if quiet:  # nor is anything said of kernels that turn out to be needed later
        logging.getLogger("demosaic_ntc").setLevel(logging.ERROR)
    with _show_kernels(quiet=quiet) as report:
        prepare_kernels(names, report)


def prepare_all(*, quiet: bool) -> None:
    """Have all kernels compiled; fail if they can not be kept."""
    from demosaic_ntc.jit.signatures import EXAMPLES, find_uncompiled, ledger

    record, names = ledger(), find_uncompiled(EXAMPLES)
    if not names:
        if not quiet:
            print_lines([f"{len(EXAMPLES)} kernels are ready, they came with the program"])
        return
    if record is None:
        message = "no folder can be written to keep compiled kernels; set NUMBA_CACHE_DIR to one that can"
        raise OutputError(message)
    prepare_shown(names, quiet=quiet)
    if missing := record.find_missing(names):
        message = f"{record.path.parent}: {len(missing)} kernels could not be compiled or kept"
        raise OutputError(f"{message}; look whether the folder can be written and is not full")
    if not quiet:
        print_lines([f"{len(EXAMPLES)} kernels are ready, on record in {record.path.parent}"])


@contextmanager
def _show_kernels(*, quiet: bool) -> "Iterator[Report]":
    """A reporter of kernels: a bar on a terminal, a line elsewhere, nothing when quiet or all are ready."""
    if quiet:
        yield lambda ready, total: None
    elif not sys.stderr.isatty():
        yield _Line()
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), MofNCompleteColumn(separator=" of "), BarColumn()
        bars = Progress(*columns, console=Console(stderr=True), transient=True)
        try:
            yield _KernelBar(bars)
        finally:
            bars.stop()


@dataclass(slots=True)
class _Line:
    """One line, when it begins."""

    has_spoken: bool = False

    def __call__(self, ready: int, total: int) -> None:
        """Say what happens, unless it was said."""
        if not self.has_spoken:
            print_note(f"{_WORDS}: {ready} of {total}")
        self.has_spoken = True


@dataclass(slots=True)
class _KernelBar:
    """A bar that appears when there is something to show."""

    bars: Any
    task: Any = None

    def __call__(self, ready: int, total: int) -> None:
        """Move the bar."""
        if self.task is None:
            self.bars.start()
            self.task = self.bars.add_task(f"{_WORDS}:", total=total)
        self.bars.update(self.task, completed=ready)
