"""The ways of `tests/walks.py` do not grow: who adds a detour has to widen a number here."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.walks import ROOT, Function, Walk

# Functions, modules and changes of layer at most: what they are, and some more functions for an honest step
# or two, and for what another machine has a reason to do besides.
MOST = {
    "benchmark demosaic": (120, 23, 3),
    "batch": (153, 35, 15),
    "convert": (451, 67, 11),
    "inpaint": (245, 46, 11),
    "complete": (85, 17, 0),
}


@pytest.fixture(scope="module")
def counted() -> Any:
    """The counts of all walks, in a process that has done nothing before."""
    words = [sys.executable, "-m", "tests.walks", "--json"]
    return json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, check=True, text=True).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("task", MOST)
def test_no_way_grows(counted: Any, task: str) -> None:
    functions, modules, changes = MOST[task]
    assert functions / 2 < counted[task]["functions"] <= functions
    assert counted[task]["modules"] <= modules
    assert counted[task]["changes"] <= changes


def test_a_change_of_layer_is_a_first_call_from_one_to_another() -> None:
    command = Function("cli/commands/batch.py", "batch")
    plan = Function("demosaic_ntc/batch/batch.py", "plan_batch")
    shared = Function("demosaic_ntc/machine.py", "free_bytes")
    back = Function("demosaic_ntc/batch/discovery.py", "check_pairs")
    deeper = Function("demosaic_ntc/engine/kernels/gather.py", "step")
    walk = Walk({command: None, plan: command, shared: plan, back: shared, deeper: shared})
    assert walk.changes == [(command, plan), (shared, deeper)]
    assert walk.layers == {"cli": 1, "batch": 2, "shared": 1, "imaging": 1}
    assert len(walk.modules) == 5
