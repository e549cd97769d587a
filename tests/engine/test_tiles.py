from demosaic_ntc.engine.tiles import tiles_of


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
