"""Commands that take numbers for numbers: ``nan`` and ``inf`` are none, though Python reads them so."""

from math import isfinite
from typing import Any

import typer
from typer.core import TyperCommand


class Careful(TyperCommand):
    """A command whose options of numbers are finite."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, and refuse what no comparison with a limit would catch."""
        rest = super().parse_args(ctx, args)
        for parameter in self.params:
            value = ctx.params.get(parameter.name)
            if isinstance(value, float) and not isfinite(value):
                raise typer.BadParameter(f"{value} is no number", param_hint=parameter.opts[0])
        return rest
