"""What tests ask a page: where things are, what they say, and to click them."""

from typing import Any

from evaluation.studies.browser import Browser


def element(page: Browser, selector: str) -> tuple[float, float, float, float]:
    """Left, top, width and height of an element on the screen."""
    found: list[float] = page.run(
        f"(() => {{ const r = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [r.left, r.top, r.width, r.height]; })()"
    )
    left, top, width, height = found
    return left, top, width, height


def click(page: Browser, selector: str) -> None:
    page.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'nearest'}})")
    left, top, width, height = element(page, selector)
    page.drag((left + width / 2, top + height / 2), (left + width / 2, top + height / 2))


def attribute(page: Browser, selector: str, name: str) -> Any:
    return page.run(f"document.querySelector({selector!r}).getAttribute({name!r})")
