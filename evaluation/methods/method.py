"""What a method is, whatever it does: a name, how it is called, whose it is, and a function."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, TypeVar

from demosaic_ntc.engine.checks import Quality
from demosaic_ntc.errors import InputError, Unsupported

from ..measure.protocol import engine

#: Ours, the parts it is made of (what it must beat to be worth its name), or what somebody else published.
Role = Literal["ours", "part", "peer"]

OURS, COMPLETED = "gaussian", "ntc"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to do a task; results with the same name and settings may be compared."""

    name: str
    settings: str
    role: Role
    run: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Effort:
    """How our own methods are called, and how many threads those get that can be told."""

    quality: Quality = "normal"
    threads: int = 1
    white: float | None = None  # the sample value of full scale, where the samples do not tell

    @property
    def thread_words(self) -> str:
        """The number of threads in words."""
        return f"{self.threads} thread" + ("s" if self.threads > 1 else "")

    @property
    def words(self) -> str:
        """How a method whose effort can be chosen is called, and by which code."""
        return f"quality {self.quality}, {self.thread_words}, {engine()}"


def grades(effort: Effort) -> list[tuple[str, Literal["gaussian", "ntc"], Role, Effort]]:
    """Prediction of groups at each quality, and their completion: name, method, role and effort."""
    return [
        (OURS, "gaussian", "ours", effort),
        (f"{OURS}-fast", "gaussian", "ours", replace(effort, quality="fast")),
        (f"{OURS}-best", "gaussian", "ours", replace(effort, quality="best")),
        (COMPLETED, "ntc", "ours", effort),
    ]


AnyMethod = TypeVar("AnyMethod", bound=Method)


def index_by_name(methods: Iterable[AnyMethod]) -> dict[str, AnyMethod]:
    """A catalogue: methods by their names."""
    return {method.name: method for method in methods}


def pick_methods(known: Mapping[str, AnyMethod], names: Iterable[str]) -> list[AnyMethod]:
    """The methods with these names, each once."""
    wanted = list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(f"there is no method {unknown[0]}; choose from {', '.join(known)}")
    if not wanted:
        raise InputError("no method is named; leave the option out for the usual ones")
    return [known[name] for name in wanted]


def package_version(package: str) -> str:
    """A package with its version, or that it is not there."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


@contextmanager
def requires(extra: str) -> Iterator[None]:
    """Imports of packages that only an extra installs; where one is not there, this says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise Unsupported(f"{error.name} is not installed; install demosaic-ntc[{extra}]") from error
