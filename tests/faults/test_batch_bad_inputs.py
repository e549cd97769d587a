"""Folders of bad inputs: each is reported with its reason, the good ones among them are done."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.batch.batches import REPORT, records, statuses

pytestmark = pytest.mark.fault
Batch = Callable[..., Any]
Fill = Callable[..., Path]


def _pictures(folder: Path) -> list[str]:
    """What is in a folder besides the report."""
    return sorted(name for name in os.listdir(folder) if name != REPORT)


def test_bad_inputs_of_all_kinds_in_one_folder(
    tmp_path: Path, batch: Batch, fill: Fill, small: Path, tried: Counter[str]
) -> None:
    whole = small.read_bytes()
    folder = fill("good1.dng", "good2.dng", "good3.DNG")
    damaged = {
        "empty.dng": b"",
        "cut.dng": whole[: len(whole) // 2],
        "text.dng": b"no raw at all\n" * 50,
        "zeros.dng": bytes(4000),
        "noise.dng": b"\x01" + bytes(range(256)) * 10,
        "picture.dng": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "headerless.raw": bytes(range(256)) * 3072,
    }
    for name, content in damaged.items():
        (folder / name).write_bytes(content)
    for name in ("notes.txt", ".hidden.dng", "side.xmp", ".demosaic-ntc-x.partial", "Thumbs.db"):
        (folder / name).write_bytes(b"?")
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.dng").write_bytes(whole)
    tried["bad inputs"] += len(damaged)
    result = batch()
    assert result.exit_code == 1, result.output
    assert statuses(tmp_path / "out") == {
        **dict.fromkeys(("good1.dng", "good2.dng", "good3.DNG"), "done"),
        **dict.fromkeys(damaged, "failed"),
    }
    assert _pictures(tmp_path / "out") == ["good1.png", "good2.png", "good3.png"]
    assert "Traceback" not in result.output


def test_bad_input_that_is_no_file_blocks_nothing(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    folder = fill("good.dng")
    os.mkfifo(folder / "pipe.dng")
    (folder / "gone.dng").symlink_to("nothing")
    (folder / "loop.dng").symlink_to("loop.dng")
    (folder / "zero.dng").symlink_to("/dev/zero")
    (folder / "folder.dng").mkdir()
    result = batch()
    assert result.exit_code == 1
    reasons = {name: record["reason"] for name, record in records(tmp_path / "out").items()}
    assert reasons.pop("good.dng") == ""
    expected = {
        "pipe": "named pipe",
        "gone": "does not exist",
        "loop": "cannot be opened",
        "zero": "a device",
    }
    assert {name: words in reasons[f"{name}.dng"] for name, words in expected.items()} == dict.fromkeys(
        expected, True
    )
    assert len(reasons) == len(expected), "a folder is no file"


def test_bad_input_names_work_everywhere(
    tmp_path: Path, batch: Batch, fill: Fill, tried: Counter[str]
) -> None:
    names = [
        b"-x.dng",
        b"--resume.dng",
        b"two words.dng",
        "\N{CAMERA}\N{SNOWFLAKE}.dng".encode(),
        b"new\nline.dng",
        b"not\xffutf8.dng",
        b"x" * 251 + b".dng",
        b"\x1b[31mred.dng",
        b"a{stem}.dng",
        b"a[1].dng",
        b'quote".dng',
    ]
    tried["bad inputs"] += len(names)
    fill(*map(os.fsdecode, names))
    result = batch("--dry-run")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(names)
    result = batch()
    assert result.exit_code == 0, result.output
    assert statuses(tmp_path / "out") == {os.fsdecode(name): "done" for name in names}
    assert len(_pictures(tmp_path / "out")) == len(names)
    again = batch("--resume", "--exposure", "2", sources=sorted((tmp_path / "in").iterdir()))
    assert f"done         {len(names)}" in again.stdout, "every one was found in the report and made again"
    assert "\x1b" not in result.output + again.output
