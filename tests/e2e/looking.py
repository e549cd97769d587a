"""What tests ask a page: where things are, what they say, and to click them."""

import time
from collections.abc import Callable
from typing import Any

from evaluation.studies.browser import PATIENCE
from tests.e2e.page import Browser


def element(page: Browser, selector: str) -> tuple[float, float, float, float]:
    """Left, top, width and height of an element on the screen."""
    found: list[float] = page.run(
        f"(() => {{ const r = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [r.left, r.top, r.width, r.height]; })()"
    )
    left, top, width, height = found
    return left, top, width, height


def eventually(check: Callable[[], None]) -> None:
    """Wait until a check passes: what it looks at may still be decoded or drawn."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            check()
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


def click(page: Browser, selector: str) -> None:
    page.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'nearest'}})")
    left, top, width, height = element(page, selector)
    page.drag((left + width / 2, top + height / 2), (left + width / 2, top + height / 2))


def attribute(page: Browser, selector: str, name: str) -> Any:
    return page.run(f"document.querySelector({selector!r}).getAttribute({name!r})")
