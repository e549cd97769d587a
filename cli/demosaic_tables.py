"""Results of the demosaicing benchmark as text tables."""

from typing import TYPE_CHECKING

from .measuring import evaluation
from .text_tables import text_table

if TYPE_CHECKING:
    from rich.console import Console

    from evaluation.demosaic_summary import SetSummary

# Pictures side by side in a table: as many as stay readable.
_ACROSS = 12


def print_set(
    console: "Console", summary: "SetSummary", crop: int, conditions: str, *, details: bool
) -> None:
    """Print the figures of a set: by picture, the means with their conditions, and what they say."""
    module = evaluation("demosaic_tables")
    wide = module.picture_table(summary, crop)
    by_picture = [module.detail_table(summary, crop)] if details else wide.parts(_ACROSS)
    for table in (*by_picture, module.mean_table(summary, crop)):
        if table is not None:
            console.print(text_table(table))
    for text in (conditions, *module.gaps_in(summary), *module.findings(summary)):
        console.print(text, markup=False)
    console.print()
