"""The demosaicing methods a benchmark can compare, by name: functions of mosaic and colour array.

Another peer is one more line in `PEERS`: its name, how it is called, and its function, which imports what it
needs within `requires`. A completion of tensors is one in `COMPLETIONS`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.imaging.cfa import Cfa

from ..measure.likeness import Mosaic
from ..measure.protocol import SOLVER_LAYERS, engine
from . import als, libraw, silrtc, tncp
from .method import Effort, Method, Role, grades, named, package_version
from .others import OPENCV, menon, opencv
from .tiles import GAP, TILE, Completion, by_ours, by_ours_folded, complete_tiles

_REFLECTED = f"{libraw.VERSION}, sides below {libraw.XTRANS_LEAST} pixels extended by reflection"
_COLOUR, _OPENCV = package_version("colour-demosaicing"), package_version("opencv-python-headless")

#: What other libraries offer: settings, and functions of mosaic, array and threads.
PEERS: dict[str, tuple[str, Callable[[Mosaic, Cfa, int], libraw.Floats]]] = {
    "menon": (f"{_COLOUR}, refined", lambda m, c, _: menon(m, c)),
    **{f"libraw-{a}": (libraw.VERSION, partial(libraw.by_libraw, a)) for a in libraw.ALGORITHMS},
    **{f"libraw-markesteijn-{n}": (_REFLECTED, partial(libraw.by_markesteijn, n)) for n in (1, 3)},
    **{f"opencv-{a}": (_OPENCV, partial(opencv, a)) for a in OPENCV},
}

#: General completion of the tensor height × width × 3, with the settings that suit values in [0, 1].
COMPLETIONS: dict[str, tuple[str, Completion, Role]] = {
    "als": ("rank 10, ridge .03", lambda s: als.als(s, 0, als.TUNED).dense(), "peer"),
    "silrtc": ("shrinkage 1/30", lambda s: silrtc.silrtc(s, silrtc.TUNED), "peer"),
    "tncp": ("rank 10, soft thresholding", lambda s: tncp.tncp(s, 0, tncp.CORRECTED), "peer"),
    "ntc-whole": (f"radius 2, gap {GAP}, {engine(SOLVER_LAYERS)}", by_ours, "part"),
    "ntc-tiled": (f"as blocks of 8×8, radius 2, gap {GAP}, {engine(SOLVER_LAYERS)}", by_ours_folded, "part"),
}

#: The completions that users ask for; they are no demosaicers.
TENSORS = ("als", "silrtc", "ntc-whole", "ntc-tiled")

# Those of tables that nobody asked otherwise for: ours and what it is made of first.
_PARTS = ("ntc", "ntc-best", "ntc-fast", "predict-only", "blend")
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
    first = (("blend", "part"), *((name, "peer") for name in ("lmmse", "mlri", "malvar", "bilinear")))
    return named(
        (
            *(
                _ours(name, each.words, role, each, method=method, quality=each.quality)
                for name, method, role, each in grades(effort)
            ),
            *(
                _ours(name, f"{effort.thread_words}, {engine()}", role, effort, method=name)
                for name, role in first
            ),
            *(_peer(name, *peer, effort.threads) for name, peer in PEERS.items()),
            *(_completion(name, *entry) for name, entry in COMPLETIONS.items()),
        )
    )


def _ours(name: str, settings: str, role: Any, effort: Effort, **how: Any) -> Method:
    """A method of this package."""
    how |= {"threads": effort.threads, "white": effort.white}
    return Method(name, settings, role, lambda mosaic, cfa: demosaic(mosaic, cfa, **how))


def _peer(name: str, settings: str, run: Callable[..., libraw.Floats], threads: int) -> Method:
    """A method of another library."""
    return Method(name, settings, "peer", lambda mosaic, cfa: Restored(run(mosaic, cfa, threads)))


def _completion(name: str, settings: str, complete: Completion, role: Role) -> Method:
    """A general completion of the height × width × 3 tensor, in tiles."""
    tiled = f"height × width × 3 tensor in tiles of at most {TILE}×{TILE}, {settings}"
    return Method(name, tiled, role, lambda m, c: Restored(complete_tiles(m, c, complete)))
