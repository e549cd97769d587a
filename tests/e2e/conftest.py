"""A real browser for the tests of this folder; without one they are skipped."""

from collections.abc import Iterator

import pytest

from evaluation.studies.browser import find_browser
from tests.e2e.page import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A page of a headless Chromium."""
    program = find_browser()
    if program is None:
        pytest.skip("there is no Chromium; `make browser` installs one where it may")
    page = Browser(program, tmp_path_factory.mktemp("profile"))
    yield page
    page.close()
