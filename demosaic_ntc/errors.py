"""Everything this package raises on purpose.

::

    DemosaicNtcError
    ├── InputError            what was given cannot be used
    │   ├── NotAnImage        the bytes are no image or raw file that we read
    │   ├── Truncated         the file ends early or is damaged
    │   ├── TooLarge          it would not fit in the limits that were set
    │   ├── Unsupported       a valid input of a kind we do not process
    │   ├── Crashed           its decoder ended, or had to be ended
    │   ├── BadMask           the mask does not fit its image
    │   └── Clash             two results of a batch, or a result and an input, would share a place
    ├── OutputError           the result cannot be written
    │   ├── Exists            the target is there and may not be overwritten
    │   │   └── Changed       it was ours and is somebody else's work now
    │   ├── NotWritable       the target folder does not take files
    │   └── DiskFull          the device is full
    ├── SolverError           an optimiser cannot do what was asked
    │   ├── LicenceMissing    no usable licence, or the package is not installed
    │   └── ModelTooLarge     the licence does not cover a model of this size
    └── ClusterError          the machines that should do the work cannot be reached or used

Running out of time or iterations is no exception: it is a solution with a status and an honest gap.
Messages read ``what is wrong; what to do``; the callers that know a path put it in front.
"""

from math import nan
from numbers import Real


class DemosaicNtcError(Exception):
    """The base of all errors of this package."""


class InputError(DemosaicNtcError, ValueError):
    """What was given cannot be used."""


class NotAnImage(InputError):
    """The bytes are no image or raw file that we read."""


class Truncated(InputError):
    """The file ends early or is damaged."""


class TooLarge(InputError):
    """It would not fit in the limits that were set."""


class Unsupported(InputError):
    """A valid input of a kind we do not process."""


class Crashed(InputError):
    """Its decoder ended without an answer, took too long, or answered with nonsense."""


class BadMask(InputError):
    """The mask does not fit its image."""


class Clash(InputError):
    """Two results of a batch, or a result and an input, would share a place."""


class OutputError(DemosaicNtcError):
    """The result cannot be written."""


class Exists(OutputError):
    """The target is there and may not be overwritten."""


class Changed(Exists):
    """The target was made by this program and has been changed since."""


class NotWritable(OutputError):
    """The target folder does not take files."""


class DiskFull(OutputError):
    """The device is full."""


class SolverError(DemosaicNtcError):
    """An optimiser cannot do what was asked."""


class LicenceMissing(SolverError):
    """No usable licence, or the package is not installed."""


class ModelTooLarge(SolverError):
    """The model is larger than a solver, or its licence, takes."""


class ClusterError(DemosaicNtcError):
    """The machines that should do the work cannot be reached or used."""


_RENAMED = {"predict-only": "gaussian"}


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise unless the value is one of the known ones; of an old name, say the new one."""
    if isinstance(value, str) and value in _RENAMED and value not in known:
        raise InputError(f"{what} {value} is now called {_RENAMED[value]}; use that name")
    if not isinstance(value, str) or value not in known:
        raise InputError(f"unknown {what} {value!r}; use one of {', '.join(known)}")


def as_number(given: object) -> float:
    """Return a real number as a float; for anything else, or beyond floats, NaN, which fails every check."""
    try:
        return float(given) if isinstance(given, Real) else nan
    except OverflowError:
        return nan
