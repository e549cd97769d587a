"""What the server answers to each request: read with care (JSON of a bounded length), checked, handed on."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.errors import InputError, TooLarge
from demosaic_ntc.images.mask_rule import Detection
from demosaic_ntc.recipe import build
from demosaic_ntc.studio import saving
from demosaic_ntc.studio.actions import Actions
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.strokes import rasterise, shape_from
from demosaic_ntc.studio.canvas.tile_images import flags_png
from demosaic_ntc.studio.looks import LookSettings
from demosaic_ntc.studio.session import Entry

_MOST_JSON = 2 << 20
_NOT_FOUND = 404


class Handlers:
    """The answers of a session; what takes a while is done by threads or workers."""

    def __init__(self, wishes: Actions) -> None:
        self._wishes, self._session = wishes, wishes.session

    def _entry(self, request: Request) -> Entry:
        return self._session.entry(request.path_params["number"])

    # Looking -----------------------------------------------------------------------------------------------

    def state(self, _request: Request) -> Response:
        """Everything there is."""
        return JSONResponse(self._session.plain())

    def tile(self, request: Request) -> Response:
        """A tile of a layer."""
        at = request.path_params
        sheet = self._session.sheet(at["number"])
        content = sheet.tile(at["layer"], at["level"], at["column"], at["row"])
        if content is None:
            return JSONResponse({"error": "there is no such tile; reload the page"}, _NOT_FOUND)
        return Response(content, media_type="image/png")

    # Opening -----------------------------------------------------------------------------------------------

    async def upload(self, request: Request) -> Response:
        """Take a file that was dropped onto the page, and open it."""
        target = self._session.new_upload(unquote(request.headers.get("x-name", "")))
        await file_of(request, target, self._session.limits.file_bytes)
        entry = self._session.add(target, is_upload=True)
        self._wishes.open(entry)
        return JSONResponse(entry.plain())

    async def open(self, request: Request) -> Response:
        """Open a picture."""
        plain = await json_of(request)
        entry = self._entry(request)
        await run_in_threadpool(self._wishes.open, entry, again=plain.get("again") is True)
        return JSONResponse(entry.plain())

    # The mask ----------------------------------------------------------------------------------------------

    async def draw(self, request: Request) -> Response:
        """Change the mask by a step."""
        plain = await json_of(request)
        return await run_in_threadpool(self._draw_shape, self._entry(request), plain)

    def _draw_shape(self, entry: Entry, plain: dict[str, Any]) -> Response:
        sheet = self._session.sheet(entry.number)
        with sheet.lock:
            steps = {name: getattr(sheet.mask, name) for name in ("undo", "redo", "clear", "invert")}
            steps |= {"source": sheet.take_source, "grow": lambda: sheet.mask.grow(_growth(plain))}
            tool = plain.get("tool")
            if isinstance(tool, str) and tool in steps:
                box: PixelBox = steps[tool]()
            else:
                box, flags = rasterise(shape_from(plain), sheet.facts.size)
                box = (sheet.mask.erase if plain.get("erase") is True else sheet.mask.add)(box, flags)
            sheet.forget(box)
            answer = {"box": box.plain(), "mask": sheet.describe_mask()}
        self._session.tell_mask(entry.number, box.plain())
        return JSONResponse(answer)

    async def load_mask(self, request: Request) -> Response:
        """Take over a mask file."""
        entry = self._entry(request)
        self._session.sheet(entry.number)
        target = self._wishes.scratch(entry, "uploaded")
        await file_of(request, target, self._session.limits.file_bytes)
        return _confirm_task(self._wishes.load_mask(entry, target).number)

    def mask(self, request: Request) -> Response:
        """The mask as a file."""
        entry = self._entry(request)
        content = flags_png(self._session.sheet(entry.number).mask.flags())
        name = entry.source.stem + saving.MASK_ENDING
        return Response(
            content, media_type="image/png", headers={"Content-Disposition": _make_attachment_header(name)}
        )

    async def find(self, request: Request) -> Response:
        """Propose what may be damaged."""
        plain = await json_of(request)
        sensitivity = build(Detection, {"sensitivity": plain.get("sensitivity")}).sensitivity
        kind = _word(plain, "what", "dust")
        return _confirm_task(self._wishes.find(self._entry(request), kind, float(sensitivity)).number)

    # Repairs -----------------------------------------------------------------------------------------------

    async def repair(self, request: Request) -> Response:
        """Show what is marked repaired."""
        plain, entry = await json_of(request), self._entry(request)
        only_new = plain.get("what") == "new"
        task = await run_in_threadpool(self._wishes.repair, entry, only_new=only_new, **_repair_words(plain))
        return _confirm_task(task.number)

    async def save(self, request: Request) -> Response:
        """Write the repaired picture."""
        plain, entry = await json_of(request), self._entry(request)
        task = await run_in_threadpool(
            self._wishes.save,
            entry,
            suffix=_word(plain, "format", "png"),
            place=_word(plain, "place", saving.NEW),
            **_repair_words(plain),
            with_mask=plain.get("mask") is True,
        )
        return _confirm_task(task.number)

    async def folder(self, request: Request) -> Response:
        """Write all pictures, repaired with one mask."""
        plain, entry = await json_of(request), self._entry(request)
        tasks = await run_in_threadpool(
            self._wishes.save_folder,
            entry,
            suffix=_word(plain, "format", "same"),
            **_repair_words(plain),
        )
        return JSONResponse({"tasks": [task.number for task in tasks]})

    def result(self, request: Request) -> Response:
        """What was saved of an upload; what was named lies beside its original."""
        entry = self._entry(request)
        if not entry.is_upload or entry.result is None:
            return JSONResponse({"error": "nothing was saved yet; save it first"}, _NOT_FOUND)
        return FileResponse(
            entry.result, headers={"Content-Disposition": _make_attachment_header(entry.result.name)}
        )

    async def cancel(self, request: Request) -> Response:
        """Give up a task."""
        if not self._wishes.crew.cancel(request.path_params["task"]):
            return JSONResponse({"error": "there is no such task; reload the page"}, _NOT_FOUND)
        return JSONResponse({})

    # Raws --------------------------------------------------------------------------------------------------

    async def develop(self, request: Request) -> Response:
        """Show a raw as it would be converted."""
        wish = LookSettings.of(await json_of(request))
        task = await run_in_threadpool(self._wishes.develop, self._entry(request), wish)
        return _confirm_task(task.number)

    async def command(self, request: Request) -> Response:
        """The command that converts a raw as it would be seen."""
        plain, entry = await json_of(request), self._entry(request)
        suffix = _word(plain, "format", "png")
        return JSONResponse({"command": self._wishes.command(entry, LookSettings.of(plain), suffix)})

    async def convert(self, request: Request) -> Response:
        """Convert a raw."""
        plain, entry = await json_of(request), self._entry(request)
        suffix, place = _word(plain, "format", "png"), _word(plain, "place", saving.NEW)
        task = await run_in_threadpool(
            self._wishes.convert, entry, LookSettings.of(plain), suffix=suffix, place=place
        )
        return _confirm_task(task.number)


def _confirm_task(number: int) -> Response:
    """A task was begun."""
    return JSONResponse({"task": number})


def _word(plain: dict[str, Any], name: str, otherwise: str) -> str:
    """A word of a request."""
    word = plain.get(name, otherwise)
    if not isinstance(word, str):
        raise InputError(f"{name} is a word; reload the page")
    return word


def _growth(plain: dict[str, Any]) -> int:
    """The pixels by which a request wants a mask to grow; numbers of requests are floats."""
    pixels = plain.get("pixels")
    whole = int(pixels) if isinstance(pixels, float) and pixels.is_integer() else pixels
    return build(RepairSettings, {"grow": whole}).grow


def _repair_words(plain: dict[str, Any]) -> dict[str, str]:
    """How a request wants pictures repaired."""
    usual = {"quality": "normal", "grain": "auto", "fill": "smooth"}
    return {name: _word(plain, name, word) for name, word in usual.items()}


def _make_attachment_header(name: str) -> str:
    """A header that lets browsers store a file under a name."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_"
        for letter in name
    )
    return f'attachment; filename="{plain}"'


async def json_of(request: Request) -> dict[str, Any]:
    """The object that a request holds."""
    content = b""
    async for block in request.stream():
        content += block
        if len(content) > _MOST_JSON:
            raise TooLarge(f"a request has at most {_MOST_JSON} bytes; draw shorter strokes")
    try:
        plain = json.loads(content or b"{}", parse_int=float)  # of any length: what is too large is infinite
    except (ValueError, RecursionError):
        raise InputError("the request is not JSON; reload the page") from None
    if not isinstance(plain, dict):
        raise InputError("the request is not an object; reload the page")
    return plain


async def file_of(request: Request, target: Path, most: int) -> None:
    """Write the body of a request to a file; nothing is left of one that is too long or breaks off."""
    stated = request.headers.get("content-length", "")
    refusal = TooLarge(f"the file has more than {most} bytes; give a smaller one")
    if stated.isdigit() and int(stated) > most:
        raise refusal
    length = 0
    try:
        with target.open("wb") as file:
            async for block in request.stream():
                length += len(block)
                if length > most:
                    raise refusal
                file.write(block)
    except (TooLarge, ClientDisconnect, OSError):
        with suppress(OSError):
            target.unlink()
        raise
    if length == 0:
        target.unlink()
        raise InputError("the file is empty; choose another")
