"""Messages of the layers below name settings; the command line names options."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from cli.app import app
from cli.arguments.finite import complete_bare_options
from cli.failures import SETTINGS, replace_flags

PRODUCT = Path(__file__).resolve().parents[2] / "demosaic_ntc"


@pytest.mark.parametrize(
    ("below", "here"),
    [
        ("raise it with `max_pixels`", "raise it with --max-pixels"),
        ("`wb=auto` finds one, or give `black=512`", "--wb auto finds one, or give --black 512"),
        ("repair pictures with `inpaint`", "repair pictures with `inpaint`"),
        ("`dask worker --resources raw=1`", "`dask worker --resources raw=1`"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_settings_become_options(below: str, here: str) -> None:
    assert replace_flags(below) == here


def test_every_setting_is_an_option_of_some_command() -> None:
    commands = get_command(app).commands.values()  # type: ignore[attr-defined]
    parameters = [parameter for command in commands for parameter in command.params]
    flags = {flag for each in parameters for flag in (*each.opts, *each.secondary_opts)}
    assert [flag for flag in SETTINGS.values() if flag not in flags] == []


def test_layers_below_name_no_option() -> None:
    option = re.compile(r"(?<![\w`-])--[a-z][a-z-]+")
    said = [
        (path.name, line)
        for layer in ("ntc", "imaging", "files", "batch")
        for path in (PRODUCT / layer).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if option.search(line) and "dask" not in line
    ]
    assert said == []


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([], []),
        (["--compress"], ["--compress", "jpeg"]),
        (["--compress", "a.dng", "b.dng"], ["--compress", "jpeg", "a.dng", "b.dng"]),
        (["a.dng", "--compress", "jxl", "-q"], ["a.dng", "--compress", "jxl", "-q"]),
        (["a.dng", "--compress=jxl"], ["a.dng", "--compress=jxl"]),
    ],
)
def test_compress_may_stand_without_a_word(given: list[str], read: list[str]) -> None:
    assert complete_bare_options(given) == read
