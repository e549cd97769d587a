"""What the program uses of the package `evaluation`, which lies beside this one: its commands.

Both are packages of their own in a checkout and subpackages of the product once installed. The commands load
what they need when they run.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "cli":
    from evaluation import split_names
    from evaluation.commands import COMMANDS
    from evaluation.commands.comparing import Choice
    from evaluation.commands.options import parse_box
    from evaluation.commands.running import progress_bar, usage
    from evaluation.commands.tensors import complete_tensor
else:
    from ..evaluation import split_names
    from ..evaluation.commands import COMMANDS
    from ..evaluation.commands.comparing import Choice
    from ..evaluation.commands.options import parse_box
    from ..evaluation.commands.running import progress_bar, usage
    from ..evaluation.commands.tensors import complete_tensor

__all__ = [
    "COMMANDS",
    "Choice",
    "complete_tensor",
    "parse_box",
    "progress_bar",
    "split_names",
    "usage",
]
