from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc.errors import OutputError
from demosaic_ntc.viewer.pictures import address, lossless, reduce_to_webp, thumbnail, write_beside
from evaluation.measure.protocol import SOLVER_LAYERS, commit, engine

NOISE = np.random.default_rng(0).integers(0, 255, (40, 60, 3)).astype(np.uint8)


def decoded(content: bytes) -> Image.Image:
    return Image.open(BytesIO(content))


def test_what_is_compared_comes_back_without_loss() -> None:
    np.testing.assert_array_equal(np.array(decoded(lossless(NOISE[::2]))), NOISE[::2])


def test_a_picture_too_large_for_a_page_is_refused_before_it_is_encoded() -> None:
    with pytest.raises(OutputError, match="show parts"):
        lossless(np.zeros((1, 16384, 3), np.uint8))


def test_thumbnails_are_small_and_keep_their_shape() -> None:
    kind, _, content = thumbnail(np.repeat(np.repeat(NOISE, 10, axis=0), 10, axis=1)).partition(",")
    assert kind == "data:image/webp;base64"
    assert decoded(b64decode(content)).size == (144, 96)
    assert len(content) < 20_000


def test_pictures_are_reduced_to_their_longer_side_and_never_enlarged() -> None:
    large = np.repeat(np.repeat(NOISE, 10, axis=0), 10, axis=1)
    assert decoded(reduce_to_webp(large, 300)).size == (300, 200)
    assert decoded(reduce_to_webp(NOISE, 300)).size == (60, 40)


def test_files_beside_the_page_are_named_from_there(tmp_path: Path) -> None:
    assert write_beside(tmp_path / "pictures", "a.webp", b"content") == "pictures/a.webp"
    assert (tmp_path / "pictures" / "a.webp").read_bytes() == b"content"
    assert address(b"abc", "text/plain") == "data:text/plain;base64,YWJj"


def test_addresses_of_files_survive_what_would_end_or_change_them(tmp_path: Path) -> None:
    assert write_beside(tmp_path / "pictures", "50% #1?.webp", b"content") == "pictures/50%25%20%231%3F.webp"
    assert (tmp_path / "pictures" / "50% #1?.webp").read_bytes() == b"content"


def test_results_name_the_code_that_made_them() -> None:
    assert commit()
    assert engine().startswith("demosaic-ntc ")
    assert engine() != engine(SOLVER_LAYERS)
