"""Ctrl-C that is heard: the process ends soon after a signal even while a kernel holds the main thread.

Python runs signal handlers between its own instructions only, so a long kernel delays them. The system tells
a socket of every signal at once, though; a thread listens there, and kernels do not hold it up.
"""

import atexit
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from threading import Thread
from types import FrameType
from typing import Any, Protocol

from .failures import ExitCode, Terminated

Handler = Callable[[int, FrameType | None], None]

# Long enough for any orderly way out, short enough to feel immediate.
_PATIENCE = 1.5

_ENDS = {
    signal.SIGINT: (b"interrupted", ExitCode.INTERRUPTED),
    signal.SIGTERM: (b"terminated", ExitCode.TERMINATED),
}


class Stoppable(Protocol):
    """Whoever can be asked to come to an end."""

    def ask(self) -> None:
        """Ask; may be called from a signal handler."""


@dataclass(slots=True)
class SignalRecord:
    """The signal that has ended a block in order, if one has."""

    signal: int | None = None

    def raise_again(self) -> None:
        """Let the program end as the signal wants."""
        if self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        if self.signal == signal.SIGTERM:
            raise Terminated


@contextmanager
def signals_unwind() -> Iterator[None]:
    """Let SIGINT and SIGTERM unwind the stack, so that clean-up runs and results stay; a second one insists.

    Once one has been heard this holds until the interpreter is gone: Python's own handlers would let a second
    one break into the way out, and end the process by the signal instead of by the exit code.
    """
    heard, is_told = SignalRecord(), False

    def unwind(number: int, _frame: FrameType | None) -> None:
        if heard.signal is not None:
            word, code = _ENDS[signal.Signals(heard.signal)]
            os._exit(code) if is_told else _leave(word, code)
        heard.signal = number
        heard.raise_again()

    previous = _set_handlers(unwind)
    try:
        yield
    finally:
        is_told = True
        for number, handler in previous.items():
            if heard.signal is None and signal.getsignal(number) is unwind:
                signal.signal(number, handler)


def _set_handlers(handler: Handler) -> dict[signal.Signals, Any]:
    """Set the handler of both signals where they are not ignored; returns those that were set before."""
    try:
        heard = [number for number in _ENDS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
        previous = {number: signal.signal(number, handler) for number in heard}
    except ValueError:  # only the main thread may set handlers
        return {}
    _deaf_in_the_end()
    return previous


@cache
def _deaf_in_the_end() -> None:
    """Ignore both signals while the interpreter is taken down: it would give them back to the system."""

    def ignore() -> None:
        for number in _ENDS:
            signal.signal(number, signal.SIG_IGN)

    atexit.register(ignore)


@contextmanager
def heard_interrupts() -> Iterator[None]:
    """End the process soon after SIGINT or SIGTERM, or at the second one, if the block still runs.

    Nothing needs to be cleaned up then: an unfinished picture still has its temporary name.
    """
    listener, teller = socket.socketpair()
    teller.setblocking(False)
    try:
        previous = signal.set_wakeup_fd(teller.fileno(), warn_on_full_buffer=False)
    except ValueError:  # only the main thread hears signals
        yield
        return
    Thread(target=_await_signal, args=(listener,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        teller.close()


@contextmanager
def signals_ask(stop: Stoppable) -> Iterator[SignalRecord]:
    """Let SIGINT and SIGTERM ask for an orderly end instead of breaking in; a second one insists.

    Once one has been heard the program is on its way out, and later ones must not break into that.
    """
    heard = SignalRecord()

    def ask(number: int, _frame: FrameType | None) -> None:
        heard.signal = heard.signal or number
        stop.ask()

    try:
        previous = {number: signal.signal(number, ask) for number in _ENDS}
    except ValueError:  # only the main thread may set handlers
        yield heard
        return
    try:
        yield heard
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler if heard.signal is None else signal.SIG_IGN)


def _await_signal(listener: socket.socket) -> None:
    """Wait for a signal, then for the end of the block; give up on the block when it does not come."""
    with listener:
        while heard := listener.recv(1):
            if heard[0] in _ENDS:
                ready, _, _ = select.select([listener], [], [], _PATIENCE)
                if not ready or listener.recv(1):
                    _leave(*_ENDS[signal.Signals(heard[0])])
                return


def _leave(word: bytes, code: ExitCode) -> None:
    """End the process at once, with the line of the progress bar cleared and the cursor shown again."""
    cleared = b"\r\x1b[2K\x1b[?25h" if os.isatty(2) else b""
    with suppress(OSError):  # nobody may read along
        os.write(2, cleared + b"demosaic-ntc: " + word + b"\n")
    os._exit(code)
