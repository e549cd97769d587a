"""Profiles of lensfun: found by exact names alone, and what they correct."""

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import LENS_PARTS
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.exif import FOCAL_LENGTH, LENS_MODEL, MAKE, MODEL, Exif
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, Field
from demosaic_ntc.lens import lensfun
from demosaic_ntc.lens.lensfun import find_profile
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo

ALL = frozenset(LENS_PARTS)


def _photo(camera: str = "Canon EOS 6D", lens: str = "EF24-105mm f/4L IS USM", focal: int = 24) -> RawPhoto:
    from fractions import Fraction

    text = {MAKE: "Canon", MODEL: camera}
    image = {tag: Field(ASCII, value.encode() + b"\0") for tag, value in text.items()}
    photo = {LENS_MODEL: Field(ASCII, lens.encode() + b"\0")} if lens else {}
    if focal:
        photo[FOCAL_LENGTH] = Field(RATIONAL, (Fraction(focal),))
    mosaic = np.zeros((400, 600), np.uint16)
    return RawPhoto(
        mosaic, Cfa.from_name("RGGB").pattern, np.zeros((1, 1)), 1000.0, exif=Exif(image, photo, {})
    )


def test_a_lens_is_found_by_its_name_whatever_its_blanks() -> None:
    pytest.importorskip("lensfunpy")
    found = find_profile(_photo(), "auto", ALL)
    assert found.description == "Canon EF 24-105mm f/4L IS USM on Canon EOS 6D (by its name in EXIF)"
    assert found.gains is not None
    assert found.warp is not None
    middle, corner = (np.array([200.0]), np.array([300.0])), (np.array([2.0]), np.array([2.0]))
    gains = found.gains.interpolate(np.array([2.0, 200.0]), np.array([2.0, 300.0]), (400, 600))[..., 1]
    assert gains[0, 0] > 1.3 * gains[1, 1]
    assert np.allclose(found.warp.find_sources(middle, (400, 600), 1), middle, atol=0.1)
    moved = np.hypot(
        *(a - b for a, b in zip(found.warp.find_sources(corner, (400, 600), 1), corner, strict=True))
    )
    assert 1 < moved[0] < 30


@pytest.mark.parametrize(
    ("photo", "wanted", "reason"),
    [
        ({"lens": "EF24-105mm f/4L"}, "auto", "is not in lensfun's database under this name; give one of"),
        ({"lens": ""}, "auto", "names no lens"),
        ({"camera": "Camera of nobody"}, "auto", "Camera of nobody is not in lensfun's database"),
        ({}, "Lens of nobody", "Lens of nobody is not in lensfun's database"),
        ({"focal": 0}, "auto", "no focal length"),
    ],
)
def test_nothing_is_taken_by_likeness(photo: dict[str, Any], wanted: str, reason: str) -> None:
    pytest.importorskip("lensfunpy")
    with pytest.raises(InputError, match=reason):
        find_profile(_photo(**photo), wanted, ALL)


def test_a_name_that_is_given_is_found() -> None:
    pytest.importorskip("lensfunpy")
    found = find_profile(_photo(lens=""), "Canon EF 50mm f/1.8 MkII")
    assert found.certainty == "as asked for"


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def refuse(name: str, *arguments: Any) -> Any:
        if name == "lensfunpy":
            raise ImportError(name)
        return load(name, *arguments)

    lensfun._database.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install 'demosaic-ntc\[lens\]'"):
        find_profile(_photo(), "auto")
    lensfun._database.cache_clear()


@pytest.mark.data
def test_no_test_raw_gets_a_wrong_profile(data: Path) -> None:
    pytest.importorskip("lensfunpy")
    photo = read_photo(data / "raw_more" / "canon_6d_lossy.dng")
    assert find_profile(photo, "auto").lens == "Canon EF 24-105mm f/4L IS USM"
    photo = read_photo(data / "raw_more" / "lg_h815_lossy_rotated.dng")
    assert find_profile(photo, "auto").lens == "LG G4 & compatibles"
    for name in ("gopro_hero6.dng", "gopro_fusion_front.dng", "canon_d30.CRW"):
        with pytest.raises(InputError):
            find_profile(read_photo(data / "raw_more" / name), "auto")
