"""A wish to stop, heard at once by whoever waits for something else."""

import socket
from contextlib import suppress


class Stop:
    """Asked once: start nothing new and come to an end; asked again: end now."""

    def __init__(self) -> None:
        self._listener, self._teller = socket.socketpair()
        self._listener.setblocking(False)
        self._teller.setblocking(False)
        self._times = 0

    def ask(self) -> None:
        """Wish to stop; may be called from a signal handler."""
        self._times += 1
        with suppress(BlockingIOError):  # nobody has listened to the many wishes before
            self._teller.send(b"!")

    @property
    def is_asked(self) -> bool:
        """Whether nothing new should be started."""
        return self._times > 0

    @property
    def is_forced(self) -> bool:
        """Whether not even what is under way should be waited for."""
        return self._times > 1

    def fileno(self) -> int:
        """What becomes readable when somebody asks."""
        return self._listener.fileno()

    def hear(self) -> None:
        """Take note, so that waiting goes on."""
        self._listener.recv(64)

    def close(self) -> None:
        """Give the sockets back."""
        self._listener.close()
        self._teller.close()
