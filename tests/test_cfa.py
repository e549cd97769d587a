import numpy as np
import pytest

from demosaic_ntc.cfa import NAMED_ROWS, Cfa, make_cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.errors import InputError


def test_rggb_shows_red_at_the_top_left_and_blue_diagonally_below() -> None:
    assert Cfa.from_name("RGGB").pattern.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("name", NAMED_ROWS)
def test_a_named_array_keeps_its_name_and_reads_back_from_its_rows(name: str) -> None:
    cfa = Cfa.from_name(name)
    assert cfa.name == name
    assert Cfa.parse(cfa.rows) == cfa


def test_names_are_read_as_people_write_them() -> None:
    assert Cfa.parse("x-trans") == Cfa.parse("XTRANS") == Cfa.parse("X Trans")
    assert Cfa.parse("quad-rggb") == Cfa.parse("QUAD_RGGB")


@pytest.mark.parametrize(
    ("shift", "name"),
    [((0, 0), "RGGB"), ((0, 1), "GRBG"), ((1, 0), "GBRG"), ((1, 1), "BGGR"), ((-3, 5), "BGGR")],
)
def test_a_crop_of_rggb_is_another_bayer_phase(shift: tuple[int, int], name: str) -> None:
    assert Cfa.from_name("RGGB").shift(*shift).name == name


def test_xtrans_has_twenty_green_and_eight_red_and_blue_pixels_per_period() -> None:
    assert np.bincount(Cfa.from_name("XTRANS").pattern.ravel()).tolist() == [8, 20, 8]


def test_a_crop_is_sampled_by_the_shifted_array() -> None:
    picture = np.arange(9 * 10 * 3).reshape(9, 10, 3)
    cfa = Cfa.from_name("XTRANS")
    assert np.array_equal(cfa.sample(picture)[2:, 1:], cfa.shift(2, 1).sample(picture[2:, 1:]))


def test_samples_are_written_into_their_places_and_no_others() -> None:
    picture, cfa = np.arange(9 * 10 * 3).reshape(9, 10, 3), Cfa.from_name("XTRANS").shift(1, 2)
    changed = picture.copy()
    cfa.replace_measured(changed, -cfa.sample(picture))
    measured = cfa.masks((9, 10))
    assert np.array_equal(changed, np.where(measured, -picture, picture))


def test_a_repeated_pattern_is_reduced_to_one_period() -> None:
    cfa = Cfa.parse("RGRG/GBGB/RGRG/GBGB")
    assert cfa.is_bayer
    assert cfa.period == (2, 2)


def test_only_the_four_bayer_phases_are_bayer() -> None:
    bayer = [name for name in NAMED_ROWS if Cfa.from_name(name).is_bayer]
    assert bayer == ["RGGB", "BGGR", "GRBG", "GBRG"]


def test_masks_mark_exactly_one_channel_per_pixel() -> None:
    masks = Cfa.parse("RGB/GBR/BRG").masks((5, 7))
    assert masks.shape == (5, 7, 3)
    assert (masks.sum(axis=2) == 1).all()


def test_sampling_picks_the_channel_of_the_mask() -> None:
    picture = np.arange(12).reshape(2, 2, 3)
    assert Cfa.from_name("GBRG").sample(picture).tolist() == [[1, 5], [6, 10]]


def test_arrays_are_equal_when_their_patterns_are() -> None:
    assert {Cfa.from_name("RGGB"), Cfa.parse("RG/GB"), make_cfa("rggb")} == {Cfa.from_name("RGGB")}


@pytest.mark.parametrize("text", ["RGBG", "", "RG/G", "RG/GX", "/", "bayer"])
def test_unknown_arrays_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"colour array"):
        Cfa.parse(text)


@pytest.mark.parametrize("rows", ["RG/GR", "GG/GG", "RB/BR"])
def test_an_array_that_never_shows_a_channel_is_refused(rows: str) -> None:
    with pytest.raises(InputError, match="never shows"):
        Cfa.parse(rows)


def test_a_pattern_of_other_numbers_is_refused() -> None:
    with pytest.raises(InputError, match="matrix of 0"):
        Cfa(np.array([[0, 1], [2, 3]], dtype=np.uint8))


@pytest.mark.parametrize(
    ("shape", "complaint"), [((5, 6), "smaller than one 6×6 period"), ((6, 6, 3), "two dimensions")]
)
def test_shapes_that_hold_no_period_are_refused(shape: tuple[int, ...], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Cfa.from_name("XTRANS").channel_map(shape)


def test_only_rgb_pictures_can_be_sampled() -> None:
    with pytest.raises(InputError, match="height × width × 3"):
        Cfa.from_name("RGGB").sample(np.zeros((4, 4, 4)))


def test_a_monochrome_sensor_has_no_array() -> None:
    mono = Cfa.parse("mono")
    assert (mono.name, mono.rows, mono.is_mono, mono.is_bayer) == ("MONO", "G", True, False)
    assert mono.shift(1, 1) == mono == Cfa.parse(mono.rows)
    assert not Cfa.from_name("RGGB").is_mono
    with pytest.raises(InputError, match="no colours to restore"):
        demosaic(np.zeros((8, 8)), "mono")
