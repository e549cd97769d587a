import subprocess
import sys

# A process of its own: what others have allocated and given back before would be used again, unseen.
MEASURED = """
import numpy as np
from demosaic_ntc.peak_memory import peak_bytes, reset_peak
reset_peak()
before = peak_bytes()
block = np.ones(8_000_000)
del block
print(peak_bytes() - before)
"""


def test_the_peak_sees_memory_that_was_given_back() -> None:
    run = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True)
    assert int(run.stdout) > 50_000_000
