"""How a measurement was made: the machine, the versions, and what the numbers mean."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import demosaic_ntc

#: What every measurement depends on.
_PACKAGES = ("demosaic-ntc", "numpy", "numba")

# The folders of the package whose code makes figures: of completions, of pictures, and of files.
SOLVER_LAYERS = ("ntc",)
PICTURE_LAYERS = (*SOLVER_LAYERS, "engine", "demosaicing", "inpainting", "detection")
FILE_LAYERS = (*PICTURE_LAYERS, "io", "images", "raw", "developing", "workflows")


def machine() -> str:
    """What the times belong to."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):
        told = re.search(r"^model name\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        name = told[1].strip() if told else name
    return f"{name}, {os.cpu_count()} logical cores, {platform.system()}"


def versions(*packages: str) -> str:
    """The versions of what was measured, with some more packages, in a line."""
    found = [f"Python {platform.python_version()}"]
    for name in (*_PACKAGES, *packages):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def list_machines(machines: Iterable[str]) -> str:
    """The machines of some results, each once."""
    return " and ".join(dict.fromkeys(machines)) or "no machine yet"


def engine(layers: Iterable[str] = PICTURE_LAYERS) -> str:
    """This package's version and a checksum of its sources: figures of one code are not those of another."""
    digest, package = sha256(), Path(demosaic_ntc.__file__).parent
    for source in sorted(source for layer in layers for source in (package / layer).rglob("*.py")):
        digest.update(source.read_bytes())
    return f"demosaic-ntc {version('demosaic-ntc')} (sources {digest.hexdigest()[:8]})"


def commit() -> str:
    """The commit of the checkout this code runs from, and whether it was changed since."""
    root = Path(demosaic_ntc.__file__).parents[1]
    if not (root / ".git").exists():
        return "none, an installed package"
    words = ("git", "-C", str(root), "describe", "--always", "--dirty=, changed since", "--abbrev=12")
    try:
        told = subprocess.run(words, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return told.stdout.strip()
