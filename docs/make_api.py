"""Make the page of the Python interface of its docstrings: ``python docs/make_api.py`` writes docs/api.md."""

import inspect
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import demosaic_ntc

PAGE = Path(__file__).with_name("api.md")

#: What a reader looks for, in that order; every public name has its place.
SECTIONS = {
    "Raw files": ("develop", "Developed", "merge", "Merged", "read_mosaic", "Temperature", "GreyPatch"),
    "Folders": ("run_batch", "BatchTask", "Workers", "Rules", "Tally"),
    "Settings": ("Settings", "Development", "Engine", "Merging", "Output", "RepairSettings", "MaskRule"),
    "Arrays": (
        "demosaic",
        "demosaic_burst",
        "MergedBurst",
        "inpaint",
        "find_blemishes",
        "find_dust_in_infrared",
        "Restored",
    ),
    "Tensors": (
        *("complete_array", "complete", "NonnegativeTensorCompletion", "Solution"),
        *("Certificate", "LeastRadius", "Status"),
    ),
}

EXAMPLE = """
```python
from demosaic_ntc import demosaic, develop, read_mosaic

photo = develop("samples/small_rggb.dng", look="auto", wb=5200, quality="fast", bits=8)
print(photo)  # its picture is photo.image, (height, width, 3); photo.save("out.jpg") writes it with EXIF
print(photo.metadata["white_balance"], photo.certificate)

sensor = read_mosaic("samples/small_rggb.dng")  # the same file as samples, for one's own processing
linear = demosaic(sensor.light.clip(0), sensor.cfa, method="malvar")
assert linear.image.shape == (*sensor.size, 3)
```
"""


def page() -> str:
    """The whole page."""
    lines = ["# The Python interface", "", "Made from the docstrings by `python docs/make_api.py`.", EXAMPLE]
    for title, names in SECTIONS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += [*_entry(name, getattr(demosaic_ntc, name)), ""]
    lines += [
        "All errors derive from `demosaic_ntc.errors.DemosaicNtcError`; "
        "`demosaic_ntc.__version__` is the version.",
        "",
    ]
    return "\n".join(lines)


def _entry(name: str, thing: Any) -> Iterator[str]:
    """A name, how it is called, and what its docstring says."""
    yield f"### `{name}`"
    yield ""
    if inspect.isclass(thing) and issubclass(thing, Enum):
        yield f"One of {', '.join(f'`{member.name}`' for member in thing)}. {_words(thing)}"
        return
    yield "```text"
    yield _signature(name, thing)
    yield "```"
    yield ""
    yield _words(thing)
    yield ""
    for member, what in _members(thing):
        yield f"* `.{member}`: {what}"


def _signature(name: str, thing: Any) -> str:
    """How it is called; types stand in the code, and are spelled differently by every Python."""
    given, is_named = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not is_named:
            given.append("*")
            is_named = True
        has_default = parameter.default is not inspect.Parameter.empty
        given.append(f"{parameter.name}={parameter.default!r}" if has_default else parameter.name)
    return textwrap.fill(f"{name}({', '.join(given)})", 100, subsequent_indent="    ")


def _words(thing: Any) -> str:
    """The docstring; headings of sections in it become bold."""
    lines = inspect.cleandoc(thing.__doc__ or "").split("\n")
    kept: list[str] = []
    for line in lines:
        if set(line) == {"-"} and kept:
            kept[-1] = f"**{kept[-1]}**"
        else:
            kept.append(line)
    return "\n".join(kept)


def _members(thing: Any) -> Iterator[tuple[str, str]]:
    """Public methods and properties of a class, with the first line of what they say."""
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        if name.startswith("_") or not (callable(member) or isinstance(member, (property, classmethod))):
            continue
        told = inspect.getdoc(member)
        if told:
            yield name, told.split("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
