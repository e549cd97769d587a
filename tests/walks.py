"""How far a reader walks: five tasks, their calls followed from where each begins to its end.

``python -m tests.walks`` prints how many functions of ours, modules and changes of layer lie on each way.

* **A walk** begins at the function that does the task: a command, or a function of the Python interface.
  What the program does before any command (arguments, streams, signals) is alike for all and not counted. A
  benchmark is followed up to the method that it measures: any other may stand there. A batch is followed in
  its own process: what workers do is the walk of a conversion.
* **Functions** are counted once each, properties and constructors too; a kernel is one, whatever it calls.
  What is written inside a function (lambdas, comprehensions, local functions) is part of it. What modules do
  when they are imported and how kernels are compiled is left out.
* **A change of layer** is a first call from a function of one layer to one of another: in the tree in which
  every function hangs below the one that called it first, an edge between layers. Modules directly under
  ``demosaic_ntc/`` belong to no layer: who is in one of them is still in the layer it was called from.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import typer

ROOT = Path(__file__).resolve().parents[1]

# The folders that belong to each layer.
LAYERS = {
    "cli": ("cli",),
    "evaluation": ("evaluation",),
    "studio": ("studio",),
    "batch": ("batch",),
    "files": ("io", "images", "raw", "lens", "developing", "workflows"),
    "imaging": ("engine", "demosaicing", "inpainting", "detection"),
    "ntc": ("ntc",),
}

_FOLDERS = tuple(f"{ROOT / name}/" for name in ("cli", "evaluation", "demosaic_ntc", "samples"))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of ours: its module's path, and its name within."""

    module: str
    name: str

    @property
    def layer(self) -> str | None:
        """The layer it belongs to, if any."""
        first, second, *deeper = Path(self.module).parts
        folder = first if first != "demosaic_ntc" else second if deeper else None
        return next((layer for layer, folders in LAYERS.items() if folder in folders), None)


@dataclass(frozen=True, slots=True)
class Walk:
    """Functions in the order of their first calls, each with the one that called it."""

    callers: dict[Function, Function | None]

    @property
    def modules(self) -> set[str]:
        """Where they are written."""
        return {function.module for function in self.callers}

    @property
    def layers(self) -> Counter[str]:
        """How many belong to each layer."""
        return Counter(function.layer or "shared" for function in self.callers)

    @property
    def changes(self) -> list[tuple[Function, Function]]:
        """First calls from one layer to another."""
        found = ((caller, function) for function, caller in self.callers.items() if caller is not None)
        return [(caller, each) for caller, each in found if self._layer(caller) != self._layer(each)]

    def _layer(self, function: Function | None) -> str | None:
        """The layer in which a reader is at a function: without one of its own, that of its caller."""
        while function is not None and function.layer is None:
            function = self.callers.get(function)
        return function.layer if function else None


@dataclass(slots=True)
class _Follower:
    """What is called between the beginning of a task and its end."""

    begin: Function
    stop: Function | None = None
    callers: dict[Function, Function | None] = field(default_factory=dict)
    started: bool = False
    aside: int = 0  # modules being imported, and calls of the function at which the walk stops

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take in a call, or a return."""
        code, step = frame.f_code, {"call": 1, "return": -1}.get(event, 0)
        if not step or not (code.co_name == "<module>" or _is_ours(code)):
            return
        function = _function(code)
        if code.co_name == "<module>":
            self.aside += step
        elif function == self.begin and code.co_qualname == self.begin.name:  # not a comprehension within
            self.started = step > 0
        if step > 0 and self.started and not self.aside and function.name != "<module>":
            self.callers.setdefault(function, _caller(frame) if function != self.begin else None)
        if function == self.stop and self.started:
            self.aside += step


def _is_ours(code: CodeType) -> bool:
    """Whether a reader meets it."""
    return code.co_filename.startswith(_FOLDERS) and "/demosaic_ntc/jit/" not in code.co_filename


def _function(code: CodeType) -> Function:
    """The function in which some code is written."""
    name = code.co_qualname.split(".<locals>")[0]
    return Function(code.co_filename.removeprefix(f"{ROOT}/"), "<module>" if name.startswith("<") else name)


def _caller(frame: FrameType) -> Function | None:
    """The function of ours that a frame was called from; of another thread's, the one that waits for it.

    Kernels have frames that nobody has called: their caller is who runs now.
    """
    running = sys._getframe(2)
    back = frame.f_back if running is frame else running
    if found := _nearest(back):
        return found
    return _nearest(sys._current_frames()[threading.main_thread().ident or 0])


def _nearest(frame: FrameType | None) -> Function | None:
    """The first of ours from a frame upwards."""
    while frame is not None and not _is_ours(frame.f_code):
        frame = frame.f_back
    return _function(frame.f_code) if frame else None


@contextmanager
def _followed(follower: _Follower) -> Iterator[None]:
    """Follow calls, in all threads that are started meanwhile."""
    threading.setprofile(follower)
    sys.setprofile(follower)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _program(*words: object) -> None:
    """Run the program here."""
    from typer.testing import CliRunner

    from cli.app import app

    answer = CliRunner().invoke(app, [str(word) for word in words])
    assert answer.exit_code == 0, answer.output


def _complete() -> None:
    """Complete a small tensor."""
    import numpy as np

    from demosaic_ntc import complete

    generator = np.random.default_rng(0)
    complete((6, 6, 6), generator.integers(0, 6, (80, 3)), generator.random(80), radius=1.0)


def _tasks(folder: Path) -> dict[str, tuple[Function, Function | None, Callable[[], Any]]]:
    """By name: where a task begins, where it is not followed further, and how it is done."""
    from PIL import Image

    from tests.cli.waves import save_waves

    raw, result, damaged = ROOT / "samples" / "small_rggb.dng", folder / "result.png", folder / "damaged.png"
    pictures = save_waves(folder / "pictures", [(48, 64)], 5.0)
    measured = ("benchmark", "demosaic", pictures, "--methods", "bilinear,ntc", "--crop", 2)
    with Image.open(pictures / "1.png") as picture:
        picture.paste((255, 0, 255), (20, 20, 30, 24))
        picture.save(damaged)
    repaired = ("inpaint", damaged, folder / "repaired.png", "--mask-color", "#ff00ff", "--threads", 1)
    return {
        "benchmark demosaic": (
            Function("evaluation/commands/benchmarks.py", "demosaic"),
            Function("demosaic_ntc/demosaicing/demosaic.py", "demosaic"),
            lambda: _program(*measured),
        ),
        "batch": (
            Function("cli/commands/batch.py", "batch"),
            None,
            lambda: _program("batch", raw, "-o", folder / "results", "--jobs", 1, "--threads", 1),
        ),
        "convert": (
            Function("cli/commands/convert.py", "convert"),
            None,
            lambda: _program("convert", raw, result, "--threads", 1),
        ),
        "inpaint": (Function("cli/commands/inpaint.py", "inpaint"), None, lambda: _program(*repaired)),
        "complete": (Function("demosaic_ntc/ntc/complete.py", "complete"), None, _complete),
    }


def walks() -> dict[str, Walk]:
    """All walks, each of a task that is done for the first time in this process."""
    with TemporaryDirectory() as folder:
        found = {}
        for name, (begin, stop, task) in _tasks(Path(folder)).items():
            follower = _Follower(begin, stop)
            with _followed(follower):
                task()
            found[name] = Walk(follower.callers)
        return found


def main() -> None:
    """Print a table, or all that is known as JSON."""
    found = walks()
    if "--json" in sys.argv:
        rows = {
            name: {"functions": len(walk.callers), "modules": len(walk.modules), "changes": len(walk.changes)}
            for name, walk in found.items()
        }
        typer.echo(json.dumps(rows))
        return
    typer.echo(f"{'walk':<20}{'functions':>10}{'modules':>9}{'changes':>9}   functions by layer")
    for name, walk in found.items():
        layers = ", ".join(f"{layer} {count}" for layer, count in walk.layers.items())
        typer.echo(
            f"{name:<20}{len(walk.callers):>10}{len(walk.modules):>9}{len(walk.changes):>9}   {layers}"
        )
        for caller, function in walk.changes if "--changes" in sys.argv else ():
            typer.echo(f"    {caller.module} {caller.name} → {function.module} {function.name}")
        for function in walk.callers if "--functions" in sys.argv else ():
            typer.echo(f"    {function.module} {function.name}")


if __name__ == "__main__":
    main()
