"""The plans of all qualities: one table of steps, for mosaics and for every kind of hole.

Chosen by measurement on parts of the first sixteen Kodak and ten McMaster pictures, those for holes on the
first eight of Kodak alone.
"""

from demosaic_ntc.engine.kernels.completion import LeastNorm
from demosaic_ntc.engine.passes import HoleKind, PatchGrid, Step, completion, gaussian, mean

Plan = dict[HoleKind, tuple[Step, ...]]

# Of the prior of noisy mosaics: on parts of twelve pictures with noise of 3 to 20 of 255 it gains .01 to .04
# dB over that of exact ones, and .07 to .09 on a chart of textures.
_NOISY_STRENGTH = 1.0


def _mosaic(
    patches: PatchGrid,
    restored: int,
    relaxed: float,
    noisy: float,
    correction: float = 0.0,
    least_move: float = 0.0,
) -> Step:
    """Return a step over a mosaic: patches are compared in all they show, estimated or measured."""
    does = gaussian(restored, correction=correction)
    return Step(patches, does, relaxed, noisy, noisy_strength=_NOISY_STRENGTH, least_move=least_move)


def _sparse(patches: PatchGrid, restored: int, trust: float = 0.3) -> Step:
    """Return a step around holes of which small patches know most."""
    return Step(patches, gaussian(restored), 1.4, trust=(trust, trust))


def _loose(patches: PatchGrid, restored: int, trust: float = 0.3) -> Step:
    """Return a step around holes that leans on the prior and goes further: large patches, many unknowns."""
    does = gaussian(restored, strength=10.0, floor=1.0)
    return Step(patches, does, 1.7, trust=(trust, trust))


def _wide(patches: PatchGrid, restored: int) -> Step:
    """Return a step that closes wide holes: the mean of patches that agree around them."""
    return Step(patches, mean(restored), trust=(0.05, 0.01), spread=0.7)


def _lost(patches: PatchGrid, restored: int) -> Step:
    """Return a step where most is unknown."""
    return Step(patches, gaussian(restored, floor=2.0, noise=1.0), 1.8, trust=(0.1, 0.1))


# Pixels that a first step has moved by less than two levels of 255 gain next to nothing by a second one: .01
# dB on Kodak, .003 on McMaster, for a tenth of the time.
_SETTLED = 2 / 255


PLANS: dict[str, Plan] = {
    "fast": {
        HoleKind.BAYER: (_mosaic(PatchGrid(4, 4, 40, 8), 16, 1.45, 1.75, correction=4.0),),
        HoleKind.ARRAY: (_mosaic(PatchGrid(4, 4, 48, 10), 12, 1.6, 1.75, correction=6.0),),
        HoleKind.SPARSE: (_sparse(PatchGrid(4, 3, 32, 8, dense=2), 4),),
        HoleKind.LINES: (_sparse(PatchGrid(4, 3, 32, 8, dense=4), 6),),
        HoleKind.SCATTERED: (
            _loose(PatchGrid(4, 4, 32, 8, dense=2), 4, trust=0.1),
            _loose(PatchGrid(4, 4, 32, 8, dense=2), 4),
        ),
        HoleKind.WIDE: (
            _wide(PatchGrid(12, 8, 12, 10, dense=2), 4),
            _sparse(PatchGrid(6, 5, 32, 10, dense=2), 3, trust=0.1),
        ),
        HoleKind.DEEP: (
            _wide(PatchGrid(16, 8, 12, 12, dense=2), 4),
            _sparse(PatchGrid(6, 5, 24, 12, dense=2), 3, trust=0.05),
        ),
    },
    "normal": {
        HoleKind.BAYER: (
            _mosaic(PatchGrid(4, 4, 64, 10), 24, 1.6, 1.5, correction=6.5),
            _mosaic(PatchGrid(5, 4, 64, 10), 24, 1.7, 1.3, correction=6.5, least_move=_SETTLED),
        ),
        HoleKind.ARRAY: (
            # Fewer groups that restore more patches gain .01 to .03 dB on parts of 24 X-Trans pictures.
            _mosaic(PatchGrid(4, 6, 48, 10), 20, 1.6, 1.5, correction=6.0),
            _mosaic(PatchGrid(4, 4, 64, 10), 16, 1.6, 1.3, correction=6.0),
            _mosaic(PatchGrid(5, 4, 80, 14), 16, 1.6, 1.0, correction=6.0),
        ),
        HoleKind.SPARSE: (
            _sparse(PatchGrid(4, 3, 48, 10, dense=4), 6),
            _sparse(PatchGrid(4, 3, 48, 10, dense=4), 6),
        ),
        HoleKind.LINES: (
            _loose(PatchGrid(5, 3, 48, 10), 8),
            _loose(PatchGrid(5, 3, 48, 10), 8),
        ),
        HoleKind.SCATTERED: (
            _loose(PatchGrid(4, 3, 48, 10, dense=4), 8, trust=0.1),
            _loose(PatchGrid(4, 3, 48, 10, dense=4), 8),
        ),
        HoleKind.WIDE: (
            _wide(PatchGrid(12, 6, 12, 10, dense=4), 4),
            _wide(PatchGrid(8, 5, 12, 10, dense=4), 4),
            _sparse(PatchGrid(6, 4, 48, 10, dense=4), 6, trust=0.1),
        ),
        HoleKind.DEEP: (
            _wide(PatchGrid(16, 5, 16, 16, dense=4), 8),
            _wide(PatchGrid(12, 5, 12, 16, dense=4), 4),
            _sparse(PatchGrid(6, 4, 32, 14, dense=4), 8, trust=0.05),
        ),
    },
    "best": {
        HoleKind.BAYER: (
            _mosaic(PatchGrid(4, 3, 64, 12), 32, 1.45, 1.3, correction=9.6),
            _mosaic(PatchGrid(5, 3, 96, 16), 32, 1.4, 1.2, correction=9.6),
            _mosaic(PatchGrid(6, 4, 96, 16), 32, 1.3, 1.0, correction=9.6),
        ),
        HoleKind.ARRAY: (
            _mosaic(PatchGrid(4, 3, 64, 12), 24, 1.6, 1.5, correction=6.0),
            _mosaic(PatchGrid(4, 3, 64, 12), 24, 1.6, 1.3, correction=6.0),
            _mosaic(PatchGrid(5, 3, 80, 14), 24, 1.6, 1.0, correction=6.0),
            _mosaic(PatchGrid(6, 4, 96, 14), 24, 1.4, 1.0, correction=6.0),
        ),
        HoleKind.SPARSE: (
            *(_loose(PatchGrid(5, 3, 64, 10), 8),) * 2,
            _loose(PatchGrid(5, 3, 64, 10), 8),
        ),
        HoleKind.LINES: (
            *(_loose(PatchGrid(5, 3, 64, 12), 8),) * 2,
            _loose(PatchGrid(5, 3, 64, 12), 8),
        ),
        HoleKind.SCATTERED: (
            _loose(PatchGrid(5, 3, 64, 12), 8, trust=0.1),
            _loose(PatchGrid(5, 3, 64, 12), 8),
            _loose(PatchGrid(5, 3, 64, 12), 8),
        ),
        HoleKind.WIDE: (
            _wide(PatchGrid(12, 4, 16, 14, dense=4), 8),
            _wide(PatchGrid(8, 4, 12, 14, dense=4), 4),
            *(_lost(PatchGrid(6, 3, 64, 14, dense=4), 12),) * 3,
            _lost(PatchGrid(6, 3, 64, 14, dense=4), 12),
        ),
        HoleKind.DEEP: (
            _wide(PatchGrid(16, 4, 16, 24, dense=4), 8),
            _wide(PatchGrid(12, 4, 12, 24, dense=4), 4),
            _sparse(PatchGrid(8, 4, 48, 20, dense=4), 6, trust=0.05),
            _sparse(PatchGrid(6, 3, 48, 16, dense=4), 6, trust=0.05),
        ),
    },
}


# Where the first guesses of a noisy mosaic agree, little but its noise is left to be removed: small groups
# do that as well as large ones, within .01 dB on parts of eight pictures with noise of 1.5 to 6 of 255. Fewer
# of them that restore more patches each cost another .01 dB, at half the work; and patches further out than a
# few pixels are as good at places where samples lie as in the reference. Their means need no correction: the
# first estimate is as good as samples there (within .015 dB on parts of ten pictures).
# Of X-Trans this holds with narrower gaps: on parts of twelve enlarged pictures .005 and .01 dB are gained.
AGREED: dict[HoleKind, Step] = {
    HoleKind.BAYER: _mosaic(PatchGrid(4, 6, 40, 8, dense=3), 32, 1.45, 1.5),
    HoleKind.ARRAY: _mosaic(PatchGrid(4, 5, 40, 8, dense=3), 16, 1.45, 1.5),
}


# Of a noisy picture without a mosaic all entries were measured. It starts as noisy as it is, so that groups
# take their noise for texture: the first step goes far beyond what they say. On parts of six Kodak pictures
# with noise of 4 and 12 of 255 the mean is 40.1 and 32.8 dB at fast, 40.5 and 33.7 at normal.
NOISY: dict[str, tuple[Step, ...]] = {
    "fast": (_mosaic(PatchGrid(4, 4, 40, 8), 16, 2.2, 2.2),),
    "normal": (
        _mosaic(PatchGrid(4, 4, 40, 8), 16, 2.2, 2.2),
        _mosaic(PatchGrid(4, 4, 40, 8), 16, 1.3, 1.3),
    ),
    "best": (
        _mosaic(PatchGrid(4, 3, 40, 8), 16, 2.2, 2.2),
        _mosaic(PatchGrid(4, 3, 48, 10), 16, 1.5, 1.5),
        _mosaic(PatchGrid(5, 3, 64, 12), 24, 1.2, 1.2),
    ),
}


# Completions of least norm. Of a mosaic, most of the estimate's brightness is taken off: on parts of four
# Kodak and four McMaster pictures the means are 40.9 and 33.8 dB, 41.0 and 33.5 with all of it (colour
# differences), 39.3 and 33.8 with none. In holes it is worth nothing. All subsets of the pixels of small
# patches can be tried, however many patches there are: of 3 × 3, sixteen give .2 dB more than twelve.
_RATIO, _VERTICES = 1.09, 160
_FLOOR = (0.5 / 255) ** 2


def _complete(patches: PatchGrid, misfit: float, brightness: float, trust: float = 1.0) -> Step:
    """Return a step that completes groups."""
    norm = LeastNorm(misfit, _FLOOR, _RATIO, brightness, _VERTICES)
    return Step(patches, completion(patches.count), trust=(trust, trust), norm=norm)


def _complete_holes(count: int, stride: int) -> Plan:
    """Return the plan of holes: what is wide is closed by means at first, which say what is alike."""
    small, large = PatchGrid(4, stride, count, 10, dense=4), PatchGrid(6, stride + 1, count, 12, dense=4)
    closed = _wide(PatchGrid(12, 6, 12, 10, dense=4), 4)
    return {
        HoleKind.SPARSE: (_complete(small, 1e-3, 0.0, 0.3),),
        HoleKind.LINES: (_complete(small, 1e-3, 0.0, 0.3),),
        HoleKind.SCATTERED: (_complete(small, 1e-3, 0.0, 0.1), _complete(small, 1e-3, 0.0, 0.3)),
        HoleKind.WIDE: (closed, _complete(large, 1e-3, 0.0, 0.1)),
        HoleKind.DEEP: (
            _wide(PatchGrid(16, 5, 16, 16, dense=4), 8),
            closed,
            _complete(large, 1e-3, 0.0, 0.05),
        ),
    }


def _complete_all(mosaic: PatchGrid, misfit: float, holes: int, stride: int) -> Plan:
    """Return the plan of a quality: the groups of mosaics, and how many patches those of holes have."""
    step = _complete(mosaic, misfit, 0.7)
    return {HoleKind.BAYER: (step,), HoleKind.ARRAY: (step,), **_complete_holes(holes, stride)}


COMPLETIONS: dict[str, Plan] = {
    "fast": _complete_all(PatchGrid(3, 4, 8, 8), 3e-3, 8, 4),
    "normal": _complete_all(PatchGrid(3, 4, 16, 10), 3e-3, 8, 3),
    "best": _complete_all(PatchGrid(3, 3, 16, 12), 1e-3, 10, 3),
}


# Several frames: after the reference frame's own picture, groups in which every entry has a weight of its
# own. Chosen on parts of six pictures, 4 and 8 frames with noise of 5 and 20 of 255: a third step gains .13
# to .19 dB for half the work again.
_FRAMES = (
    _mosaic(PatchGrid(4, 4, 64, 10), 24, 1.7, 1.5, correction=5.0),
    _mosaic(PatchGrid(5, 4, 64, 10), 24, 1.5, 1.4, correction=5.0),
)
BURSTS: dict[str, tuple[Step, ...]] = {
    "fast": (_mosaic(PatchGrid(4, 4, 40, 8), 16, 1.5, 1.3, correction=4.0),),
    "normal": _FRAMES,
    "best": (*_FRAMES, _mosaic(PatchGrid(5, 4, 64, 10), 24, 1.4, 1.3, correction=5.0)),
}
