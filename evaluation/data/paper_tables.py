"""The figures of the paper's appendix: tables 1 to 4, all rows, all methods, with their standard errors.

C. X. Bugg, C. Chen, A. Aswani, *Nonnegative Tensor Completion via Integer Optimization*, NeurIPS 2022,
arXiv:2111.04580. Means over 100 repetitions on a laptop (Intel Core i5 at 2.3 GHz, two cores, 8 GB), Python 3
and Gurobi 9.1. "ntc" is the paper's "BCG with Weak Oracle". They stand in paper.csv: of each method NMSE, its
standard error, seconds and their standard error, nothing where the method could not run.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
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


def _rows(table: str) -> tuple[Row, ...]:
    """The rows of a table."""
    with Path(__file__).with_name("paper.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["table"] == table]
    return tuple(
        Row(
            int(line["size"]),
            int(line["order"]),
            int(line["samples"]),
            float(line["noise"]),
            {m: Published(*map(float, line[m].split())) for m in get_args(PaperMethod) if line[m]},
        )
        for line in lines
    )


#: Beside the paper's tables one with noise, where optimality has to be proven: the least objective is not 0.
TABLES: Mapping[str, Table] = {
    "1": Table("1", "Order-3 tensors, n = 500", "size", _rows("1")),
    "2": Table("2", "Size 10 in every mode, increasing order, n = 10,000", "order", _rows("2")),
    "3": Table("3", "Size 10^×6, increasing n", "samples", _rows("3")),
    "4": Table("4", "Size 10^×7, increasing n", "samples", _rows("4")),
    "noisy": Table(
        "noisy", "Order-3 tensor, n = 500, Gaussian noise of deviation .02", "size", _rows("noisy")
    ),
}
