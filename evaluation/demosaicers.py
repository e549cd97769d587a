"""The demosaicing methods a benchmark can compare, by name.

Another method is one more line here: its name, what it is, its role, and a function of mosaic and array.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.imaging.cfa import Cfa

from . import als, libraw, silrtc, tncp
from .choosing import picked
from .optional import OPENCV, menon, opencv, package_version
from .pictures import Mosaic
from .plain_completion import TILE, Completion, complete_tiles
from .protocol import engine

#: Ours, the parts it is made of (what it must beat to be worth its name), or what somebody else published.
Role = Literal["ours", "part", "peer"]

OURS, CONTROL = "ntc", "predict-only"

_PARTS = ["ntc", "predict-only", "blend"]
_BAYER_DEFAULT = [*_PARTS, "lmmse", "mlri", "menon", "malvar", "bilinear", "libraw-ahd", "libraw-dcb"]
_OTHER_DEFAULT = [*_PARTS, "bilinear", "libraw-linear", "libraw-vng", "libraw-markesteijn-3"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How our own methods are called, and how many threads those get that can be told."""

    quality: str = "normal"
    threads: int = 1
    white: float | None = None  # the sample value of full scale, where the samples do not tell

    @property
    def thread_words(self) -> str:
        """The number of threads in words."""
        return f"{self.threads} thread" + ("s" if self.threads > 1 else "")


@dataclass(frozen=True, slots=True)
class Demosaicer:
    """A way from a mosaic to a picture; results with the same name and settings may be compared."""

    name: str
    settings: str
    role: Role
    run: Callable[[Mosaic, Cfa], Restored]


def grades(effort: Effort) -> list[tuple[str, str, Role, Effort]]:
    """Completion of groups at each quality, and the control without it: name, method, role and effort."""
    return [
        (OURS, "ntc", "ours", effort),
        ("ntc-fast", "ntc", "ours", replace(effort, quality="fast")),
        ("ntc-best", "ntc", "ours", replace(effort, quality="best")),
        (CONTROL, "predict-only", "part", effort),
    ]


def default_names(cfa: Cfa) -> list[str]:
    """The methods that run when none are named: those that know the array."""
    return list(_BAYER_DEFAULT if cfa.is_bayer else _OTHER_DEFAULT)


def select(names: Iterable[str], effort: Effort) -> list[Demosaicer]:
    """The methods with these names."""
    return picked(catalogue(effort), names)


def catalogue(effort: Effort) -> dict[str, Demosaicer]:
    """All methods by name."""
    methods = [
        *(_graded(*grade) for grade in grades(effort)),
        *_first_estimates(effort),
        *_libraries(effort),
        *_completions(),
    ]
    return {method.name: method for method in methods}


def _first_estimates(effort: Effort) -> list[Demosaicer]:
    """The interpolations of this package: published ones, and our blend of two of them."""
    return [
        _interpolation("blend", "part", effort),
        _interpolation("lmmse", "peer", effort),
        _interpolation("mlri", "peer", effort),
        _interpolation("malvar", "peer", effort),
        _interpolation("bilinear", "peer", effort),
    ]


def _libraries(effort: Effort) -> list[Demosaicer]:
    """What other libraries offer."""
    colour, cv = package_version("colour-demosaicing"), package_version("opencv-python-headless")
    reflected = f"{libraw.VERSION}, sides below {libraw.XTRANS_LEAST} pixels extended by reflection"
    both, bayer = ("linear", "vng"), ("ppg", "ahd", "dcb", "dht", "aahd")
    return [
        _peer("menon", f"{colour}, refined", menon),
        *(_peer(f"libraw-{a}", libraw.VERSION, lambda m, c, a=a: libraw.libraw_any(m, c, a)) for a in both),
        *(_peer(f"libraw-{a}", libraw.VERSION, lambda m, c, a=a: libraw.libraw(m, c, a)) for a in bayer),
        *(
            _peer(f"libraw-markesteijn-{n}", reflected, lambda m, c, n=n: libraw.markesteijn(m, c, n))
            for n in libraw.MARKESTEIJN
        ),
        *(_peer(f"opencv-{a}", cv, lambda m, c, a=a: opencv(m, c, a, effort.threads)) for a in OPENCV),
    ]


def _completions() -> list[Demosaicer]:
    """General tensor completion, with the settings that suit values in [0, 1]."""
    return [
        _completion("als", "rank 10, ridge .03", lambda s: als.als(s, 0, als.TUNED).dense()),
        _completion("silrtc", "shrinkage 1/30", lambda s: silrtc.silrtc(s, silrtc.TUNED)),
        _completion("tncp", "rank 10, soft thresholding", lambda s: tncp.tncp(s, 0, tncp.CORRECTED)),
    ]


def _graded(name: str, method: str, role: Role, effort: Effort) -> Demosaicer:
    """A method of this package whose effort can be chosen."""
    settings = f"quality {effort.quality}, {effort.thread_words}, {engine()}"

    def run(mosaic: Mosaic, cfa: Cfa) -> Restored:
        return demosaic(
            mosaic, cfa, method=method, quality=effort.quality, threads=effort.threads, white=effort.white
        )

    return Demosaicer(name, settings, role, run)


def _interpolation(name: str, role: Role, effort: Effort) -> Demosaicer:
    """A first estimate of this package."""
    settings = f"{effort.thread_words}, {engine()}"

    def run(mosaic: Mosaic, cfa: Cfa) -> Restored:
        return demosaic(mosaic, cfa, method=name, threads=effort.threads, white=effort.white)

    return Demosaicer(name, settings, role, run)


def _peer(name: str, settings: str, run: Callable[..., libraw.Floats]) -> Demosaicer:
    """A method of another library."""
    return Demosaicer(name, settings, "peer", lambda mosaic, cfa: Restored(run(mosaic, cfa)))


def _completion(name: str, settings: str, complete: Completion) -> Demosaicer:
    """A general completion of the height × width × 3 tensor, in tiles."""
    tiled = f"height × width × 3 tensor in tiles of at most {TILE}×{TILE}, {settings}"
    return Demosaicer(name, tiled, "peer", lambda m, c: Restored(complete_tiles(m, c, complete)))
