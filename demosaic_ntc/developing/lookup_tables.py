"""Tables of smooth functions: where these are nearly straight, few of the entries are computed."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_EVERY = 16

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def tabulate(function: Function, count: int, exact: int = 0) -> NDArray[np.float64]:
    """Return a function at 0, 1, … `count` − 1: of its values from `exact` on, one in 16 is computed.

    The others lie on straight lines between these. A function with a pole of its slope at 0 is to be
    computed exactly there.
    """
    first = np.arange(min(exact, count), dtype=np.float64)
    cells = -(-max(count - exact, 0) // _EVERY)
    nodes = np.asarray(function(exact + _EVERY * np.arange(cells + 1, dtype=np.float64)))
    between = np.linspace(0, 1, _EVERY, endpoint=False)
    rest = nodes[:-1, None] + np.diff(nodes)[:, None] * between
    return np.concatenate([function(first), rest.ravel()])[:count]
