"""Results show themselves in a notebook, without a notebook."""

import re
import subprocess
import sys
from base64 import b64decode
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc import Restored, complete, demosaic
from demosaic_ntc.engine.notebook_preview import LARGEST_SIDE, preview

RAMP = np.stack([np.linspace(0, 1, 64).reshape(8, 8)] * 3, axis=-1)


def pixels(png: bytes | None) -> NDArray[np.uint8]:
    assert png is not None
    with Image.open(BytesIO(png)) as image:
        return np.array(image)


@pytest.mark.parametrize(
    ("image", "white"),
    [
        (RAMP.astype(np.float32), 1.0),
        (1.01 * RAMP, 1.0),
        ((255.4 * RAMP).astype(np.float32), 255.0),
        ((255 * RAMP).astype(np.uint8), 255.0),
        ((16383 * RAMP).astype(np.uint16), 16383.0),
        (RAMP[..., 0], 1.0),
        (RAMP[..., :1], 1.0),
    ],
)
def test_pictures_of_any_scale_are_shown_from_black_to_white(image: NDArray[Any], white: float) -> None:
    shown = pixels(preview(image))
    expected = np.clip(np.rint(255 * image.astype(np.float64) / white), 0, 255)
    np.testing.assert_allclose(shown, expected.squeeze(), atol=1)


def test_large_pictures_are_shown_smaller() -> None:
    assert pixels(preview(np.zeros((10, 3 * LARGEST_SIDE, 3)))).shape == (4, LARGEST_SIDE, 3)


@pytest.mark.parametrize("shape", [(8, 8, 4), (8, 8, 8, 3), (5,), (0, 4)])
def test_what_is_no_picture_is_not_shown_as_one(shape: tuple[int, ...]) -> None:
    assert preview(np.ones(shape)) is None
    assert "<img" not in Restored(np.ones(shape))._repr_html_()


def test_a_restored_picture_shows_itself_and_what_is_proven() -> None:
    mosaic = np.tile(np.array([[90, 60], [60, 30]], np.uint8), (24, 24))
    restored = demosaic(mosaic, method="ntc", quality="fast", threads=1)
    assert restored.certificate is not None
    shown = pixels(restored._repr_png_())
    np.testing.assert_allclose(shown[24, 24], [90, 60, 30], atol=1)
    page = restored._repr_html_()
    (inside,) = re.findall(r'src="data:image/png;base64,(.*?)"', page)
    assert b64decode(inside) == restored._repr_png_()
    assert "48×48×3 float32" in page
    assert f">{restored.certificate.completed:,} of {restored.certificate.groups:,}</td>" in page
    assert "groups" not in Restored(restored.image)._repr_html_()


def test_words_of_a_result_cannot_break_a_page() -> None:
    page = Restored(RAMP, notices=("<script>alert(1)</script>",))._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_solution_shows_what_was_found_and_proven() -> None:
    index = np.argwhere(np.ones((2, 2)))
    page = complete((2, 2), index, [1.0, 0.0, 1.0, 0.0], radius=1.0)._repr_html_()
    cells = dict(re.findall(r"<th[^>]*>(.*?)</th><td>(.*?)</td>", page))
    assert (cells["tensor"], cells["status"], cells["vertices"]) == ("2×2", "optimal", "1")
    assert float(cells["gap"]) <= 1e-6


def test_no_notebook_package_is_loaded() -> None:
    packages = ("IPython", "ipykernel", "jupyter", "matplotlib")
    program = (
        "import sys, numpy as np; from demosaic_ntc import Restored; Restored(np.ones((4, 4)))._repr_html_();"
        f"print([name for name in sys.modules if name.partition('.')[0] in {packages}])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
