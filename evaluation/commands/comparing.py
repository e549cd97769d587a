"""Which methods the command ``compare`` shows raws by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from demosaic_ntc.errors import InputError

if TYPE_CHECKING:
    from demosaic_ntc.cfa import Cfa
    from demosaic_ntc.developing.settings import Development
    from demosaic_ntc.viewer.comparison import Parts

    from ..methods.method import Method

#: Those that know the array; the page opens with the first two.
BAYER_METHODS = (
    *("gaussian", "libraw-ahd", "gaussian-best", "gaussian-fast", "libraw-dcb", "libraw-dht"),
    *("libraw-aahd", "libraw-vng", "libraw-ppg", "libraw-linear"),
)
OTHER_METHODS = (
    *("gaussian", "libraw-markesteijn-3", "gaussian-best", "gaussian-fast"),
    *("libraw-markesteijn-1", "libraw-vng", "libraw-linear"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is compared: methods by name, or those that know the array, of parts, or of whole pictures."""

    methods: Sequence[str]
    parts: "Parts | None"
    development: "Development"
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse names that nobody knows before any raw is read."""
        if self.methods and len(self._pick(self.methods)) == 1:
            raise InputError("a comparison needs two methods; name another one")

    @property
    def versions(self) -> int:
        """About how many versions of a raw there will be: X-Trans has fewer methods, small ones parts."""
        parts = len(self.parts.boxes) or self.parts.count if self.parts else 1
        return parts * len(self.methods or BAYER_METHODS)

    def _pick(self, names: Sequence[str]) -> "list[Method]":
        """The methods of these names."""
        from demosaic_ntc.viewer.comparison import WHITE

        from ..methods.demosaicers import catalogue
        from ..methods.method import Effort, pick_methods

        return pick_methods(catalogue(Effort(threads=self.threads, white=WHITE)), names)

    def write(self, sources: Sequence[Path], folder: Path, report: Callable[[str], None]) -> Path:
        """Make the page for some raws; returns where it is."""
        from demosaic_ntc.viewer.comparison import write_comparison

        def find_known(cfa: "Cfa") -> "list[Method]":
            return self._pick(self.methods or (BAYER_METHODS if cfa.is_bayer else OTHER_METHODS))

        facts = self._facts()
        return write_comparison(sources, folder, find_known, self.parts, self.development, facts, report)

    def _facts(self) -> dict[str, str]:
        """What a reader must know to make the same page again."""
        from demosaic_ntc.viewer.comparison import MARGIN

        from ..measure.protocol import commit, machine, versions

        how = self.development
        shown = (
            f"parts, interpolated with {MARGIN} pixels around them; our groups of patches start elsewhere "
            "than in a whole picture, which changes single pixels by a step or two of 255"
        )
        return {
            "samples": "black subtracted, balanced, under the sRGB curve, 16 bits: the same for all methods",
            "development": f"white balance {how.balance}, exposure {how.exposure}, camera matrix, sRGB, "
            "8 bits",
            "shown": shown if self.parts else "whole pictures",
            "machine": machine(),
            "versions": versions("rawpy"),
            "commit": commit(),
        }
