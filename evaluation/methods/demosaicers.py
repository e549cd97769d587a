"""The demosaicing methods a benchmark can compare, by name: functions of mosaic and colour array.

Another peer is one more line in `PEERS`: its name, how it is called, and its function, which imports what it
needs within `requires`. A completion of tensors is one in `COMPLETIONS` of `plain_tensors.py`.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import Unsupported

from ..measure.metrics import Mosaic
from ..measure.protocol import engine
from . import libraw
from .method import Effort, Method, Role, grades, index_by_name, package_version, requires
from .plain_tensors import COMPLETIONS, Completion, complete_known, completion

#: The largest side of a tile for general tensor completion.
TILE = 128

#: OpenCV's algorithms and how the names of its conversions end.
OPENCV = {"bilinear": "", "vng": "_VNG", "ea": "_EA"}


def opencv(algorithm: str, mosaic: Mosaic, cfa: Cfa, threads: int) -> libraw.Floats:
    """Demosaic a Bayer mosaic by one of OpenCV's conversions."""
    _check_bayer("OpenCV", cfa)
    with requires("benchmark"):
        import cv2
    cv2.setNumThreads(threads)
    code = getattr(cv2, f"COLOR_Bayer{cfa.name}2RGB{OPENCV[algorithm]}")
    return np.asarray(cv2.cvtColor(mosaic, code), dtype=np.float32)


def menon(mosaic: Mosaic, cfa: Cfa) -> libraw.Floats:
    """Demosaic a Bayer mosaic by directional filtering with a posteriori decision, refined.

    D. Menon, S. Andriani, G. Calvagno, *Demosaicing With Directional Filtering and a posteriori Decision*,
    IEEE Transactions on Image Processing 16 (2007), 132-141, doi:10.1109/TIP.2006.884928.
    """
    _check_bayer("colour-demosaicing", cfa)
    with requires("benchmark"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # what it imports is not our user's concern
        from colour_demosaicing import demosaicing_CFA_Bayer_Menon2007
    white = np.iinfo(mosaic.dtype).max
    picture = demosaicing_CFA_Bayer_Menon2007(mosaic / white, cfa.name)
    return np.asarray(picture * white, dtype=np.float32)


def _check_bayer(package: str, cfa: Cfa) -> None:
    """Refuse arrays that a package does not know."""
    if not cfa.is_bayer:
        raise Unsupported(f"{package} knows Bayer arrays, not {cfa.name}; leave it out")


_REFLECTED = f"{libraw.VERSION}, sides below {libraw.XTRANS_LEAST} pixels extended by reflection"
_COLOUR, _OPENCV = package_version("colour-demosaicing"), package_version("opencv-python-headless")

#: What other libraries offer: settings, and functions of mosaic, array and threads.
PEERS: dict[str, tuple[str, Callable[[Mosaic, Cfa, int], libraw.Floats]]] = {
    "menon": (f"{_COLOUR}, refined", lambda m, c, _: menon(m, c)),
    **{f"libraw-{a}": (libraw.VERSION, partial(libraw.demosaic_libraw, a)) for a in libraw.ALGORITHMS},
    **{f"libraw-markesteijn-{n}": (_REFLECTED, partial(libraw.demosaic_markesteijn, n)) for n in (1, 3)},
    **{f"opencv-{a}": (_OPENCV, partial(opencv, a)) for a in OPENCV},
}

#: The completions that users ask for; they are no demosaicers.
TENSORS = ("als", "silrtc", "ntc-whole", "ntc-tiled")

# Those of tables that nobody asked otherwise for: ours and what it is made of first.
_PARTS = ("gaussian", "gaussian-best", "gaussian-fast", "ntc", "blend")
_BAYER_DEFAULT = (
    *(*_PARTS, "lmmse", "mlri", "menon", "malvar", "bilinear"),
    *("libraw-ahd", "libraw-dcb", "libraw-vng", *TENSORS),
)
_OTHER_DEFAULT = (*_PARTS, "bilinear", "libraw-linear", "libraw-vng", "libraw-markesteijn-3", *TENSORS)


def default_names(cfa: Cfa) -> list[str]:
    """The methods that run when none are named: those that know the array."""
    return list(_BAYER_DEFAULT if cfa.is_bayer else _OTHER_DEFAULT)


def catalogue(effort: Effort) -> dict[str, Method]:
    """All methods by name: ours, the interpolations of this package, peers, and completions of tensors."""
    plain, first = f"{effort.thread_words}, {engine()}", ("lmmse", "mlri", "malvar", "bilinear")
    return index_by_name(
        (
            *(
                _ours(name, each.words, role, each, method=method, quality=each.quality)
                for name, method, role, each in grades(effort)
            ),
            _ours("blend", plain, "part", effort, method="blend"),
            *(_ours(name, plain, "peer", effort, method=name) for name in first),
            *(_peer(name, *peer, effort.threads) for name, peer in PEERS.items()),
            *(completion(name, entry, TILE, complete_tiles) for name, entry in COMPLETIONS.items()),
        )
    )


def _ours(name: str, settings: str, role: Role, effort: Effort, **how: Any) -> Method:
    """A method of this package."""
    how |= {"threads": effort.threads, "white": effort.white}
    return Method(name, settings, role, lambda mosaic, cfa: demosaic(mosaic, cfa, **how))


def _peer(name: str, settings: str, run: Callable[..., libraw.Floats], threads: int) -> Method:
    """A method of another library."""
    return Method(name, settings, "peer", lambda mosaic, cfa: Restored(run(mosaic, cfa, threads)))


def complete_tiles(complete: Completion, mosaic: Mosaic, cfa: Cfa) -> libraw.Floats:
    """Complete the tensor of a mosaic, of which each pixel shows one entry."""
    masks = cfa.masks(mosaic.shape)
    return complete_known(np.broadcast_to(mosaic[..., None], masks.shape), masks, complete, TILE)
