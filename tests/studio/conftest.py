"""A studio that the tests of this folder share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")

from demosaic_ntc.io.header import InputLimits
from tests.studio.studios import Served, served, waves

# Small, so that what is too large is soon sent.
LIMITS = InputLimits(pixels=200_000, file_bytes=2_000_000)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """A folder with two pictures of one size, one of another, and files that are none."""
    place = tmp_path_factory.mktemp("named")
    for name in ("a.png", "b.png"):
        Image.fromarray(waves()).save(place / name)
    Image.fromarray(waves(40, 50)).save(place / "small.png")
    (place / "secret.txt").write_text("not named")
    Image.fromarray(waves()).save(place / "a.mask.png")
    return place


@pytest.fixture(scope="session")
def shared(folder: Path) -> Iterator[Served]:
    """One studio for all tests; each brings its own picture."""
    with served([folder], LIMITS) as studio:
        yield studio
