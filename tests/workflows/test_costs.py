"""What a conversion is expected to take, beside what was measured."""

import pytest

from demosaic_ntc.workflows.costs import memory


@pytest.mark.parametrize(("megapixels", "megabytes"), [(2, 355), (6, 505), (24, 728), (100, 1671)])
def test_memory_is_told_within_fifteen_percent_of_what_was_measured(megapixels: int, megabytes: int) -> None:
    assert memory(megapixels * 10**6) == pytest.approx(megabytes * 1e6, rel=0.15)


@pytest.mark.parametrize(
    ("pixels", "megabytes"),
    [
        (4000 * 3000, (558, 563)),
        (3104 * 3000, (560, 530)),
        (3522 * 2348, (566, 499, 613, 554)),
    ],
)
def test_memory_is_told_within_fifteen_percent_for_raws_of_cameras(
    pixels: int, megabytes: tuple[int, ...]
) -> None:
    """Peaks of the command on HERO6, FUSION and Canon's CR2: PNG, JPEG and DNG, fast and normal."""
    for measured in megabytes:
        assert memory(pixels) == pytest.approx(measured * 1e6, rel=0.15)


def test_beyond_the_first_tiles_a_pixel_takes_thirteen_bytes() -> None:
    assert memory(50_000_000) - memory(49_000_000) == pytest.approx(13e6)
