import numpy as np

from demosaic_ntc.engine.tiles import BitFlags, around_flagged, tiles_of


def test_work_of_a_tile_is_what_it_looks_at() -> None:
    upper, lower = tiles_of((90, 30), margin=2, period=(2, 2), side=80)
    assert (upper.work, lower.work) == (48 * 30, 46 * 30)


def test_tiles_are_about_alike_and_start_where_the_array_does() -> None:
    tiles = list(tiles_of((101, 50), margin=0, period=(6, 6), side=30))
    assert [(tile.core[0].start, tile.core[0].stop) for tile in tiles[::2]] == [
        (0, 30),
        (30, 60),
        (60, 90),
        (90, 101),
    ]
    assert [(tile.core[1].start, tile.core[1].stop) for tile in tiles[:2]] == [(0, 30), (30, 50)]
    assert len(list(tiles_of((12, 12), margin=0, period=(6, 6), side=1))) == 4


def test_no_tile_is_a_narrow_rest() -> None:
    widths = [tile.core[1].stop - tile.core[1].start for tile in tiles_of((8, 1734), 0, (2, 2), 768)]
    assert widths == [578, 578, 578]


def test_flags_that_share_bytes_do_not_touch_each_other() -> None:
    drawn = np.random.default_rng(0).random((2, 9, 11)) < 0.5
    plane = np.zeros((9, 11), np.uint8)
    flags = [BitFlags(plane, np.uint8(bit)) for bit in (2, 128)]
    everywhere, inside = np.s_[:, :], np.s_[2:6, 3:9]
    for own, wanted in zip(flags, drawn, strict=True):
        own[everywhere] = True
        own[everywhere] = wanted
        own[inside] = False
        own[inside] = wanted[inside]
    assert flags[0].shape == (9, 11)
    for own, wanted in zip(flags, drawn, strict=True):
        assert np.array_equal(own[everywhere], wanted)
        assert np.array_equal(own[inside], wanted[inside])
    assert np.array_equal(plane, (drawn * np.array([2, 128])[:, None, None]).sum(axis=0))


def test_tiles_around_flags_are_the_same_however_these_are_kept() -> None:
    flags = np.zeros((200, 300), np.bool_)
    flags[20:23, 40], flags[150, 250:260] = True, True
    bits = BitFlags(np.zeros(flags.shape, np.uint8), np.uint8(4))
    bits[:, :] = flags
    (whole,) = tiles_of(flags.shape, 0, (2, 2))
    parts = around_flagged(bits, whole, (2, 2), 8)
    assert parts == around_flagged(flags, whole, (2, 2), 8)
    assert len(parts) > 1
