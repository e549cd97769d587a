"""The studio's benchmark on a small picture: every step is taken, and every figure is one."""

import pytest

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")

from evaluation.studies.browser import find_browser
from evaluation.studies.studio import measure_studio, studio_table


@pytest.mark.slow
def test_a_small_picture_is_measured() -> None:
    if find_browser() is None:
        pytest.skip("there is no Chromium; `make browser` installs one where it may")
    measured = measure_studio(0.5, "fast")
    assert [step["step"] for step in measured.steps] == ["first view", "strokes", "repair, fast"]
    assert all(step["s"] > 0 for step in measured.steps)
    assert measured.steps[2]["CPU s"] > 0
    assert 0.005 < measured.marked < 0.05
    assert 1e7 < measured.page_bytes < 2e9
    assert [row[0].text for row in studio_table(measured).rows][-1] == "page, MB"
