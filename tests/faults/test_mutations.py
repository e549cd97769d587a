"""Raws with random damage: converted, or refused by an error of ours; never a crash, a hang or a surprise."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.batch.batches import PATIENCE
from tests.made_raws import MADE, made

ROOT = Path(__file__).resolve().parents[2]

# In a process of its own: a crash of the decoder would take the tests with it.
MUTATE = """
import sys
from pathlib import Path
import numpy as np
from demosaic_ntc.errors import InputError
from demosaic_ntc.workflows.conversion import convert_file
from demosaic_ntc.developing.settings import Engine, Output, Settings

whole, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
start, end = map(int, sys.argv[3:])
settings = Settings(engine=Engine(method="bilinear"), output=Output(overwrite=True))
read = refused = 0
for seed in range(500):
    generator = np.random.default_rng(seed)
    data = bytearray(whole)
    for _ in range(generator.integers(1, 6)):
        data[generator.integers(start, end)] = generator.integers(256)
    if generator.random() < 0.2:
        del data[generator.integers(1, len(data)) :]
    path.write_bytes(data)
    try:
        convert_file(path, path.with_suffix(".tif"), settings)
        read += 1
    except InputError:
        refused += 1
print(read, refused)
"""


@pytest.mark.fault
@pytest.mark.parametrize("name", ["small_rggb.dng", "small_xtrans.dng"])
def test_random_damage_to_the_tags(tmp_path: Path, name: str) -> None:
    whole = (ROOT / "samples" / name).read_bytes()
    _try_damage(tmp_path, "a.dng", whole, int.from_bytes(whole[4:8], "little"), len(whole))


@pytest.mark.fault
@pytest.mark.parametrize("name", MADE)
def test_random_damage_to_headers_of_other_containers(tmp_path: Path, name: str) -> None:
    written = made(name, (36, 48))
    _try_damage(tmp_path, name, written.content, 28, len(written.content) - written.samples.nbytes)


def _try_damage(folder: Path, name: str, whole: bytes, start: int, end: int) -> None:
    """Damage bytes from start to end, again and again."""
    (folder / "whole").write_bytes(whole)
    words = (folder / "whole", folder / name, start, end)
    command = [sys.executable, "-c", MUTATE, *map(str, words)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stderr.decode(errors="replace")[-500:]
    read, refused = map(int, answer.stdout.split())
    assert read > 50
    assert refused > 50
