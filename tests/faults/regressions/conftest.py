"""What these tests share: a folder with a raw in it, and one for results."""

from pathlib import Path

import pytest


@pytest.fixture
def source(tmp_path: Path, small: Path) -> Path:
    """A folder with one small raw, ``a.dng``."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.dng").write_bytes(small.read_bytes())
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder for results."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
