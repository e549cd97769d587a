"""Where the commands find the package `evaluation`."""

from importlib import import_module
from types import ModuleType


def evaluation(module: str) -> ModuleType:
    """A module of `evaluation`, the package beside this one.

    Both are top-level packages in a checkout and subpackages of the product once installed.
    """
    parent, _, _ = __name__.rpartition(".")[0].rpartition(".")
    return import_module(".".join(filter(None, (parent, "evaluation", module))))
