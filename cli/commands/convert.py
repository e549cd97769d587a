"""The command ``demosaic-ntc convert``, which is also meant when no command is named."""

from typing import Any

from demosaic_ntc.developing.settings import Settings

from ..arguments import options as o
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error


@add_options(options_of(Settings), o.OfRunning, o.OfConversion)
def convert(raw: o.Source, target: o.Target = None, **chosen: Any) -> None:
    """Turn a raw file into a finished picture.

    Writes the camera's own crop with its white balance and a look that suits the photo, upright, with EXIF
    and colour profile. An existing picture is left alone unless --overwrite is given.
    """
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from demosaic_ntc.io.isolation.decoder import start_decoder

        start_decoder(raw, isolate=chosen["isolate"])
        from ..actions.convert import convert_one, settings_from
        from ..output.results import Verbosity

        telling = Verbosity(**{name: chosen[name] for name in ("quiet", "verbose", "json")})
        result = raw.with_suffix(".png") if target is None else target
        convert_one(raw, result, settings_from(chosen), telling, chosen["error_map"])
