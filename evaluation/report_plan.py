"""What a report compared, in its file: names, checksums and settings, without the pictures themselves.

Read back they are enough for tables and pages; nothing can be run.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, Protocol

from .datasets import Picture, PictureSet
from .demosaicers import Role


class DescribedMethod(Protocol):
    """What tables need to know of a method."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def settings(self) -> str:
        """How it is called."""

    @property
    def role(self) -> Role:
        """Whose it is."""


def described_methods(methods: Iterable[DescribedMethod]) -> list[dict[str, str]]:
    """Methods as JSON has them."""
    return [{"name": m.name, "settings": m.settings, "role": m.role} for m in methods]


def described_sets(sets: Iterable[PictureSet]) -> list[dict[str, Any]]:
    """Sets as JSON has them."""
    return [
        {
            "name": each.name,
            "pictures": [
                {
                    "name": picture.name,
                    "sha256": picture.sha256,
                    "height": picture.height,
                    "width": picture.width,
                }
                for picture in each.pictures
            ],
            "left_out": list(each.left_out),
        }
        for each in sets
    ]


def revived_sets(content: Iterable[dict[str, Any]]) -> tuple[PictureSet, ...]:
    """Sets from their JSON form; their files are elsewhere."""
    return tuple(
        PictureSet(each["name"], tuple(map(_revived_picture, each["pictures"])), tuple(each["left_out"]))
        for each in content
    )


def _revived_picture(content: dict[str, Any]) -> Picture:
    """A picture whose file is elsewhere."""
    path = Path(f"{content['name']}.elsewhere")
    return Picture(path, content["sha256"], content["height"], content["width"])


def cannot_run(*_: object) -> NoReturn:
    """Methods of a stored report are names."""
    raise TypeError("a method read from a report cannot be run; select it by its name")
