"""What the tests of faults share: a way to run the program, in this process or as a user would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"

Run = Callable[..., Any]


@pytest.fixture(scope="session")
def small() -> Path:
    """A whole and small raw."""
    return SAMPLES / "small_rggb.dng"


@pytest.fixture(scope="session")
def convert() -> Run:
    """Run ``demosaic-ntc IN OUT`` in this process."""

    def run(source: Path, target: Path, *options: object) -> Any:
        arguments = ["convert", *map(str, options), "--method", "bilinear", "--", str(source), str(target)]
        return CliRunner().invoke(app, arguments)

    return run


@pytest.fixture(scope="session")
def start() -> Callable[..., "subprocess.Popen[bytes]"]:
    """Start the program as a process of its own."""

    def run(*arguments: object, code: str = "", **options: Any) -> "subprocess.Popen[bytes]":
        """`code` runs inside the process before the program, to inject a fault."""
        program = f"import sys; sys.argv[0] = 'demosaic-ntc'\n{code}\nfrom cli.app import app\napp()"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-c", program, *map(os.fspath, map(str, arguments))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            **options,
        )

    return run
