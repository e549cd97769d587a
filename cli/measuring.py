"""Where the commands find the packages `evaluation` and `samples`."""

from importlib import import_module
from types import ModuleType


def evaluation(module: str) -> ModuleType:
    """A module of `evaluation`."""
    return _beside("evaluation", module)


def samples(module: str) -> ModuleType:
    """A module of `samples`."""
    return _beside("samples", module)


def _beside(package: str, module: str) -> ModuleType:
    """A module of a package beside this one.

    All of them are top-level packages in a checkout and subpackages of the product once installed.
    """
    parent, _, _ = __name__.rpartition(".")[0].rpartition(".")
    return import_module(".".join(filter(None, (parent, package, module))))
