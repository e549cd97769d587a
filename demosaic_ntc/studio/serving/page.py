"""The page: template, style and scripts put into one document, which asks for nothing but this server."""

import json
from functools import cache
from pathlib import Path
from string import Template

from demosaic_ntc.studio.looks import describe_controls
from demosaic_ntc.viewer import read_script, read_style

_PARTS = Path(__file__).with_name("page")
_SHARED = ("basics.js", "view.js", "gestures.js")
_OWN = ("server.js", "tiles.js", "easel.js", "tools.js", "panels.js", "raws.js", "keys.js", "start.js")


@cache
def _part(name: str) -> str:
    """A file the page is made of."""
    return (_PARTS / name).read_text(encoding="utf-8")


def page_html(nonce: str) -> str:
    """The page as one HTML document, whose style and scripts alone carry the nonce."""
    script = "\n".join([*map(read_script, _SHARED), *map(_part, _OWN)])
    return Template(_part("page.html")).substitute(
        nonce=nonce,
        style=read_style() + _part("style.css"),
        script=script,
        controls=json.dumps(describe_controls()).replace("<", r"\u003c"),
    )


def policy(nonce: str) -> str:
    """What the page may load: its own style and scripts, and whatever this server answers."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'nonce-{nonce}'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
