"""Previews by cells: means of each colour, whatever is missing."""

import numpy as np
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing import superpixels as module
from demosaic_ntc.demosaicing.superpixels import cell_means, cell_side
from demosaic_ntc.errors import InputError


@pytest.mark.parametrize(("name", "side"), [("RGGB", 2), ("GBRG", 2), ("XTRANS", 3), ("quad-rggb", 4)])
def test_cells_show_all_colours(name: str, side: int) -> None:
    assert cell_side(Cfa.from_name(name)) == side


@pytest.mark.parametrize("name", ["RGGB", "GRBG", "BGGR", "quad-rggb"])
def test_all_colours_are_seen_at_the_middle_of_their_cells(name: str) -> None:
    """A ramp is a ramp in all of them, with the same value at the same place; but at its ends."""
    rows, columns = np.mgrid[0:48, 0:64]
    cfa = Cfa.from_name(name)
    side = cell_side(cfa)
    seen = cell_means((0.01 * rows + 0.003 * columns).astype(np.float32), cfa)
    rows, columns = (side * places + (side - 1) / 2 for places in np.mgrid[0 : 48 // side, 0 : 64 // side])
    expected = (0.01 * rows + 0.003 * columns)[1:-1, 1:-1, None]
    np.testing.assert_allclose(
        seen[1:-1, 1:-1], np.broadcast_to(expected, (*expected.shape[:2], 3)), atol=1e-6
    )


@pytest.mark.parametrize("name", ["RGGB", "GRBG", "XTRANS", "quad-rggb"])
@pytest.mark.parametrize("shape", [(24, 36), (25, 31)])
def test_every_pixel_is_the_mean_of_its_cell(
    name: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a plain loop over cells, before colours are moved to their middles."""
    monkeypatch.setattr(module, "centre_means", lambda means, cfa, side: means)
    cfa = Cfa.from_name(name)
    mosaic = np.random.default_rng(2).random(shape, dtype=np.float32)
    side, masks = cell_side(cfa), cfa.masks(shape)
    means = cell_means(mosaic, cfa)
    assert means.shape == (shape[0] // side, shape[1] // side, 3)
    for row, column, channel in np.ndindex(means.shape):
        place = (slice(row * side, (row + 1) * side), slice(column * side, (column + 1) * side))
        assert means[row, column, channel] == pytest.approx(mosaic[place][masks[place][..., channel]].mean())


def test_missing_samples_do_not_count_and_empty_cells_ask_their_neighbours() -> None:
    mosaic = np.full((8, 8), 0.5, np.float32)
    missing = np.zeros((8, 8), np.bool_)
    mosaic[0, 1], missing[0, 1] = 9.0, True  # one of two greens
    mosaic[4, 4], missing[4, 4] = 9.0, True  # the only red of its cell
    assert cell_means(mosaic, Cfa.from_name("RGGB"), missing) == pytest.approx(0.5)


def test_what_shows_nothing_is_refused() -> None:
    rggb = Cfa.from_name("RGGB")
    with pytest.raises(InputError, match="no whole cell"):
        cell_means(np.ones((1, 5), np.float32), rggb)
    blind = ~rggb.masks((4, 4))[..., 1]
    with pytest.raises(InputError, match="no sample of a colour"):
        cell_means(np.ones((4, 4), np.float32), rggb, blind)
