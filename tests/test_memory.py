import numpy as np

from demosaic_ntc.memory import peak_bytes, reset_peak


def test_the_peak_sees_memory_that_was_given_back() -> None:
    reset_peak()
    before = peak_bytes()
    block = np.ones(8_000_000)
    del block
    assert peak_bytes() - before > 50_000_000
