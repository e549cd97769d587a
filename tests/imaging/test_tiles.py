from demosaic_ntc.imaging.tiles import tiles_of


def test_work_of_a_tile_is_what_it_looks_at() -> None:
    large, small = tiles_of((100, 30), margin=2, period=(2, 2), side=80)
    assert (large.work, small.work) == (82 * 30, 22 * 30)
