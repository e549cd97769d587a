"""What describes a picture survives its repair, except what would still show the damage."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageCms, ImageOps, PngImagePlugin

from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.workflows.repair import repair_file
from tests.images.picture_files import opened, rgb, scratch, write_mask

QUICK = RepairSettings(engine=Engine(method="biharmonic"))


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    return write_mask(tmp_path / "mask.png", scratch())


def _repair(source: Path, mask: Path, target: Path) -> None:
    repair_file(source, mask, target, QUICK)


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg"])
@pytest.mark.parametrize("kind", [".png", ".tif", ".jpg"])
def test_profile_and_exif_are_carried_over(kind: str, suffix: str, tmp_path: Path, mask: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[271], exif[272], exif[315] = "Maker", "Model", "Somebody"
    rgb().save(tmp_path / f"a{kind}", icc_profile=profile, exif=exif.tobytes() if kind != ".tif" else exif)
    _repair(tmp_path / f"a{kind}", mask, tmp_path / f"out{suffix}")
    out = opened(tmp_path / f"out{suffix}")
    assert out.info["icc_profile"] == profile
    kept = out.getexif()
    assert (kept[271], kept[272], kept[315]) == ("Maker", "Model", "Somebody")


def test_texts_and_resolution_of_a_png_stay(tmp_path: Path, mask: Path) -> None:
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Comment", "about the picture")
    texts.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta/>")
    rgb().save(tmp_path / "a.png", pnginfo=texts, dpi=(240, 240))
    _repair(tmp_path / "a.png", mask, tmp_path / "out.png")
    out = opened(tmp_path / "out.png")
    assert out.info["Comment"] == "about the picture"
    assert out.info["XML:com.adobe.xmp"] == "<x:xmpmeta/>"
    assert out.info["dpi"] == pytest.approx((240, 240), abs=0.1)


def test_comment_xmp_and_resolution_of_a_jpeg_stay(tmp_path: Path, mask: Path) -> None:
    rgb().save(tmp_path / "a.jpg", comment=b"about it", xmp=b"<x:xmpmeta/>", dpi=(96, 96))
    _repair(tmp_path / "a.jpg", mask, tmp_path / "out.jpg")
    out = opened(tmp_path / "out.jpg")
    assert out.info["comment"] == b"about it"
    assert out.info["xmp"] == b"<x:xmpmeta/>"
    assert out.info["dpi"] == (96, 96)


def test_captions_of_a_jpeg_stay_and_previews_go(tmp_path: Path, mask: Path) -> None:
    def resource(number: int, content: bytes) -> bytes:
        return b"8BIM" + number.to_bytes(2, "big") + b"\0\0" + len(content).to_bytes(4, "big") + content

    block = b"Photoshop 3.0\0" + resource(1028, b"a caption!") + resource(1036, b"a preview!")
    rgb().save(tmp_path / "a.jpg", extra=b"\xff\xed" + (len(block) + 2).to_bytes(2, "big") + block)
    _repair(tmp_path / "a.jpg", mask, tmp_path / "out.jpg")
    content = (tmp_path / "out.jpg").read_bytes()
    assert b"a caption!" in content
    assert b"a preview!" not in content


def _exif_with_thumbnail(thumbnail: bytes) -> bytes:
    """A block of two directories: the maker, and a small picture."""

    def entry(tag: int, kind: int, count: int, value: int) -> bytes:
        return struct.pack("<HHLL", tag, kind, count, value)

    text_at, second_at = 26, 32
    data_at = second_at + 2 + 2 * 12 + 4
    first = struct.pack("<H", 1) + entry(271, 2, 6, text_at) + struct.pack("<L", second_at)
    second = struct.pack("<H", 2) + entry(513, 4, 1, data_at) + entry(514, 4, 1, len(thumbnail)) + bytes(4)
    return b"II*\0\x08\0\0\0" + first + b"Maker\0" + second + thumbnail


@pytest.mark.parametrize("kind", [".png", ".jpg"])
def test_the_thumbnail_of_the_damaged_picture_does_not_survive(kind: str, tmp_path: Path, mask: Path) -> None:
    small = io.BytesIO()
    rgb().resize((8, 8)).save(small, "JPEG")
    exif = _exif_with_thumbnail(small.getvalue())
    rgb().save(tmp_path / f"a{kind}", exif=b"Exif\0\0" + exif)
    assert opened(tmp_path / f"a{kind}").getexif().get_ifd(ExifTags.IFD.IFD1)[514] == len(small.getvalue())
    _repair(tmp_path / f"a{kind}", mask, tmp_path / f"out{kind}")
    kept = opened(tmp_path / f"out{kind}").getexif()
    assert kept[271] == "Maker"
    assert not kept.get_ifd(ExifTags.IFD.IFD1)
    assert small.getvalue()[-30:-2] not in (tmp_path / f"out{kind}").read_bytes()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_mask_belongs_to_the_picture_as_it_is_seen(orientation: int, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    rgb().save(tmp_path / "a.png", exif=exif)
    seen = np.asarray(ImageOps.exif_transpose(opened(tmp_path / "a.png")))
    missing = np.zeros(seen.shape[:2], np.bool_)
    missing[3:6, 2:9] = True
    _repair(tmp_path / "a.png", write_mask(tmp_path / "m.png", missing), tmp_path / "out.png")
    out = opened(tmp_path / "out.png")
    assert out.getexif()[274] == orientation
    after = np.asarray(ImageOps.exif_transpose(out))
    assert np.array_equal(after[~missing], seen[~missing])
    assert not np.array_equal(after[missing], seen[missing])


def test_a_mask_turned_by_its_own_exif_is_turned(tmp_path: Path) -> None:
    rgb().save(tmp_path / "a.png")
    exif = Image.Exif()
    exif[274] = 6  # to be turned clockwise by a quarter
    marked = np.rot90(np.where(scratch(), 255, 0).astype(np.uint8))
    Image.fromarray(marked).save(tmp_path / "m.png", exif=exif)
    _repair(tmp_path / "a.png", tmp_path / "m.png", tmp_path / "out.png")
    before, after = np.asarray(rgb()), np.asarray(opened(tmp_path / "out.png"))
    assert np.array_equal(after[~scratch()], before[~scratch()])
    assert not np.array_equal(after[scratch()], before[scratch()])


def test_metadata_too_long_for_a_jpeg_is_left_out_with_a_notice(tmp_path: Path, mask: Path) -> None:
    exif = Image.Exif()
    exif[270] = "x" * 70_000
    rgb().save(tmp_path / "a.png", exif=exif)
    done = repair_file(tmp_path / "a.png", mask, tmp_path / "out.jpg", QUICK)
    assert any("too long for JPEG" in notice for notice in done.notices)
    assert not opened(tmp_path / "out.jpg").getexif()


def test_a_long_profile_is_carried_in_parts(tmp_path: Path, mask: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    long = profile + np.random.default_rng(0).bytes(150_000)
    for source, target in (("a.png", "b.jpg"), ("b.jpg", "c.tif"), ("c.tif", "d.png"), ("b.jpg", "e.jpg")):
        if source == "a.png":
            rgb().save(tmp_path / source, icc_profile=long)
        _repair(tmp_path / source, mask, tmp_path / target)
        assert opened(tmp_path / target).info["icc_profile"] == long, target
