"""How soon the studio shows a large picture and repairs it, and what its page takes: in a real browser.

The picture is generated, 16-bit RGB, waves under grain, as an uncompressed TIFF. Strokes of a brush mark
about one percent of it. Seconds are those of a clock, so they hold for a machine that does nothing else; CPU
seconds of the worker processes, which hold on a busy one as well, stand beside them.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
import psutil
import tifffile
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.studio.serving.launch import Studio, opened_studio, server_of

from ..report.tables import DataTable, figure, table_of
from .browser import Browser, find_browser

_ASPECT = 1.5
_SHARE = 0.01  # of the picture that is marked
_RADIUS = 8.0  # of the brush, in pixels
_SCREEN = (1280, 800)
_STEPS = 12  # places looked at 1:1, for the page's memory
_WARM_SECONDS, _PATIENCE = 120.0, 1800.0

_IDLE = "studio.easel.number !== null && studio.easel.tiles.isIdle && !studio.easel.pending.length"
_DONE = f"{_IDLE} && !studio.asked.size"


@dataclass(frozen=True, slots=True)
class StudioTimings:
    """What a picture in the studio took."""

    megapixels: float
    marked: float  # the share of its pixels
    steps: tuple[dict[str, Any], ...]  # of each its name, seconds, and CPU seconds of the workers
    page_bytes: int  # of the page's own process, at most


def large_picture(megapixels: float) -> NDArray[np.uint16]:
    """Waves under grain, (height, width, 3)."""
    height = round((megapixels * 1e6 / _ASPECT) ** 0.5)
    y, x = np.ogrid[0:height, 0 : round(height * _ASPECT)]
    picture = np.empty((height, x.shape[1], 3), np.uint16)
    generator = np.random.default_rng(0)
    for channel, (across, down) in enumerate(((37, 53), (71, 29), (113, 97))):
        light = 0.5 + 0.25 * np.sin(x / np.float32(across)) * np.cos(y / np.float32(down))
        light = light + 0.15 * np.sin((x + 2 * y) / np.float32(across + down))
        light += generator.standard_normal(light.shape, dtype=np.float32) * np.float32(0.004)
        picture[..., channel] = np.clip(light * 65535, 0, 65535)
    return picture


def measure_studio(megapixels: float, quality: str) -> StudioTimings:
    """Open a picture in the studio, mark a share of it, repair it, and look around."""
    program = find_browser()
    if program is None:
        raise InputError("the studio is measured in a browser; install Chromium")
    with TemporaryDirectory(prefix="demosaic-ntc-studio-") as folder:
        source = Path(folder, "large.tif")
        tifffile.imwrite(source, large_picture(megapixels), photometric="rgb")
        with _serve() as studio, _browser(program, Path(folder, "profile")) as page:
            return _measure(studio, page, source, quality)


def studio_table(measured: StudioTimings) -> DataTable:
    """What a picture took in the studio: its steps, and the page's memory."""
    title = f"{measured.megapixels:.0f} megapixels, 16 bits, {measured.marked:.2%} marked"
    memory = {"step": "page, MB", "s": figure(measured.page_bytes / 1e6, ".0f"), "CPU s": ""}
    columns, note = (
        {"step": "", "s": ".1f", "CPU s": ".1f"},
        "seconds of a clock and of the workers' processors",
    )
    return table_of(title, columns, (*measured.steps, memory), note)


def _measure(studio: Studio, page: Browser, source: Path, quality: str) -> StudioTimings:
    page.resize(*_SCREEN)
    page.visit(studio.place.address)
    studio.wishes.session.name([source])
    page.wait_for("studio.pictures.length")
    steps = [_time_action("first view", page, "studio.show(1)", f"studio.picture.sheet && {_IDLE}")]
    steps.append(_time_action("strokes", page, _strokes(source), _IDLE))
    pixels = page.run(
        "studio.picture.sheet.mask.pixels / (studio.easel.size.width * studio.easel.size.height)"
    )
    page.run(f"document.getElementById('quality').value = {quality!r}")
    done = f"studio.picture.sheet.touched.length && {_DONE}"
    steps.append(_time_action(f"repair, {quality}", page, "studio.repair('all')", done))
    most = _memory(page)
    for step in range(_STEPS):
        page.run(
            f"studio.easel.setZoom(1);"
            f"studio.easel.centre.x = {step + 0.5} / {_STEPS} * studio.easel.size.width; studio.easel.draw()"
        )
        page.wait_for(_IDLE)
        most = max(most, _memory(page))
    size = page.run("studio.easel.size.width * studio.easel.size.height")
    return StudioTimings(size / 1e6, pixels, tuple(steps), most)


def _time_action(name: str, page: Browser, wish: str, condition: str) -> dict[str, Any]:
    """Let the page do something and wait until all of it is seen."""
    start, before = time.monotonic(), _cpu_seconds()
    page.run(f"void {wish}")
    page.wait_for(condition, _PATIENCE)
    return {"step": name, "s": time.monotonic() - start, "CPU s": _cpu_seconds() - before}


def _strokes(source: Path) -> str:
    """A script that draws as many strokes across the picture as mark the share."""
    with tifffile.TiffFile(source) as file:
        height, width = file.pages.first.shape[:2]
    count = max(1, round(_SHARE * height / (2 * _RADIUS)))
    lines = [[[0, (n + 0.3) * height / count], [width, (n + 0.6) * height / count]] for n in range(count)]
    shape = f"{{tool: 'brush', erase: false, radius: {_RADIUS}, points}}"
    return f"Promise.all({lines}.map(points => studio.draw({shape})))"


def _cpu_seconds() -> float:
    """The seconds of all workers; other children may end while they are looked at."""
    spent = 0.0
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if "batch.worker" in " ".join(child.cmdline()):
                spent += sum(child.cpu_times()[:2])
    return spent


def _memory(page: Browser) -> int:
    """What the page's own process uses and shares with nobody, in bytes; the largest of several.

    Processes may end while they are looked at.
    """
    largest = 0
    for child in psutil.Process(page.pid).children(recursive=True):
        with suppress(psutil.Error):
            if "--type=renderer" in child.cmdline():
                largest = max(largest, int(child.memory_full_info().uss))
    return largest


@contextmanager
def _serve() -> Iterator[Studio]:
    """A studio without pictures, whose workers are ready."""
    with opened_studio([], InputLimits()) as studio:
        ready = Event()
        server = server_of(studio, lambda address: ready.set())
        thread = Thread(target=server.run, kwargs={"sockets": [studio.listener]})
        thread.start()
        ready.wait(_WARM_SECONDS)
        studio.wishes.crew.wait_until_ready(_WARM_SECONDS)
        try:
            yield studio
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def _browser(program: str, profile: Path) -> Iterator[Browser]:
    page = Browser(program, profile)
    try:
        yield page
    finally:
        page.close()
