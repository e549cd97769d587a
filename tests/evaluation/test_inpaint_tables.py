from evaluation.data_table import cells
from evaluation.datasets import PictureSet
from evaluation.demosaic_summary import Line, SetSummary
from evaluation.demosaicers import CONTROL, OURS, Role
from evaluation.inpaint_summary import MaskSummary
from evaluation.inpaint_tables import gain_table
from evaluation.inpainters import BASELINE


def line(method: str, role: Role, first: float, second: float) -> Line:
    """What a method reached on two pictures, in decibels."""
    return Line(method, role, {"first": {"cpsnr": first}, "second": {"cpsnr": second}}, ())


def test_a_file_of_gains_has_the_worst_picture_of_either_comparison() -> None:
    lines = (
        line(OURS, "ours", 32.0, 40.0),
        line(BASELINE, "peer", 30.0, 39.0),
        line(CONTROL, "part", 31.75, 39.5),
    )
    table = gain_table([MaskSummary("dead", None, SetSummary(PictureSet("waves", ()), lines))])
    assert table is not None
    assert cells(table) == [
        {
            "mask": "dead",
            "over biharmonic": 1.5,
            "least over biharmonic": 1.0,
            "on (biharmonic)": "second",
            "over group mean": 0.375,
            "least over group mean": 0.25,
            "on (group mean)": "first",
        }
    ]
