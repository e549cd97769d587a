"""The results of a part as a data frame, and means that are only taken over whole sets.

A mean over a part of a set would look like a mean over the set, so there is none: it is NaN until every
picture of the set has its figure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..data.sets import ImageSet
from ..report.tables import Cell, DataTable, rows_of
from .benchmark import Benchmark
from .case import Refusal, Row
from .protocol import list_machines
from .store import Store, write_text

MIB = 1024**2

#: Quantities with the titles of their columns and their formats.
Columns = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Results:
    """What is known of a part: a row per result, in the order of its cases, and what was refused."""

    part: Benchmark
    frame: pd.DataFrame
    refusals: list[Refusal]

    @classmethod
    def of(cls, store: Store, *, stamped: bool = True, more: Iterable[Row] = ()) -> "Results":
        """The results that a store has for its part, and `more` rows of others."""
        found, refusals = store.found(stamped=stamped)
        rows = [*found, *more]
        columns = list(dict.fromkeys((*store.part.keys, "set", "image", *(n for row in rows for n in row))))
        frame = pd.DataFrame(rows, columns=columns, dtype=object)
        return cls(store.part, add_costs(frame), refusals)

    def of_set(self, each: ImageSet) -> "SetResults":
        """What is known of a set."""
        refused = [refusal for refusal in self.refusals if refusal.case.set == each.name]
        return SetResults(each, self.part, self.frame[self.frame["set"] == each.name], refused)

    def write_csv(self, target: Path) -> None:
        """Write a line per result, and per refusal one with the reason instead of figures."""
        refused = [
            each.case.key | {"set": each.case.set, "image": each.case.image, "reason": each.reason}
            for each in self.refusals
        ]
        lines = pd.concat([self.frame, pd.DataFrame(refused, dtype=object)]) if refused else self.frame
        shown = lines.assign(reason=lines.get("reason")).drop(columns=["mib"], errors="ignore")
        shown = shown.rename(columns=self.part.csv_names)
        write_text(target, shown.to_csv(index=False, lineterminator="\n") if len(shown) else "")


@dataclass(frozen=True)
class SetResults:
    """What is known of one set, or of a part of its results."""

    set: ImageSet
    part: Benchmark
    frame: pd.DataFrame
    refusals: list[Refusal]

    def where(self, column: str, value: object) -> "SetResults":
        """The results with a value in a column that cases have in their key."""
        refusals = [refusal for refusal in self.refusals if refusal.case.key[column] == value]
        return SetResults(self.set, self.part, self.frame[self.frame[column] == value], refusals)

    def by(self, column: str, values: Iterable[str]) -> dict[str, "SetResults"]:
        """The results by value of a column: by mask, by noise."""
        return {value: self.where(column, value) for value in values}

    @property
    def methods(self) -> list[str]:
        """The methods that were tried, in the order of the part, then those of others."""
        tried = {*self.frame["method"], *(refusal.case.key["method"] for refusal in self.refusals)}
        own = [method.name for method in self.part.methods]
        return [name for name in dict.fromkeys((*own, *self.frame["method"])) if name in tried]

    def list_methods(self, role: str) -> list[str]:
        """The methods of a role."""
        roles = {method.name: method.role for method in self.part.methods}
        return [name for name in self.methods if roles.get(name, "reference") == role]

    def by_picture(self, quantity: str) -> pd.DataFrame:
        """A quantity of each method (down) on each picture of the whole set (across); NaN without one."""
        names = [*(picture.name for picture in self.set.pictures), *self.set.left_out]
        column = pd.to_numeric(self.frame[quantity]) if quantity in self.frame else float("nan")
        figures = self.frame[["method", "image"]].assign(value=column)
        table = figures.pivot(index="method", columns="image", values="value")
        return table.reindex(index=self.methods, columns=names).astype(float)

    def means(self, quantity: str) -> pd.Series:
        """The mean of each method over the whole set; NaN if a picture is missing."""
        return self.by_picture(quantity).mean(axis=1, skipna=False)

    def most(self, quantity: str) -> pd.Series:
        """The largest value of each method over the whole set; NaN if a picture is missing."""
        return self.by_picture(quantity).max(axis=1, skipna=False)

    def find_missing(self) -> dict[str, list[str]]:
        """The pictures that each method has no result for, of methods that lack some."""
        figures = self.by_picture("cpsnr").isna()
        lacking = {name: list(figures.columns[flags]) for name, flags in figures.iterrows()}
        return {str(name): pictures for name, pictures in lacking.items() if pictures}

    def details(
        self, title: str, columns: Columns, notes: tuple[str, ...] = (), *, proofs: bool = False
    ) -> DataTable:
        """All quantities of each method on each picture, and how many groups have a closely known norm."""
        titles, forms = zip(*columns.values(), strict=True)
        figures = [self.by_picture(quantity) for quantity in columns]
        known, groups = self.by_picture("norms_known"), self.by_picture("groups")

        def format_proof(method: str, image: str) -> Cell:
            of = groups.loc[method, image]
            return Cell(f"{known.loc[method, image]:.0f} of {of:.0f}" if of == of else "")

        rows = tuple(
            (Cell(picture.name), *row, *([format_proof(row[0].text, picture.name)] if proofs else []))
            for picture in self.set.pictures
            for row in rows_of(self.methods, [each[picture.name] for each in figures], forms)
        )
        heads = ("picture", "method", *titles, *(["norms known"] if proofs else []))
        return DataTable(title, heads, rows, notes, details=True)

    @property
    def machines(self) -> str:
        """Where it was measured, in words."""
        return list_machines(self.frame.get("machine", pd.Series()).dropna())

    def gains(self, method: str, others: Sequence[str]) -> pd.Series:
        """By how many decibels a method is above the best of others, on each picture that both have."""
        figures = self.by_picture("cpsnr")
        if method not in figures.index or not any(name in figures.index for name in others):
            return pd.Series(dtype=float)
        best = figures.reindex(index=others).max(axis=0)
        return (figures.loc[method] - best).dropna()


def add_costs(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with costs per megapixel and memory in MiB, where it has them."""
    measured = ["seconds", "cpu_seconds", "peak_bytes", "height", "width"]
    if not {*measured} <= {*frame}:
        return frame
    numbers = frame[measured].apply(pd.to_numeric)
    megapixels = numbers["height"] * numbers["width"] / 1e6
    known = pd.to_numeric(frame["cpu_s_per_mp"]) if "cpu_s_per_mp" in frame else float("nan")
    per_megapixel = (numbers["cpu_seconds"] / megapixels).fillna(known)
    return frame.assign(
        s_per_mp=numbers["seconds"] / megapixels, cpu_s_per_mp=per_megapixel, mib=numbers["peak_bytes"] / MIB
    )
