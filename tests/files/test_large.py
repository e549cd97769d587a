"""A 24-megapixel raw: memory stays bounded, and everything around the engine is cheap."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.imaging.cfa import Cfa
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

ROOT = Path(__file__).resolve().parents[2]

# Runs in a process of its own, whose peak memory is then the conversion's.
MEASURED = """
import json, resource, sys, time
from pathlib import Path
import numpy as np, rawpy
from demosaic_ntc.files.colour import SPACES
from demosaic_ntc.files.conversion import convert_file, prepare
from demosaic_ntc.files.render import Finish, finish
from demosaic_ntc.files.settings import Engine, Settings

source, settings = Path(sys.argv[1]), Settings(engine=Engine(method="bilinear"))
convert_file(source, source.with_suffix(".png"), settings)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

start = time.process_time()
ready = prepare(source, settings)
decoded = time.process_time() - start
image = np.repeat(ready.mosaic.samples[..., None], 3, axis=2)
start = time.process_time()
finish(image, ready.mosaic.lift, Finish(SPACES["srgb"], ready.photo.matrix.to_srgb), lambda done, total: None)
rendered = time.process_time() - start

with rawpy.imread(str(source)) as raw:
    start = time.process_time()
    raw.postprocess(use_camera_wb=True, output_bps=16)
    theirs = time.process_time() - start
print(json.dumps({"peak": peak, "ours": decoded + rendered, "theirs": theirs}))
"""


@pytest.mark.slow
def test_24_megapixels_fit_in_memory_and_cost_less_than_the_decoders_own_demosaicing(tmp_path: Path) -> None:
    cfa = Cfa.named("RGGB")
    tile = exposed(light_of(rounded(scene(400, 600))), cfa, Camera())
    write_dng(tmp_path / "big.dng", np.tile(tile, (10, 10)), cfa, Camera())
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "big.dng")]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=300)
    cost = json.loads(answer.stdout)
    assert cost["peak"] < 2.5, "gibibytes"
    assert cost["ours"] <= cost["theirs"], "CPU seconds around the engine, and of AHD"
