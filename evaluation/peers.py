"""When a method of somebody else fails: its figures are missing, the reason is told, and the work goes on."""

from textwrap import shorten

from demosaic_ntc.errors import InputError

_LONGEST = 300  # letters; some libraries explain themselves over pages


def reason(error: Exception) -> str:
    """Why a method has no figures, in a line."""
    if isinstance(error, InputError):
        return str(error)
    told = ": ".join(filter(None, (type(error).__name__, str(error))))
    return f"failed ({shorten(told, _LONGEST, placeholder=' …')}); its figures are left out"
