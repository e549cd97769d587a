"""The figures of the paper's appendix: tables 1 to 4, all rows, all methods, with their standard errors.

C. X. Bugg, C. Chen, A. Aswani, *Nonnegative Tensor Completion via Integer Optimization*, NeurIPS 2022,
arXiv:2111.04580. Means over 100 repetitions on a laptop (Intel Core i5 at 2.3 GHz, two cores, 8 GB), Python 3
and Gurobi 9.1. "ntc" is the paper's "BCG with Weak Oracle".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

PaperMethod = Literal["ntc", "als", "silrtc", "tncp"]


@dataclass(frozen=True, slots=True)
class Published:
    """The mean and standard error that the paper prints for one method and one row."""

    nmse: float
    nmse_error: float
    seconds: float
    seconds_error: float


@dataclass(frozen=True, slots=True)
class Row:
    """One experiment: a cubic tensor, a number of samples, and what the paper found."""

    size: int
    order: int
    samples: int
    noise: float = 0.0
    published: Mapping[PaperMethod, Published] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each mode."""
        return (self.size,) * self.order


@dataclass(frozen=True, slots=True)
class Table:
    """Experiments that differ in one quantity, which names the rows and is the axis of the plot."""

    name: str
    caption: str
    varies: Literal["size", "order", "samples"]
    rows: tuple[Row, ...]


def _rows(size: int | None, order: int | None, samples: int | None, printed: str) -> tuple[Row, ...]:
    """The rows of a printed table; what is None varies and stands in front of its line."""

    def parse(line: str) -> Row:
        first, *columns = line.split("|")
        varying = int(first)
        figures = zip(get_args(PaperMethod), columns, strict=True)
        published: dict[PaperMethod, Published] = {
            method: Published(*map(float, column.split())) for method, column in figures if "*" not in column
        }
        return Row(size or varying, order or varying, samples or varying, published=published)

    return tuple(map(parse, printed.strip().splitlines()))


# Columns: BCG with weak oracle (ntc), ALS, SiLRTC, TNCP, each with NMSE, its standard error, seconds, their
# standard error; an asterisk where the method could not run.

_TABLE_1 = _rows(
    size=None,
    order=3,
    samples=500,
    printed="""
     10 |  .004 .001  4.29 .194 |  .058 .002  .122 .003 |  .609 .002  .004 .000 |  .290 .004  .003 .000
     20 |  .070 .003  28.6 .753 |  .174 .005  .351 .012 |  .939 .000  .007 .000 |  .454 .005  .002 .000
     30 |  .220 .004  11.0 .671 |  .287 .005  .796 .030 |  .981 .000  .019 .000 |  .476 .004  .003 .000
     40 |  .300 .004  5.83 .202 |  .351 .005  .947 .043 |  .992 .000  .043 .000 |  .468 .004  .004 .000
     50 |  .371 .004  4.86 .090 |  .406 .006  1.58 .093 |  .996 .000  .095 .001 |  .481 .004  .006 .000
     60 |  .434 .004  4.78 .063 |  .454 .006  2.08 .105 |  .998 .000  .190 .002 |  .474 .004  .010 .000
     70 |  .500 .004  4.94 .063 |  .503 .008  3.30 .140 |  .999 .000  .456 .003 |  .477 .003  .014 .000
     80 |  .554 .004  5.73 .112 |  .539 .010  5.96 .226 |  .999 .000  .918 .008 |  .477 .003  .020 .000
     90 |  .594 .004  5.34 .077 |  .576 .011  9.34 .302 |  .999 .000  1.91 .032 |  .481 .003  .040 .001
    100 |  .641 .004  5.56 .072 |  .666 .013  16.8 .568 |  .999 .000  2.83 .050 |  .482 .003  .050 .001
""",
)

_TABLE_2 = _rows(
    size=10,
    order=None,
    samples=10_000,
    printed="""
      4 |  .001 .000  25.2 1.11 |  .007 .001  .925 .025 |  .149 .004  .017 .001 |  .236 .002  .004 .000
      5 |  .002 .000  40.7  .82 |  .074 .006  1.13 .038 |  .870 .002  .122 .005 |  .728 .004  .014 .000
      6 |  .008 .001  59.5 1.20 |  .412 .025  1.79 .097 |  .990 .000  1.59 .053 |  .883 .003  .261 .000
      7 |  .034 .004   530  368 |  .930 .019  1.28 .050 |  .999 .000    40 1.23 |  .943 .002  5.71 .010
      8 |  .156 .014   872   66 |  .986 .010  15.1 .199 | *                     | *
""",
)

_TABLE_3 = _rows(
    size=10,
    order=6,
    samples=None,
    printed="""
    100 |  .989 .002  .348 .016 | 1.000 .000  .067 .001 | 1.000 .000  1.20 .055 |  .907 .004  .261 .001
   1000 |  .457 .023  62.4 4.79 | 1.000 .000  .105 .001 | 1.000 .000  1.24 .041 |  .893 .003  .260 .001
  10000 |  .007 .000  60.4 1.32 |  .389 .023  1.82 .098 |  .990 .000  1.67 .053 |  .880 .003  .266 .001
 100000 |  .005 .000 413.7 11.1 |  .046 .005 15.03 .401 |  .862 .001  4.23 .141 |  .800 .003  .264 .001
""",
)

_TABLE_4 = _rows(
    size=10,
    order=7,
    samples=None,
    printed="""
   1000 |  .873 .016  48.4 3.42 | 1.000 .000  .561 .003 | 1.000 .000  48.3 7.95 |  .950 .002  6.41 .152
  10000 |  .029 .004   145 36.6 |  .877 .023  1.29 .043 | 1.000 .000  42.4 1.46 |  .938 .002  5.55 .007
 100000 |  .011 .001   522 11.7 |  .220 .016  19.2 .603 |  .989 .000  53.9 1.96 |  .933 .002  5.57 .007
1000000 |  .013 .001  5623  381 |  .052 .007   189 4.89 |  .863 .001   106 3.44 |  .853 .002  5.65 .013
""",
)

#: Beside the paper's tables one with noise, where optimality has to be proven: the least objective is not 0.
TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        Table("1", "Order-3 tensors, n = 500", "size", _TABLE_1),
        Table("2", "Size 10 in every mode, increasing order, n = 10,000", "order", _TABLE_2),
        Table("3", "Size 10^×6, increasing n", "samples", _TABLE_3),
        Table("4", "Size 10^×7, increasing n", "samples", _TABLE_4),
        Table(
            "noisy",
            "Order-3 tensor, n = 500, Gaussian noise of deviation .02",
            "size",
            (Row(10, 3, 500, 0.02),),
        ),
    )
}
