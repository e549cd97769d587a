"""The command ``demosaic-ntc convert``, which is also meant when no command is named."""

from ..arguments import options as o
from ..failures import explained


def convert(
    source: o.Source,
    target: o.Target = None,
    cfa: o.Array = None,
    width: o.Width = None,
    height: o.Height = None,
    raw_bits: o.RawBits = None,
    max_pixels: o.MaxPixels = 150_000_000,
    bits: o.Bits = None,
    space: o.Space = "srgb",
    linear: o.Linear = False,
    crop: o.Crop = "visible",
    no_rotate: o.NoRotate = False,
    no_metadata: o.NoMetadata = False,
    jpeg_quality: o.JpegQuality = 95,
    jpeg_subsampling: o.JpegSubsampling = "4:4:4",
    resize: o.Resize = None,
    compress: o.Compress = False,
    error_map: o.ErrorMap = None,
    wb: o.WhiteBalance = "camera",
    wb_from: o.WhiteBalanceFrom = None,
    black: o.Black = None,
    white: o.White = "auto",
    look: o.Look = None,
    exposure: o.Brightness = "0",
    contrast: o.Contrast = 0.0,
    saturation: o.Saturation = 0.0,
    highlights: o.Highlights = "clip",
    ca: o.Fringes = "off",
    denoise: o.Denoise = "auto",
    denoise_color: o.DenoiseColor = None,
    noise: o.Noise = None,
    bad_pixels: o.BadPixels = None,
    method: o.Method = "ntc",
    quality: o.Quality = "normal",
    half: o.Half = False,
    threads: o.Threads = None,
    time_limit: o.TimeLimit = None,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Turn a raw file into a finished picture.

    Writes the full visible area with the camera's white balance and a look that suits the photo, upright,
    with EXIF and colour profile. An existing picture is left alone unless --overwrite is given.
    """
    target = source.with_suffix(".png") if target is None else target
    chosen = locals()  # every option by its name
    with explained(debug=debug, quiet=quiet):
        from ..actions.convert import convert_one, settings_from
        from ..output.results import Telling

        settings, telling = settings_from(chosen), Telling(quiet=quiet, verbose=verbose, json=json)
        convert_one(source, target, settings, telling, error_map)
