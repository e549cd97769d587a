"""Raws are read right: synthetic ones against what was written, samples against golden hashes."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.tiff_tags import BYTE, LONG, RATIONAL, SHORT, Field
from demosaic_ntc.raw.camera_matrix import invert_xyz_matrix
from demosaic_ntc.raw.photo import Box
from demosaic_ntc.raw.reading import read_photo
from samples.dng import CAMERA_FROM_XYZ, Camera, write_dng

GOLDEN = {
    "scene_rggb.dng": "7c8472e225527192c58ba950578cc67a28486d2332ed2e8a1251679d11b19dfe",
    "scene_grbg.dng": "fe7438631d3326dc1700cd54bf6fbf6f8c23fc06d272057bda68309640af83c6",
    "scene_gbrg.dng": "cf232fffdaec752fe76b11f1fa7b4f0f3fecad3c52060a17b2d3524d0e123855",
    "scene_bggr.dng": "4334da442f67dc9cc787924e72a4a671b57d52af25c9bbebc180d2f37144460b",
    "scene_xtrans.dng": "0790ee4997f2c93d44973e19e910ea3ce065c319384564e10a985650326b7ba2",
    "small_rggb.dng": "be2b8c5699e1fb590662dc1a7cb9ef8fe8f6d1f0ac6093ee6ad45f7fe3ed3884",
    "small_xtrans.dng": "a54585027e5bbbd834ebc464fcd0adf7f4f4ad3ca7f28f4c4e4cca3848a47f20",
}


def _mosaic(height: int = 40, width: int = 60) -> np.ndarray:
    return np.random.default_rng(1).integers(600, 16383, (height, width)).astype(np.uint16)


@pytest.mark.parametrize(("name", "digest"), GOLDEN.items())
def test_decoded_samples_have_not_changed(samples: Path, name: str, digest: str) -> None:
    mosaic = read_photo(samples / name).mosaic
    assert hashlib.sha256(mosaic.astype("<u2").tobytes()).hexdigest() == digest


@pytest.mark.parametrize("array", ["RGGB", "GRBG", "GBRG", "BGGR", "XTRANS"])
def test_samples_array_and_levels_come_back(tmp_path: Path, array: str) -> None:
    path, mosaic, cfa = tmp_path / "a.dng", _mosaic(), Cfa.from_name(array)
    write_dng(path, mosaic, cfa, Camera(black=500, white=16000))
    photo = read_photo(path)
    assert np.array_equal(photo.mosaic, mosaic)
    assert photo.cfa == cfa
    assert (set(photo.black.ravel()), photo.white) == ({500.0}, 16000.0)


def test_white_balance_is_the_inverse_of_the_neutral(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    write_dng(path, _mosaic(), Cfa.from_name("RGGB"), Camera(neutral=(0.4, 1.0, 0.8)))
    assert read_photo(path).camera_balance == pytest.approx((2.5, 1.0, 1.25, 1.0), rel=1e-4)


def test_matrix_of_the_dng_is_used_and_keeps_white(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    write_dng(path, _mosaic(), Cfa.from_name("RGGB"), Camera())
    matrix = read_photo(path).matrix
    assert matrix.source == "DNG"
    assert matrix.to_srgb == pytest.approx(invert_xyz_matrix(CAMERA_FROM_XYZ), abs=2e-4)
    assert matrix.to_srgb.sum(axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("margins", [(0, 0), (1, 0), (0, 1), (3, 5), (8, 7)])
@pytest.mark.parametrize("array", ["RGGB", "GBRG", "XTRANS"])
def test_array_stays_in_phase_with_odd_margins(tmp_path: Path, margins: tuple[int, int], array: str) -> None:
    """Each colour of a constant picture has one value; a wrong phase would mix them."""
    path, cfa = tmp_path / "a.dng", Cfa.from_name(array)
    stored = cfa.sample(np.broadcast_to(np.array([1000, 2000, 3000], dtype=np.uint16), (50, 70, 3)))
    area = Field(LONG, (*margins, 50, 70))
    shifted = cfa.shift(*margins)
    tags = {50829: area, 33422: Field(BYTE, shifted.pattern.tobytes())}
    write_dng(path, stored, cfa, Camera(), changed=tags)
    photo = read_photo(path)
    assert photo.cfa is not None
    colours = photo.cfa.channel_map(photo.size)
    assert np.array_equal(photo.mosaic, (colours.astype(np.uint16) + 1) * 1000)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_comes_back_as_written(tmp_path: Path, orientation: int) -> None:
    path = tmp_path / "a.dng"
    write_dng(path, _mosaic(), Cfa.from_name("RGGB"), Camera(orientation=orientation))
    assert read_photo(path).orientation == orientation


def test_black_levels_of_a_2x2_pattern_belong_to_their_sites(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    tags = {50713: Field(SHORT, (2, 2)), 50714: Field(RATIONAL, (100, 110, 120, 130))}
    write_dng(path, _mosaic(), Cfa.from_name("GBRG"), Camera(), changed=tags)
    assert read_photo(path).black.tolist() == [[100, 110], [120, 130]]


def test_black_levels_of_a_larger_pattern_are_not_flattened(tmp_path: Path) -> None:
    path, levels = tmp_path / "a.dng", np.arange(16).reshape(4, 4) + 200
    tags = {50713: Field(SHORT, (4, 4)), 50714: Field(RATIONAL, tuple(int(v) for v in levels.ravel()))}
    write_dng(path, _mosaic(), Cfa.from_name("RGGB"), Camera(), changed=tags)
    assert np.array_equal(read_photo(path).black, levels)


def test_crop_of_the_camera_is_relative_to_the_visible_area(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    tags = {50719: Field(LONG, (4, 2)), 50720: Field(LONG, (50, 30))}
    write_dng(path, _mosaic(), Cfa.from_name("RGGB"), Camera(), changed=tags)
    assert read_photo(path).camera_crop == Box(top=2, left=4, height=30, width=50)


@pytest.mark.parametrize("array", ["QUAD_RGGB", "RGB/GBR/BRG"])
def test_arrays_that_the_decoder_misreads_are_refused(tmp_path: Path, array: str) -> None:
    path, cfa = tmp_path / "a.dng", Cfa.parse(array)
    write_dng(path, _mosaic(), cfa, Camera())
    with pytest.raises(Unsupported, match="unsupported colour filter array"):
        read_photo(path)


def test_array_given_by_the_user_replaces_a_wrong_one(samples: Path) -> None:
    from demosaic_ntc.io.formats import Layout

    photo = read_photo(samples / "small_rggb.dng", Layout(cfa=Cfa.from_name("BGGR")))
    assert photo.cfa == Cfa.from_name("BGGR")


def test_metadata_is_read(samples: Path) -> None:
    exif = read_photo(samples / "small_rggb.dng").exif
    assert exif.camera == "demosaic-ntc Synthetic camera"
    assert exif.photo[34855].values == (200,)
    assert exif.gps[1].values == b"N\0"


@pytest.mark.data
def test_matrix_that_the_decoder_hides_is_found(raws: list[Path]) -> None:
    """The file itself tells this camera's matrix in a tag that LibRaw reads but does not show."""
    (path,) = [raw for raw in raws if raw.suffix == ".KDC"]
    photo = read_photo(path)
    stored = [[1.8125, -0.3365, -0.476], [-0.435, 1.852, -0.417], [-0.676, -1.393, 3.069]]
    assert photo.matrix.source == "decoder"
    assert photo.matrix.to_srgb == pytest.approx(np.array(stored), abs=2e-3)


def test_greens_that_cannot_be_greens_are_noticed(tmp_path: Path) -> None:
    """A picture of one colour, whose colour array is tagged wrong."""
    path = tmp_path / "a.dng"
    right, wrong = Cfa.from_name("RGGB"), Cfa.from_name("GRBG")
    mosaic = right.sample(np.broadcast_to(np.array([3000, 5000, 9000], dtype=np.uint16), (40, 60, 3)))
    for cfa, noticed in ((right, False), (wrong, True)):
        write_dng(path, mosaic, cfa, Camera())
        assert any("greens differ" in notice for notice in read_photo(path).notices) is noticed
    (notice,) = read_photo(path).notices
    assert notice.endswith("try `cfa=RGGB or BGGR`")
    for other in (right, Cfa.parse("RR/GB")):
        assert read_photo(path, Layout(cfa=other)).notices == ()
