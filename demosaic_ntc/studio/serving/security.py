"""Who may talk to the server: the page it has served itself, opened by the address that only this run knows.

Any page in the person's browser, and any program of this machine, can reach a port of this machine. So every
request must name this server as its host, which a foreign name bound to this address cannot; come from this
server's own page, as browsers tell; and carry the secret of this run, once in the address, then as a cookie
that no script reads and no foreign page sends. Browsers do not tell ports apart: what keeps the cookie from
other servers of this machine is a path that they do not have.
"""

import hmac
import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SAFE = ("GET", "HEAD")
_COOKIE = "studio"

# Numbers of more digits than any picture or tile has are not even read.
_LONGEST_PATH, _TOO_LONG = 200, 414

_CLOSED = "This page opens by the address that demosaic-ntc studio shows in its terminal.\n"

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server is reached, and the secret that opens it."""

    port: int
    path: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(12)}/")  # the page's
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which this machine calls itself."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts[0]}{self.path}?token={self.secret}"

    def fits(self, secret: str) -> bool:
        """Whether a secret is the right one, told in the same time whatever it is."""
        return hmac.compare_digest(secret.encode(), self.secret.encode())


class Guard:
    """Lets nothing pass but what the page of this run asks for."""

    def __init__(self, app: ASGIApp, place: Place) -> None:
        self._app, self._place = app, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing else is spoken here
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self._is_page_address(scope):
                    headers.append("Set-Cookie", self._set_cookie())
            await send(message)

        if len(scope["path"]) > _LONGEST_PATH:
            await PlainTextResponse("There is no such place.\n", _TOO_LONG, headers=_HEADERS)(
                scope, receive, send
            )
            return
        if not self._is_ours(scope):
            refusal = PlainTextResponse(_CLOSED, 403, headers=_HEADERS)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send_guarded)

    def _set_cookie(self) -> str:
        return f"{_COOKIE}={self._place.secret}; Path={self._place.path}; HttpOnly; SameSite=Strict"

    def _is_ours(self, scope: Scope) -> bool:
        """Whether a request comes from the page, or opens it."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._place.hosts:
            return False
        if origin is not None and origin != f"http://{host}":
            return False
        if scope["method"] not in _SAFE and origin is None:
            return False
        by_address = self._is_page_address(scope)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not by_address:
            return False
        return by_address or self._has_cookie(headers)

    def _is_page_address(self, scope: Scope) -> bool:
        """Whether the page itself is opened by the address that was shown."""
        if scope["path"] != self._place.path or scope["method"] not in _SAFE:
            return False
        return self._place.fits(QueryParams(scope["query_string"]).get("token", ""))

    def _has_cookie(self, headers: Headers) -> bool:
        """Whether the browser has opened the page before."""
        pairs = (
            each.strip().partition("=") for line in headers.getlist("cookie") for each in line.split(";")
        )
        return any(name == _COOKIE and self._place.fits(value) for name, _, value in pairs)
