"""FITS files: mosaics with their colour arrays in, pictures with their expected errors out."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner, Result

from cli.app import app
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.isolation import decoder
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.api import develop
from samples.make_samples import light_of, rounded
from samples.scene import scene

fits = pytest.importorskip("astropy.io.fits")

LIGHT = light_of(rounded(scene(48, 66)))
PLAIN: dict[str, Any] = {"look": "neutral", "linear": True, "color_space": "camera", "threads": 1}


def _mosaic(array: str) -> NDArray[np.uint16]:
    return np.asarray(np.rint(Cfa.from_name(array).sample(LIGHT) * 60000), np.uint16)


def _write(path: Path, data: NDArray[Any], **words: Any) -> Path:
    unit = fits.PrimaryHDU(data)
    unit.header.update({name.replace("_", "-"): value for name, value in words.items()})
    unit.writeto(path)
    return path


def _read(path: Path) -> RawPhoto:
    return read_photo(path)


def _run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def _letters(cfa: Cfa) -> str:
    return "".join("RGB"[colour] for colour in cfa.pattern.ravel())


@pytest.mark.parametrize("array", ["RGGB", "BGGR", "GRBG", "GBRG", "XTRANS"])
def test_mosaics_and_their_arrays_are_read(tmp_path: Path, array: str) -> None:
    samples, cfa = _mosaic(array), Cfa.from_name(array)
    path = _write(tmp_path / "a.fits", samples, BAYERPAT=_letters(cfa), ROWORDER="TOP-DOWN")
    photo = _read(path)
    assert np.array_equal(photo.mosaic, samples)
    assert photo.cfa is not None
    assert np.array_equal(photo.cfa.pattern, cfa.pattern)
    assert (photo.orientation, photo.white, photo.notices) == (1, 65535, ())


def test_offsets_of_the_array_and_rows_from_the_bottom(tmp_path: Path) -> None:
    samples = _mosaic("RGGB")
    photo = _read(_write(tmp_path / "a.fits", samples[1:, :], BAYERPAT="RGGB", YBAYROFF=1, XBAYROFF=0))
    assert photo.array_name == "GBRG"
    assert photo.orientation == 4
    upright = develop(_write(tmp_path / "b.fits", samples, BAYERPAT="RGGB", ROWORDER="TOP-DOWN"), **PLAIN)
    flipped = np.ascontiguousarray(samples[::-1])
    again = develop(_write(tmp_path / "c.fits", flipped, BAYERPAT="GBRG", ROWORDER="BOTTOM-UP"), **PLAIN)
    assert np.abs(upright.image.astype(int) - again.image).mean() < 100  # groups are met in another order


def test_a_sensor_without_colours_has_no_array(tmp_path: Path) -> None:
    photo = _read(_write(tmp_path / "a.fits", _mosaic("RGGB")))
    assert photo.is_monochrome
    assert any("BAYERPAT" in each for each in photo.notices)


def test_keywords_become_exif(tmp_path: Path) -> None:
    words = {"INSTRUME": "ZWO ASI", "EXPTIME": 120.0, "DATE_OBS": "2024-05-17T22:30:00.12", "SATURATE": 60000}
    photo = _read(_write(tmp_path / "a.fits", _mosaic("RGGB"), BAYERPAT="RGGB", **words))
    facts = photo.exif.facts
    assert (facts["camera"], facts["exposure_seconds"], facts["date"].hour) == ("ZWO ASI", 120.0, 22)
    assert photo.white == 60000


@pytest.mark.parametrize("scale", [1.0, 65535.0])
def test_floating_point_ends_at_one_or_holds_16_bits(tmp_path: Path, scale: float) -> None:
    samples = _mosaic("RGGB")
    values = (samples / 65535 * scale).astype(np.float32)
    values[0, 0] = np.nan
    photo = _read(_write(tmp_path / "a.fits", values, BAYERPAT="RGGB"))
    assert photo.mosaic[0, 0] == 0
    assert np.abs(photo.mosaic[1:].astype(int) - samples[1:]).max() <= 1


def test_compressed_images_in_an_extension_are_found(tmp_path: Path) -> None:
    samples, path = _mosaic("RGGB"), tmp_path / "a.fits"
    unit = fits.CompImageHDU(samples, compression_type="RICE_1")
    unit.header["BAYERPAT"] = "RGGB"
    fits.HDUList([fits.PrimaryHDU(), unit]).writeto(path)
    assert np.array_equal(_read(path).mosaic, samples)


@pytest.mark.skipif(not decoder.can_isolate(), reason="Linux only")
@pytest.mark.parametrize("kind", [None, "RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1"])
def test_files_are_read_in_a_process_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None
) -> None:
    samples, path = (_mosaic("RGGB") >> 2).astype(np.int16), tmp_path / "a.fits"
    unit = fits.ImageHDU(samples) if kind is None else fits.CompImageHDU(samples, compression_type=kind)
    fits.HDUList([fits.PrimaryHDU(), unit]).writeto(path)
    monkeypatch.setattr("demosaic_ntc.raw.fits.load_astropy", None)  # of this process
    assert np.array_equal(_read(path).mosaic, samples)


def test_what_is_no_mosaic_is_refused_in_one_line(tmp_path: Path) -> None:
    colours = _write(tmp_path / "a.fits", np.zeros((3, 20, 20), np.uint16))
    empty = _write(tmp_path / "b.fits", np.zeros(7, np.uint16))
    deep = _write(tmp_path / "c.fits", np.full((20, 20), 70000, np.int32))
    odd = _write(tmp_path / "d.fits", _mosaic("RGGB"), BAYERPAT="XYZ")
    for path, reason in ((colours, "3 planes"), (empty, "no image"), (deep, "16 bits"), (odd, "unknown")):
        with pytest.raises(InputError, match=reason):
            _read(path)
    with pytest.raises(InputError, match="too large"):
        read_photo(_write(tmp_path / "e.fits", _mosaic("RGGB")), limits=InputLimits(pixels=100))


@pytest.mark.parametrize("kept", [9, 80, 2880, 5000])
def test_broken_files_are_refused(tmp_path: Path, kept: int) -> None:
    content = io.BytesIO()
    fits.PrimaryHDU(_mosaic("RGGB")).writeto(content)
    (tmp_path / "a.fits").write_bytes(content.getvalue()[:kept])
    result = _run(tmp_path / "a.fits", tmp_path / "a.png")
    assert result.exit_code not in (0, 70), result.output
    assert not (tmp_path / "a.png").exists()


def test_pictures_are_written_with_their_errors(tmp_path: Path) -> None:
    source = _write(tmp_path / "a.fits", _mosaic("RGGB"), BAYERPAT="RGGB", ROWORDER="TOP-DOWN", EXPTIME=30.0)
    target = tmp_path / "out.fits"
    result = _run(source, target, "--error-map", target, "--linear", "--color-space", "camera")
    assert result.exit_code == 0, result.output
    result = _run(
        source,
        tmp_path / "out.tif",
        "--error-map",
        tmp_path / "map.tif",
        "--linear",
        "--color-space",
        "camera",
    )
    assert result.exit_code == 0, result.output
    import tifffile

    with fits.open(target) as units:
        picture, errors = (np.moveaxis(np.asarray(units[name].data), 0, 2) for name in (0, "ERROR"))
        words = dict(units[0].header)
    assert picture.dtype == np.uint16
    assert np.array_equal(picture, tifffile.imread(tmp_path / "out.tif"))
    assert np.allclose(errors, tifffile.imread(tmp_path / "map.tif"))
    assert (words["ROWORDER"], words["EXPTIME"]) == ("TOP-DOWN", 30.0)
    assert _run(source, tmp_path / "b.fits", "--error-map", tmp_path / "c.fits").exit_code == 2
    blind = _run(source, tmp_path / "d.fits", "--error-map", tmp_path / "d.fits", "--method", "bilinear")
    assert blind.exit_code == 2


@pytest.mark.usefixtures("in_process")
def test_without_astropy_it_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    source = _write(tmp_path / "a.fits", _mosaic("RGGB"), BAYERPAT="RGGB")
    import builtins

    real = builtins.__import__

    def refuse(name: str, *more: Any, **also: Any) -> Any:
        if name.startswith("astropy"):
            raise ImportError(name)
        return real(name, *more, **also)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for given, target in ((source, tmp_path / "a.png"), (small, tmp_path / "b.fits")):
        result = _run(given, target)
        assert result.exit_code in (2, 3, 4), result.output
        assert "demosaic-ntc[astro]" in result.output
