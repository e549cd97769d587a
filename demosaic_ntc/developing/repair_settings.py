"""Every setting of a repair, checked when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demosaic_ntc.choices import GrainChoice
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import check_choice
from demosaic_ntc.images.mask_rule import Detection, MaskRule
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.recipe import CheckedSettings, build, part, setting


@dataclass(frozen=True, slots=True)
class RepairSettings(CheckedSettings):
    """Everything a repair depends on besides its files."""

    mask: MaskRule = part(MaskRule)
    detection: Detection | None = part(Detection, only_with="detect")  # besides what a mask marks
    limits: InputLimits = part(InputLimits)
    engine: Engine = part(Engine, half=None, method="gaussian, ntc or biharmonic.")
    grain: GrainChoice = setting(
        "auto",
        "Whether what is restored gets the noise of its surroundings, where noise is clearly measured.",
        "Engine",
        label="Grain",
    )
    overwrite: bool = setting(False, "Replace OUT where it exists.", "Running")

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

    def described(self) -> str:
        """The parameters in one line."""
        engine, looked = self.engine, self.detection
        detection = f" detect={','.join(looked.kinds)} sensitivity={looked.sensitivity:g}" if looked else ""
        return f"method={engine.method} quality={engine.quality} grain={self.grain}{detection}"
