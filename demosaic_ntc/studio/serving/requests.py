"""Requests read with care: JSON of a bounded length, files that grow on the disk up to their limit."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request

from demosaic_ntc.errors import InputError, TooLarge

_MOST_JSON = 2 << 20


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
        raise InputError("the request is no JSON; reload the page") from None
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
