"""What a command takes, in a process of its own: there nothing is left of what others have used."""

import subprocess
import sys
from pathlib import Path

from tests.batch.batches import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

# Twice: the first time libraries are loaded and kernels compiled, and what these take is not meant.
_TWICE = """
import sys
from typer.testing import CliRunner
from cli.app import app
from demosaic_ntc.peak_memory import peak_bytes, reset_peak
CliRunner().invoke(app, sys.argv[1:])
reset_peak()
before = peak_bytes()
answer = CliRunner().invoke(app, sys.argv[1:])
assert answer.exit_code in (0, 3), answer.output
print(peak_bytes() - before)
"""


def peak_of(*words: object) -> int:
    """By how many bytes a command, done or refused, raises the peak memory of its process."""
    command = [sys.executable, "-c", _TWICE, *map(str, words)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return int(answer.stdout)
