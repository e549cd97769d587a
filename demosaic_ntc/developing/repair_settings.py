"""Every setting of a repair, checked when it is made."""

from dataclasses import dataclass

from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.images.mask_rule import Detection, MaskRule
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.recipe import part, setting


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """Everything a repair depends on besides its files."""

    mask: MaskRule = part(MaskRule)
    detection: Detection | None = part(Detection, only_with="detect")  # besides what a mask marks
    limits: InputLimits = part(InputLimits)
    engine: Engine = part(Engine, half=None, method="ntc, predict-only or biharmonic.")
    overwrite: bool = setting(False, "Replace OUT where it exists.", "Running")

    @property
    def needs_mask(self) -> bool:
        """Whether only a mask in a file can tell what to repair."""
        return self.mask.needs_file and self.detection is None

    def described(self) -> str:
        """The parameters in one line."""
        engine, looked = self.engine, self.detection
        detection = f" detect={','.join(looked.kinds)} sensitivity={looked.sensitivity:g}" if looked else ""
        return f"method={engine.method} quality={engine.quality}{detection}"
