from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from samples.make_samples import main


def _picture(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as picture:
        return np.asarray(picture)


@pytest.mark.slow
def test_samples_are_what_their_script_makes(tmp_path: Path, samples: Path) -> None:
    """Raw samples byte for byte; pictures by their pixels, as another zlib may pack them differently."""
    main(tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {path.name for path in samples.iterdir() if path.suffix in (".dng", ".png")}
    for name in made:
        if name.endswith(".dng"):
            assert (tmp_path / name).read_bytes() == (samples / name).read_bytes(), name
        else:
            assert np.array_equal(_picture(tmp_path / name), _picture(samples / name)), name


def test_samples_stay_small(samples: Path) -> None:
    assert sum(path.stat().st_size for path in samples.iterdir() if path.is_file()) < 1_500_000
