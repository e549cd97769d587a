"""What can be read and written window by window like an array, whatever it is stored as."""

from typing import Any, Protocol

from demosaic_ntc.arrays import Float32


class Windowed(Protocol):
    """Planes, (channels, height, width), that are read window by window."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width."""

    @property
    def size(self) -> int:
        """How many entries there are."""

    def __getitem__(self, place: tuple[slice, slice, slice], /) -> Any:
        """Return a window, float32, (channels, rows, columns)."""


class WritableWindowed(Windowed, Protocol):
    """Planes that are written window by window, too."""

    def __setitem__(self, place: tuple[slice, slice, slice], values: Float32, /) -> None:
        """Write a window, (channels, rows, columns)."""
