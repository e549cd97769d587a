"""The server: its routes, the stream of events, and its life from the first request to the last."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demosaic_ntc.errors import DemosaicNtcError, TooLarge
from demosaic_ntc.studio.actions import Actions
from demosaic_ntc.studio.serving.handlers import Handlers
from demosaic_ntc.studio.serving.page import page_html, policy
from demosaic_ntc.studio.serving.security import Guard, Place

# A tab that listens to none of so many events is gone.
_MOST_UNHEARD = 5000

# A word now and then: who is gone is noticed, and nobody between hangs up.
_HEARTBEAT_SECONDS = 10.0

_TOO_LARGE, _WRONG, _BROKEN = 413, 400, 500


def build_app(wishes: Actions, place: Place) -> Starlette:
    """The server of a session."""
    answers = Handlers(wishes)
    events = Events(wishes)
    base = f"{place.path}api"
    one = f"{base}/pictures/{{number:int}}"
    routes = [
        Route(place.path, _page),
        Route(f"{base}/state", answers.state),
        Route(f"{base}/events", events.answer),
        Route(f"{base}/pictures", answers.upload, methods=["POST"]),
        Route(f"{one}/open", answers.open, methods=["POST"]),
        Route(f"{one}/tiles/{{layer}}/{{level:int}}/{{column:int}}/{{row:int}}", answers.tile),
        Route(f"{one}/mask", answers.draw, methods=["POST"]),
        Route(f"{one}/mask", answers.load_mask, methods=["PUT"]),
        Route(f"{one}/mask.png", answers.mask),
        Route(f"{one}/find", answers.find, methods=["POST"]),
        Route(f"{one}/repair", answers.repair, methods=["POST"]),
        Route(f"{one}/save", answers.save, methods=["POST"]),
        Route(f"{one}/folder", answers.folder, methods=["POST"]),
        Route(f"{one}/result", answers.result),
        Route(f"{one}/develop", answers.develop, methods=["POST"]),
        Route(f"{one}/command", answers.command, methods=["POST"]),
        Route(f"{one}/convert", answers.convert, methods=["POST"]),
        Route(f"{base}/tasks/{{task:int}}/cancel", answers.cancel, methods=["POST"]),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, place=place)],
        exception_handlers={DemosaicNtcError: _refuse, ClientDisconnect: _refuse, Exception: _break},
        lifespan=events.lifespan,
    )


def _page(_request: Request) -> Response:
    nonce = secrets.token_urlsafe(16)  # a number used once
    return HTMLResponse(page_html(nonce), headers={"Content-Security-Policy": policy(nonce)})


def _refuse(_request: Request, error: Exception) -> Response:
    """What cannot be done, and why."""
    return JSONResponse({"error": str(error)}, _TOO_LARGE if isinstance(error, TooLarge) else _WRONG)


def _break(_request: Request, error: Exception) -> Response:
    """A bug of ours; the server goes on."""
    words = f"internal error ({type(error).__name__}: {error}); please report it"
    return JSONResponse({"error": words}, _BROKEN)


class Events:
    """What happens, told to every tab as it happens."""

    def __init__(self, wishes: Actions) -> None:
        self._wishes = wishes
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Let streams end with the server."""
        self._closing = asyncio.Event()
        yield
        self._closing.set()

    async def answer(self, _request: Request) -> Response:
        """A stream of server-sent events that begins with the state of everything."""
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        loop, session = asyncio.get_running_loop(), self._wishes.session
        unheard: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MOST_UNHEARD)

        def hear(event: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(_put, unheard, event)

        session.subscribe(hear)
        try:
            yield _line({"kind": "state", **state_of(self._wishes)})
            while not self._closing.is_set():
                event = await _next(unheard)
                yield ": still here\n\n" if event is None else _line(event)
        finally:
            session.leave(hear)


def state_of(wishes: Actions) -> dict[str, Any]:
    """Everything there is to know."""
    return {**wishes.session.plain(), "tasks": [task.plain() for task in list(wishes.crew.tasks.values())]}


def _put(unheard: "asyncio.Queue[dict[str, Any]]", event: dict[str, Any]) -> None:
    """Keep an event until it is heard; a tab that hears nothing is told to begin anew."""
    if unheard.full():
        while not unheard.empty():
            unheard.get_nowait()
        event = {"kind": "reload"}
    unheard.put_nowait(event)


async def _next(unheard: "asyncio.Queue[dict[str, Any]]") -> dict[str, Any] | None:
    """The next event; None if there is none for a while."""
    try:
        return await asyncio.wait_for(unheard.get(), _HEARTBEAT_SECONDS)
    except TimeoutError:
        return None


def _line(event: dict[str, Any]) -> str:
    """An event as it is sent."""
    return f"data: {json.dumps(event)}\n\n"
