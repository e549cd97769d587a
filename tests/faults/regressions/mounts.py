"""File systems made for a test, in files that are mounted: that takes root, and programs that format."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_BYTES = 64 * 2**20


@contextmanager
def mounted(kind: str, folder: Path) -> Iterator[Path]:
    """A new file system; OSError where there is no such here.

    ``fat`` is one without links and without a rename that replaces nothing, as on cards and sticks: the
    first of FAT and exFAT that can be made and mounted.
    """
    place = folder / "mounted"
    place.mkdir()
    with ExitStack() as stack:
        for way in _WAYS[kind]:
            try:
                stack.enter_context(way(folder, place))
                break
            except (OSError, subprocess.CalledProcessError):
                continue
        else:
            raise OSError(f"no {kind} can be made and mounted here, which takes root")
        yield place


@contextmanager
def _tmpfs(_folder: Path, place: Path) -> Iterator[None]:
    with _mount("mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "tmpfs", place, at=place):
        yield


@contextmanager
def _ext4(folder: Path, place: Path) -> Iterator[None]:
    image = _format(folder, "mkfs.ext4", "-q", "-F")
    with _mount("mount", "-t", "ext4", "-o", "loop", image, place, at=place):
        yield


@contextmanager
def _fat(folder: Path, place: Path) -> Iterator[None]:
    image = _format(folder, "mkfs.vfat")
    with _mount("mount", "-t", "vfat", "-o", "loop", image, place, at=place):
        yield


@contextmanager
def _exfat(folder: Path, place: Path) -> Iterator[None]:
    """By a program of its own, where the kernel has none; that wants a device."""
    image = _format(folder, "mkfs.exfat")
    device = _run("losetup", "-f", "--show", image).strip()
    try:
        with _mount("mount.exfat-fuse", device, place, at=place):
            yield
    finally:
        _run("losetup", "-d", device)


_WAYS = {"tmpfs": (_tmpfs,), "ext4": (_ext4,), "fat": (_fat, _exfat)}


def _format(folder: Path, *command: str) -> Path:
    """A file that is formatted."""
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(_BYTES)
    _run(*command, image)
    return image


@contextmanager
def _mount(*command: object, at: Path) -> Iterator[None]:
    """Something mounted while the block lasts, even if a process that is killed still holds it."""
    _run(*command)
    try:
        yield
    finally:
        _run("umount", "-l", at)


def _run(*command: object) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
