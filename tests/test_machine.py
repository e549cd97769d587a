"""What the program asks of the machine it runs on."""

import subprocess
import sys

import pytest

# Arrays come and go as in the tiles of a conversion; what is printed are pages that had to be made for them.
_PAGES = """
import resource
import sys
import numpy as np
from demosaic_ntc.machine import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()
for turn in range(40):
    if turn == 20:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held = [np.ones(1 << size, np.uint8) for size in (20, 21, 22, 21, 20)]
    del held
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages_made(how: str) -> int:
    words = [sys.executable, "-c", _PAGES, how]
    return int(subprocess.run(words, capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux is told")
def test_memory_that_comes_and_goes_is_kept() -> None:
    usual = pages_made("as usual")
    if usual < 1000:
        pytest.skip("this C library keeps freed memory anyway")
    assert pages_made("kept") < usual / 4
