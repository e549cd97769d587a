"""A process that decodes, seen from its parent: started, limited, asked, ended."""

import json
import os
import pickle
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import current_thread, main_thread
from typing import Any

from demosaic_ntc.errors import Crashed
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.isolation.answers import NOTE
from demosaic_ntc.machine import explain_exit, processor_seconds, start_interpreter, virtual_bytes

# Modules that few decoders need and that take long to load.
Modules = tuple[str, ...]

# A function, a file or None, and further arguments.
Request = tuple[Callable[..., Any], tuple[Path, InputLimits] | None, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a process may take for one file."""

    memory: int  # bytes
    seconds: float  # of a processor


# The leash first, as workers have it; it is the thread that starts a process whose end ends it.
_PROGRAM = """
import sys
from demosaic_ntc.parent_death import die_with_parent
if sys.argv[1] != "0":
    die_with_parent(int(sys.argv[1]))
from demosaic_ntc.io.isolation.child import main
main()
"""

# A processor that others use as well takes longer by the clock.
_CLOCK = 10.0

# Libraries are kept from starting threads that decode nothing.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}

_STARTING_SECONDS = 120.0
_LEAVING_SECONDS = 2.0

_LOG_BYTES = 8192
_MOST_JSON = 2**26

#: What is said of a decoder that does not answer as it should.
NONSENSE = "answers with nonsense"


def crashed(ending: str) -> Crashed:
    """What is said of a file whose decoder does not come back."""
    return Crashed(f"the decoder {ending}; the file is damaged or made to do harm, or please report it")


def _read_answer(memory: int, place: int, length: int) -> dict[str, Any]:
    """The facts of an answer, which may be anything; a copy, for whoever wrote them may still change them."""
    if length > _MOST_JSON or place + length > os.fstat(memory).st_size:
        raise crashed(NONSENSE)
    try:
        answer = json.loads(os.pread(memory, length, place))
    except (ValueError, RecursionError) as error:
        raise crashed(NONSENSE) from error
    if not isinstance(answer, dict):
        raise crashed(NONSENSE)
    return answer


class DecodingChild:
    """A process that decodes, seen from its parent."""

    def __init__(self, loads: Modules = ()) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        leash = os.getpid() if current_thread() is main_thread() else 0
        streams = {"stdin": theirs, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        with theirs:
            self._process = start_interpreter(_PROGRAM, str(leash), *loads, env=_ONE_THREAD, **streams)
        assert self._process.stderr is not None
        self._stderr, self._channel, self._log = self._process.stderr, ours, b""
        os.set_blocking(self._stderr.fileno(), False)
        self.loads = loads
        self.fences: list[str] | None = None  # what keeps it in, once it has started

    @property
    def is_alive(self) -> bool:
        """Whether it may be asked."""
        return self._process.poll() is None

    def allow(self, allowed: Allowance) -> bool:
        """Set its limits for the next file, once it has started; return whether there is so much memory."""
        import resource  # noqa: PLC0415 (Windows has none)

        if self.fences is None:
            ready = self._hear(_STARTING_SECONDS)
            if not ready:
                self.end()
                raise RuntimeError(f"the decoding process does not start ({self._ending()}): {self._words()}")
            self.fences = json.loads(ready)
        self._log = b""
        pid = self._process.pid
        self._limit(resource.RLIMIT_CPU, int(processor_seconds(pid) + allowed.seconds) + 1)
        return self._limit(resource.RLIMIT_AS, virtual_bytes(pid) + allowed.memory)

    def _limit(self, kind: int, most: int) -> bool:
        """Set a limit, from outside; return whether it may be so high."""
        import resource  # noqa: PLC0415 (Windows has none)

        with suppress(OSError):  # one that is gone is found out when it is asked
            hard = resource.prlimit(self._process.pid, kind)[1]
            fits = hard == resource.RLIM_INFINITY or most <= hard
            resource.prlimit(self._process.pid, kind, (most if fits else hard, hard))
            return fits
        return True

    def ask(self, memory: int, request: Request, files: list[int], allowed: Allowance) -> dict[str, Any]:
        """Have it decode; the answer lies in the memory, what is returned are its facts."""
        plain, seconds = pickle.dumps(request), _CLOCK * allowed.seconds
        with open(memory, "wb", closefd=False) as file:
            file.write(plain)
        with suppress(OSError):
            socket.send_fds(self._channel, [NOTE.pack(0, len(plain))], [memory, *files])
        note = self._hear(seconds)
        if note is None:
            raise crashed(f"took longer than {seconds:.0f} s")
        if len(note) != NOTE.size:
            raise self._explain_end()
        return _read_answer(memory, *NOTE.unpack(note))

    def _hear(self, seconds: float) -> bytes | None:
        """Its next note; nothing of a process that is gone, None of one that takes too long."""
        end = time.monotonic() + seconds
        with DefaultSelector() as voices:
            voices.register(self._channel, EVENT_READ)
            voices.register(self._stderr, EVENT_READ)
            while (left := end - time.monotonic()) > 0:
                ready = {key.fileobj for key, _ in voices.select(left)}
                if self._stderr in ready and not self._read_log():
                    voices.unregister(self._stderr)
                if self._channel in ready:
                    with suppress(OSError):
                        return self._channel.recv(4096)
                    return b""
        return None

    def _read_log(self) -> bool:
        """Keep the end of what it says on stderr; return whether more may come."""
        with suppress(BlockingIOError):
            while words := os.read(self._stderr.fileno(), _LOG_BYTES):
                self._log = (self._log + words)[-_LOG_BYTES:]
            return False
        return True

    def _words(self) -> str:
        return self._log.decode(errors="replace").strip()

    def complaints(self) -> list[str]:
        """What it has said on stderr of the last file, line by line."""
        self._read_log()
        return self._words().splitlines()

    def _explain_end(self) -> Crashed:
        """What to say of the file whose decoder has ended."""
        self.end()
        ending = self._ending()
        if "SIGXCPU" in ending:
            return crashed("took too long")
        error = crashed(f"crashed ({ending}{', as when memory runs out' if 'SIGKILL' in ending else ''})")
        error.add_note(self._words())
        return error

    def _ending(self) -> str:
        return explain_exit(self._process.returncode)

    def end(self) -> None:
        """Make sure that the process is gone."""
        self._channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVING_SECONDS)
        self._process.kill()
        self._process.wait()
        if not self._stderr.closed:
            self._read_log()
            self._stderr.close()

    def kill(self) -> None:
        """End it in the middle of a file."""
        self._process.kill()
        self.end()

    def forget(self) -> None:
        """Let go of a process that belongs to another one, from which this one was forked."""
        self._channel.close()
        self._stderr.close()
