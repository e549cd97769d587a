"""The command that the studio shows to be copied."""

import subprocess
from pathlib import Path

import pytest

from demosaic_ntc.studio.looks import LookSettings, quote_word


@pytest.mark.parametrize(
    "name", ["a b.dng", "it's", "\x1b[2Jx", "a\nb'\\n", "\x9b", "é\u202ex", "\udcff", "$(x)", ""]
)
def test_words_arrive_as_they_are_and_are_harmless_to_see(name: str) -> None:
    quoted = quote_word(name)
    assert quoted.isprintable()
    script = b"printf %s " + quoted.encode()
    assert subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout == name.encode(
        "utf-8", "surrogateescape"
    )


def test_commands_have_no_control_characters() -> None:
    command = LookSettings().command(Path("a\x1b]0;x\x07.dng"), Path("b\n.png"), None)
    assert command.isprintable()
    assert command.startswith("demosaic-ntc convert $'a\\033]0;x\\007.dng' $'b\\012.png' ")
