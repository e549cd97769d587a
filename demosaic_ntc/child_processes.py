"""Other processes of this program: fresh interpreters, never forks, with the modules that this one has."""

import os
import subprocess
import sys
from contextlib import suppress
from signal import Signals
from typing import Any


def start_interpreter(program: str, *arguments: str, **how: Any) -> "subprocess.Popen[bytes]":
    """Start an interpreter that runs a program; `env` is what is added to the environment."""
    modules = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    how["env"] = {**os.environ, **how.get("env", {}), **modules}
    # -P: modules come from where this process has them, not from the current folder.
    return subprocess.Popen([sys.executable, "-P", "-c", program, *arguments], **how)


def explain_exit(code: int) -> str:
    """What an exit status means."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {-code}, {Signals(-code).name}"
    return f"signal {-code}"
