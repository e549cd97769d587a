import pytest

from evaluation.data.paper_tables import TABLES, Published


def test_the_paper_has_ten_five_four_and_four_rows() -> None:
    assert [len(TABLES[name].rows) for name in "1234"] == [10, 5, 4, 4]


def test_every_row_has_all_four_methods_but_the_largest_tensor() -> None:
    for name in "1234":
        for row in TABLES[name].rows:
            expected = {"ntc", "als"} if row.order == 8 else {"ntc", "als", "silrtc", "tncp"}
            assert set(row.published) == expected


@pytest.mark.parametrize(
    ("table", "row", "method", "figures"),
    [
        ("1", 0, "ntc", Published(0.004, 0.001, 4.29, 0.194)),
        ("1", 9, "tncp", Published(0.482, 0.003, 0.050, 0.001)),
        ("2", 3, "ntc", Published(0.034, 0.004, 530, 368)),
        ("2", 4, "als", Published(0.986, 0.010, 15.1, 0.199)),
        ("3", 1, "ntc", Published(0.457, 0.023, 62.4, 4.79)),
        ("4", 3, "silrtc", Published(0.863, 0.001, 106, 3.44)),
    ],
)
def test_figures_are_those_of_the_appendix(table: str, row: int, method: str, figures: Published) -> None:
    published = {str(name): value for name, value in TABLES[table].rows[row].published.items()}
    assert published[method] == figures


def test_sizes_orders_and_samples_are_those_of_the_captions() -> None:
    assert [(r.shape, r.samples) for r in TABLES["1"].rows] == [((s, s, s), 500) for s in range(10, 101, 10)]
    assert [(r.shape, r.samples) for r in TABLES["2"].rows] == [((10,) * p, 10_000) for p in range(4, 9)]
    assert [(r.shape, r.samples) for r in TABLES["3"].rows] == [((10,) * 6, 100 * 10**k) for k in range(4)]
    assert [(r.shape, r.samples) for r in TABLES["4"].rows] == [((10,) * 7, 1000 * 10**k) for k in range(4)]


def test_standard_errors_are_small_beside_their_means() -> None:
    for name in "1234":
        for row in TABLES[name].rows:
            for figures in row.published.values():
                assert figures.nmse_error < 0.26 * figures.nmse
                assert figures.seconds_error < 0.7 * figures.seconds
