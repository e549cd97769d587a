"""How damaged files make decoders fail, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from demosaic_ntc.errors import InputError, Truncated


@contextmanager
def damage_explained(kind: str) -> Iterator[None]:
    """Turn what a decoder raises into an error of ours; damaged bytes make decoders raise almost anything."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise Truncated(f"truncated or damaged {kind} ({error}); copy it again from its source") from error
