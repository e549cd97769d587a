"""What results are called: a template with the name of the input and what its header tells of the photo."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from string import Formatter
from typing import Any

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.remote import Place, RemotePath
from demosaic_ntc.raw.reading import read_facts

#: Fields of a name: of the input's own, of its header, and its number in the batch.
OF_THE_FILE = ("stem", "ext", "parent")
OF_THE_PHOTO = ("date", "camera", "lens", "iso")
COUNTER = "counter"
NAME_FIELDS = (*OF_THE_FILE, *OF_THE_PHOTO, COUNTER)

_UNKNOWN = "unknown"
_PLAIN_DATE = "%Y-%m-%d"

# What dates and numbers may be told: few letters, so that no name can grow without end.
_DATE_FORM, _COUNTER_FORM = re.compile(r"(%[aAbBdHIjmMpSUwWyY]|[-_. \w]){1,40}"), re.compile(r"0?[1-9]")

# As `Formatter` parses a template: text, and the field after it, its form and its conversion.
_Part = tuple[str, str | None, str | None, str | None]

# Letters of a field: file systems take names of 255 bytes.
_LONGEST_FIELD = 60

# Letters that some file system does not take.
_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]+')


@dataclass(frozen=True, slots=True)
class Naming:
    """Where results go; without a suffix, each keeps its input's."""

    output: Place
    suffix: str | None
    template: str = "{stem}"
    _parts: tuple[_Part, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the template, and make the folder independent of where this program runs."""
        if isinstance(self.output, Path):
            object.__setattr__(self, "output", Path(os.path.abspath(self.output)))
        try:
            parts = tuple(Formatter().parse(self.template))
        except ValueError as error:
            raise InputError(f"{self.template!r} is not a name ({error}); use e.g. '{{stem}}'") from error
        object.__setattr__(self, "_parts", parts)
        is_name = os.path.basename(self.template) == self.template
        tells_apart = {"stem", COUNTER} & {name for _, name, _, _ in parts}
        if not is_name or not tells_apart or not all(map(_is_known, parts)):
            known = " ".join(f"{{{field}}}" for field in NAME_FIELDS)
            raise InputError(
                f"{self.template!r} is not a name; use {{stem}} or {{counter}}, and any of {known}, "
                "such as {date:%Y%m%d} or {counter:04}; no folders"
            )

    def target(self, source: Place, within: Path = Path(), number: int = 1) -> Place:
        """Where the result of an input goes that lies within some folder and has some number."""
        asks_the_header = any(name in OF_THE_PHOTO for _, name, _, _ in self._parts)
        if asks_the_header and isinstance(source, RemotePath):
            raise InputError(f"{source}: is not fetched for its name; give a `name` of file and counter only")
        known = read_facts(source) if asks_the_header and isinstance(source, Path) else {}
        own = {"stem": source.stem, "ext": source.suffix[1:], "parent": source.parent.name}
        name = ""
        for text, part, form, _ in self._parts:
            name += text
            if part is not None:
                name += own[part] if part in own else _format_field(part, form or "", known, number)
        return self.output / within / f"{name}{self.suffix or source.suffix}"


def tell_apart(pairs: Sequence[tuple[Place, Place]]) -> list[Place]:
    """The targets of inputs, with their extensions added to all that would have one name: ``IMG_CR2.png``.

    Inputs that share extensions as well keep their targets; nobody else can tell them apart.
    """
    inputs: dict[str, set[Place]] = {}
    for source, target in pairs:
        inputs.setdefault(os.path.normcase(str(target)), set()).add(source)
    apart = []
    for source, target in pairs:
        same = inputs[os.path.normcase(str(target))]
        differ = 1 < len(same) == len({each.suffix.lower() for each in same})
        named = differ and source.suffix
        apart.append(target.with_stem(f"{target.stem}_{source.suffix[1:]}") if named else target)
    return apart


def _is_known(part: _Part) -> bool:
    """Whether a part of a template names a field that there is, in a form that it has."""
    _, field, form, conversion = part
    if field is None:
        return True
    if field not in NAME_FIELDS or conversion:
        return False
    allowed = {"date": _DATE_FORM, COUNTER: _COUNTER_FORM}.get(field)
    return not form or (allowed is not None and allowed.fullmatch(form) is not None)


def _format_field(field: str, form: str, known: dict[str, Any], number: int) -> str:
    """A field that the header or the batch tells, as it can stand in a name."""
    if field == COUNTER:
        return format(number, form)
    value = known.get(field)
    if isinstance(value, datetime):
        return value.strftime(form or _PLAIN_DATE)
    text = f"{value:g}" if isinstance(value, float) else str(value or _UNKNOWN)
    return _FORBIDDEN.sub("_", text[:_LONGEST_FIELD]).strip(" .") or _UNKNOWN
