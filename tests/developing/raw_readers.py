"""Other programs that open raws, asked for plain pictures: camera balance, sRGB, no look of their own."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray

_SECONDS = 240

# Everything is said that a profile would otherwise add.
_RAWTHERAPEE_PROFILE = """[Version]
AppVersion=5.9
Version=349
[Exposure]
Auto=false
Compensation=0
HistogramMatching=false
[HLRecovery]
Enabled=false
[White Balance]
Enabled=true
Setting=Camera
[Color Management]
InputProfile=(camera)
ToneCurve=false
ApplyLookTable=false
ApplyBaselineExposureOffset=false
ApplyHueSatMap=false
WorkingProfile=sRGB
OutputProfile=RTv4_sRGB
[RAW]
CA=false
"""


def program(name: str) -> str:
    """The place of a program; without it a test is skipped."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}; `make readers` installs it where it may")
    return found


def _run(*command: object, home: Path) -> None:
    """Run a program that keeps its files in a folder of its own."""
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    subprocess.run([*map(str, command)], check=True, capture_output=True, timeout=_SECONDS, env=environment)


def _read(path: Path) -> NDArray[np.float64]:
    return np.asarray(tifffile.imread(path), np.float64) / 65535


def by_rawtherapee(source: Path, folder: Path) -> NDArray[np.float64]:
    """What RawTherapee makes of a raw, 0 … 1 under the sRGB curve."""
    profile, target = folder / "plain.pp3", folder / f"{source.stem}.rawtherapee.tif"
    profile.write_text(_RAWTHERAPEE_PROFILE)
    _run(
        program("rawtherapee-cli"),
        "-q",
        "-o",
        target,
        "-p",
        profile,
        "-b16",
        "-t",
        "-Y",
        "-c",
        source,
        home=folder,
    )
    return _read(target)


def by_darktable(source: Path, folder: Path) -> NDArray[np.float64]:
    """What darktable makes of a raw, 0 … 1 under the sRGB curve."""
    target = folder / f"{source.stem}.darktable.tif"
    settings = (
        "plugins/darkroom/workflow=none",
        "plugins/darkroom/chromatic-adaptation=legacy",
        "plugins/imageio/format/tiff/bpp=16",
    )
    given = [word for setting in settings for word in ("--conf", setting)]
    plain = ("--icc-type", "SRGB", "--apply-custom-presets", "false", "--core", "--library", ":memory:")
    _run(
        program("darktable-cli"),
        source,
        target,
        *plain,
        "--configdir",
        folder / "darktable",
        *given,
        home=folder,
    )
    return _read(target)


def findings(path: Path) -> list[str]:
    """What ExifTool has against a file."""
    command = [program("exiftool"), "-validate", "-warning", "-error", "-a", "-s3", str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SECONDS)
    return [line for line in answer.stdout.splitlines() if line != "OK"]
