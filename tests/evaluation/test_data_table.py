from math import inf

from evaluation.report.tables import Cell, DataTable, cells, figure, file_name, markdown

TABLE = DataTable(
    "Kodak: means over 2",
    ("method", "dB", "SSIM"),
    ((Cell("a|b"), figure(41.4567, ".2f"), Cell("")), (Cell("c"), figure(inf, ".2f"), figure(0.5, ".1f"))),
    ("crop 10",),
)


def test_markdown_shows_what_is_printed() -> None:
    assert markdown(TABLE).splitlines() == [
        "## Kodak: means over 2",
        "",
        "| method | dB | SSIM |",
        "| --- | --: | --: |",
        r"| a\|b | 41.46 | – |",
        "| c | inf | 0.5 |",
        "",
        "crop 10",
    ]


def test_files_keep_all_digits() -> None:
    assert file_name(TABLE) == "kodak-means-over-2"
    assert cells(TABLE) == [
        {"method": "a|b", "dB": 41.4567, "SSIM": ""},
        {"method": "c", "dB": "inf", "SSIM": 0.5},
    ]


def test_a_wide_table_is_cut_behind_its_first_column() -> None:
    first, second = TABLE.parts(1)
    assert (first.columns, second.columns) == (("method", "dB"), ("method", "SSIM"))
    assert [row[0].text for row in second.rows] == ["a|b", "c"]
