"""What the tests of the files layer share."""

import os
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.fixture(scope="session")
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def raws() -> list[Path]:
    """The camera raws of the test data."""
    folder = os.environ.get("DEMOSAIC_NTC_DATA")
    if folder is None:
        pytest.skip("DEMOSAIC_NTC_DATA does not name the test data")
    return sorted(p for p in (Path(folder) / "raw").iterdir() if p.suffix.lower() in (".cr2", ".kdc", ".dng"))
