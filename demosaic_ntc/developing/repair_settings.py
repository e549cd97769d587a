"""Every setting of a repair, checked when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demosaic_ntc.choices import Fill, GrainChoice
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import InputError, check_choice
from demosaic_ntc.images.mask_rule import MOST_GROWN, Detection, MaskRule
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.recipe import CheckedSettings, Slider, build, part, setting


@dataclass(frozen=True, slots=True)
class RepairSettings(CheckedSettings):
    """Everything a repair depends on besides its files."""

    mask: MaskRule = part(MaskRule)
    detection: Detection | None = part(Detection, only_with="detect")  # besides what a mask marks
    limits: InputLimits = part(InputLimits)
    engine: Engine = part(Engine, half=None, method="gaussian, ntc or biharmonic.")
    grain: GrainChoice = setting(
        "auto",
        "Add the grain of the surroundings to repaired areas, if the picture is clearly noisy (auto).",
        "Engine",
        label="Grain",
    )
    fill: Fill = setting(
        "smooth",
        "What holes wider than 24 pixels get: a smooth estimate, or texture copied from the picture itself "
        "(auto); texture copies into narrower ones, too.",
        "Engine",
        label="Wide holes",
    )
    grow: int = setting(
        0,
        "Grow the mask by N pixels, so that no leftovers show at its edge.",
        "Mask",
        low=0,
        high=MOST_GROWN,
        wrong="a mask cannot grow by {} pixels",
        label="Grow the mask",
        slider=Slider(high=16, unit=" px"),
    )
    source: Path | None = setting(
        None, "Copy texture only from what this mask marks.", "Mask", parse=Path, metavar="MASK"
    )
    overwrite: bool = setting(False, "Replace OUT where it exists.", "Running")

    def check_together(self) -> None:
        """Refuse a source that nothing is copied from."""
        if self.source is not None and self.fill == "smooth":
            raise InputError(
                "nothing is copied with `fill=smooth`; give `source` with `fill=auto` or `texture`"
            )

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> "RepairSettings":
        """Return the settings that some values stand for, by name; see `build`."""
        from demosaic_ntc.inpainting.inpaint import METHODS  # noqa: PLC0415 (help does without)

        if (method := chosen.get("method")) is not None:
            check_choice("method", method, METHODS)
        return build(cls, chosen)

    @property
    def needs_mask(self) -> bool:
        """Whether only a mask in a file can tell what to repair."""
        return self.mask.needs_file and self.detection is None

    def describe(self) -> str:
        """The parameters in one line."""
        engine, looked = self.engine, self.detection
        detection = f" detect={','.join(looked.kinds)} sensitivity={looked.sensitivity:g}" if looked else ""
        wide = "" if self.fill == "smooth" else f" fill={self.fill}"
        grown = f" grow={self.grow}" if self.grow else ""
        return f"method={engine.method} quality={engine.quality} grain={self.grain}{wide}{grown}{detection}"
