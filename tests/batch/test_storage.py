"""Batches from and to object storage, with a real server: whole or nothing, never twice, or a reason."""

import json
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from tests.batch.batches import PATIENCE, REPORT, injected, until
from tests.batch.storage import Storage, serve

IN, OUT = "s3://bucket/in", "s3://bucket/out"
Faulty = Callable[..., None]


@pytest.fixture(scope="module")
def server() -> Iterator[Storage]:
    with serve() as storage:
        yield storage


@pytest.fixture
def storage(server: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """The server, with nothing in its bucket; reports and temporary files go to new folders."""
    for name in ("here", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield server
    server.rule = None
    for name in server.names():
        server.files.rm_file(f"bucket/{name}")


def batch(*words: object) -> Any:
    return CliRunner().invoke(app, ["batch", "--jobs", "2", "--method", "bilinear", *map(str, words)])


def said(result: Any) -> str:
    """What was said on stderr, without the frame that wrong usage gets."""
    return " ".join(result.stderr.replace("│", " ").split())


def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(REPORT).read_bytes().splitlines()]


def statuses() -> dict[str, str]:
    """How the work on every input ended last."""
    return {record["input"].rpartition("/")[2]: record["status"] for record in records()}


def copies_left() -> list[str]:
    """What lies among the temporary files of this machine."""
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith(".demosaic-ntc-")]


@pytest.mark.slow
def test_results_are_those_of_files_on_this_machine(storage: Storage, small: Path, tmp_path: Path) -> None:
    for name in (
        "in/a.dng",
        "in/sub/b.DNG",
        "in/.hidden.dng",
        "in/.no/c.dng",
        "in/notes.txt",
        "in/out/d.dng",
    ):
        storage.put(name, small.read_bytes())
    storage.put("in/bad.dng", b"II*\0")
    result = batch(IN, "-r", "-o", f"{IN}/out")
    assert result.exit_code == 1, result.output
    assert statuses() == {"a.dng": "done", "b.DNG": "done", "bad.dng": "failed"}
    assert storage.names("in/out") == ["in/out/a.png", "in/out/d.dng", "in/out/sub/b.png"]
    (tmp_path / "a.dng").write_bytes(small.read_bytes())
    batch(tmp_path / "a.dng", "-o", tmp_path / "local")
    assert storage.read("in/out/a.png") == (tmp_path / "local" / "a.png").read_bytes()
    [failed] = [record for record in records() if record["status"] == "failed"]
    assert failed["reason"].startswith(f"{IN}/bad.dng: ")
    assert ".partial" not in result.output
    mixed = batch(f"{IN}/a.dng", "-o", tmp_path / "mixed", "--format", "jpg")
    assert mixed.exit_code == 0, mixed.output
    assert sorted(os.listdir(tmp_path / "mixed")) == ["a.jpg", REPORT]
    assert copies_left() == []


@pytest.mark.slow
def test_resume_goes_by_etag(storage: Storage, faulty: Faulty) -> None:
    faulty({})
    for name in "abc":
        storage.put(f"in/{name}.dng", name.encode())
    assert batch(IN, "-o", OUT).exit_code == 0
    first = {record["input"]: record for record in records()}
    assert all(record["input_etag"] and record["output_etag"] for record in first.values())
    again = batch(IN, "-o", OUT, "--resume")
    assert "skipped       3" in again.stdout, again.output
    storage.put("in/a.dng", b"A")  # of the same length
    storage.put("in/b.dng", b"b")  # merely uploaded again
    storage.put("out/c.png", b"edited")
    storage.put("in/c.dng", b"C")
    third = batch(IN, "-o", OUT, "--resume")
    assert third.exit_code == 0, third.output
    assert {name: storage.read(f"out/{name}.png") for name in "abc"} == {
        "a": b"A",
        "b": b"b",
        "c": b"edited",
    }
    assert statuses() == {"a.dng": "done", "b.dng": "skipped", "c.dng": "kept"}
    assert any("changed since it was made" in record["reason"] for record in records())
    storage.files.rm_file("bucket/out/b.png")
    assert "done          1" in batch(IN, "-o", OUT, "--resume").stdout
    assert storage.read("out/b.png") == b"b"


def test_what_is_there_stays_unless_told(storage: Storage, faulty: Faulty) -> None:
    faulty({})
    source = storage.put("in/a.dng", b"new")
    storage.put("out/a.png", b"old")
    storage.put("out/b.png", b"other")
    assert "skipped       1" in batch(source, "-o", OUT).stdout
    assert "skipped       1" in batch(source, "-o", OUT, "--resume").stdout
    assert storage.read("out/a.png") == b"old"
    assert batch(source, "-o", OUT, "--overwrite").exit_code == 0
    assert storage.read("out/a.png") == b"new"
    assert storage.read("out/b.png") == b"other"


def test_names_that_would_fall_on_each_other(storage: Storage, faulty: Faulty) -> None:
    faulty({})
    for name in ("in/x/a.dng", "in/y/a.dng", "in/a.nef", "in/a.cr2"):
        storage.put(name, name.encode())
    clash = batch("s3://bucket/in/x/a.dng", "s3://bucket/in/y/a.dng", "-o", OUT)
    assert clash.exit_code == 2
    assert "would both become" in said(clash)
    assert batch("s3://bucket/in/*.nef", "s3://bucket/in/a.cr2", "-o", OUT).exit_code == 0
    assert storage.names("out") == ["out/a_cr2.png", "out/a_nef.png"]
    onto = batch(
        "s3://bucket/in/a.nef", "-o", IN, "--format", "dng", "--name", "{parent}-{stem}-{counter:02}"
    )
    assert onto.exit_code == 0
    assert "in/in-a-01.dng" in storage.names()
    itself = batch("s3://bucket/in/x/a.dng", "-o", f"{IN}/x", "--format", "dng")
    assert itself.exit_code == 2
    assert "is an input" in said(itself)
    assert batch("s3://bucket/in/*.raf", "-o", OUT).exit_code == 3
    assert batch(f"{IN}/y", "-o", f"{IN}/y").exit_code == 0
    assert "in/y/a.png" in storage.names(), "results may lie beside raws"


def test_plan_touches_nothing(storage: Storage) -> None:
    storage.put("in/a.dng", b"a")
    result = batch(IN, "-o", OUT, "--dry-run")
    assert result.stdout == f"{IN}/a.dng -> {OUT}/a.png\n"
    assert storage.names() == ["in/a.dng"]
    assert os.listdir() == []


REFUSED = [
    (["memory://in", "-o", "out"], 2, "seen by one process alone"),
    (["s3://bucket/in/..", "-o", "out"], 2, "leads out of its folder"),
    (["s3://", "-o", "out"], 2, "is not an address"),
    (["a.dng", "-o", OUT, "--report", "s3://bucket/report"], 2, "grows line by line"),
    ([IN, "-o", OUT, "--name", "{date}-{stem}"], 3, "is not fetched for its name"),
    ([IN, "-o", "s3://nowhere/out"], 4, "s3://nowhere/out: there is nothing at this address; check its"),
    (["nothing://in", "-o", "out"], 3, "Protocol not known"),
]


@pytest.mark.parametrize(("words", "code", "reason"), REFUSED, ids=lambda value: str(value)[:40])
def test_refusals_by_name(storage: Storage, words: list[str], code: int, reason: str) -> None:
    storage.put("in/a.dng", b"a")
    result = batch(*words)
    assert result.exit_code == code, result.output
    assert reason in said(result)
    assert "Traceback" not in result.output


def test_masks_and_watches_are_refused(storage: Storage) -> None:
    storage.put("in/a.png", b"a")
    result = CliRunner().invoke(app, ["batch", IN, "-o", OUT, "--inpaint"])
    assert result.exit_code == 3, result.output
    assert f"{IN}/a.png: masks are not fetched" in result.stderr
    watch = CliRunner().invoke(app, ["watch", IN, "-o", "out"])
    assert watch.exit_code == 3
    assert f"{IN}: cannot be watched" in watch.stderr


def test_missing_objects_cost_nobody_else(storage: Storage, faulty: Faulty) -> None:
    faulty({})
    storage.put("in/a.dng", b"a")
    result = batch("s3://nowhere/b.dng", f"{IN}/none.dng", f"{IN}/a.dng", "-o", OUT)
    assert result.exit_code == 1
    assert statuses() == {"b.dng": "failed", "none.dng": "failed", "a.dng": "done"}
    assert f"{IN}/none.dng: there is nothing at this address; check its bucket and name" in result.stdout


def test_no_credentials(storage: Storage, monkeypatch: pytest.MonkeyPatch, start: Any) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    process = start("batch", IN, "-o", OUT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert errors.count(b"\n") == 1
    assert b"s3://bucket/in: no credentials" in errors


@pytest.mark.slow
def test_network_that_is_down(storage: Storage, monkeypatch: pytest.MonkeyPatch, start: Any) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    process = start("batch", __file__, "-o", OUT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4
    assert errors.count(b"\n") == 1
    assert b"s3://bucket/out: cannot be reached" in errors


def test_denied_objects_fail_alone(storage: Storage, faulty: Faulty) -> None:
    faulty({})
    for name in "abc":
        storage.put(f"in/{name}.dng", name.encode())
    storage.rule = lambda method, path: (
        "AccessDenied" if (method, path[-6:]) in {("GET", "/a.dng"), ("PUT", "/b.png")} else None
    )
    result = batch(IN, "-o", OUT)
    assert result.exit_code == 1, result.output
    assert statuses() == {"a.dng": "failed", "b.dng": "failed", "c.dng": "done"}
    assert f"{IN}/a.dng: access denied" in result.stdout
    assert f"{OUT}/b.png: access denied" in result.stdout
    storage.rule = lambda method, path: "AccessDenied" if path == "/bucket" else None
    listing = batch(IN, "-o", OUT)
    assert listing.exit_code == 3
    assert f"{IN}: access denied" in listing.stderr


@pytest.mark.parametrize("fault", ["cut", "InternalError"])
@pytest.mark.slow
def test_failed_upload_leaves_nothing(storage: Storage, faulty: Faulty, fault: str) -> None:
    faulty({})
    for name in "ab":
        storage.put(f"in/{name}.dng", name.encode())
    storage.rule = lambda method, path: fault if (method, path[-6:]) == ("PUT", "/a.png") else None
    result = batch(IN, "-o", OUT)
    assert result.exit_code == 1, result.output
    assert statuses() == {"a.dng": "failed", "b.dng": "done"}
    assert storage.names("out") == ["out/b.png"]
    assert storage.files.call_s3("list_multipart_uploads", Bucket="bucket").get("Uploads", []) == []
    storage.rule = None
    assert batch(IN, "-o", OUT, "--resume").exit_code == 0
    assert Counter(record["status"] for record in records()) == {"done": 2, "failed": 1, "skipped": 1}
    assert copies_left() == []


def test_lost_answer_is_no_failure(storage: Storage, faulty: Faulty) -> None:
    faulty({})
    source, answered = storage.put("in/a.dng", b"a"), list[str]()

    def lose_first(method: str, path: str) -> str | None:
        """The object arrives; the one who sent it does not hear of that, and tries again."""
        if method == "PUT" and path.endswith("/a.png") and not answered:
            answered.append(path)
            storage.put("out/a.png", b"a")
            return "cut"
        return None

    storage.rule = lose_first
    assert batch(source, "-o", OUT).exit_code == 0
    assert answered
    assert statuses() == {"a.dng": "done"}


@pytest.mark.slow
def test_killed_run_leaves_nothing_half(storage: Storage, start: Any) -> None:
    for name in "ab":
        storage.put(f"in/{name}.dng", name.encode())
    reached, free = Event(), Event()

    def hold(method: str, path: str) -> str | None:
        if method == "PUT" and path.endswith("/a.png"):
            reached.set()
            free.wait(PATIENCE)
            return "cut"
        return None

    storage.rule = hold
    process = start("batch", IN, "-o", OUT, "--jobs", "1", code=injected({}))
    assert reached.wait(PATIENCE)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    free.set()
    storage.rule = None
    assert storage.names("out") == []
    assert list(Path().glob(".*.begun"))
    assert copies_left()
    process = start("batch", IN, "-o", OUT, "--resume", code=injected({}))
    assert b"done          2" in process.communicate(timeout=PATIENCE)[0]
    assert storage.names("out") == ["out/a.png", "out/b.png"]
    assert copies_left() == []
    assert list(Path().glob(".*.begun")) == []


@pytest.mark.slow
def test_result_of_a_killed_run_is_known_again(storage: Storage, start: Any, faulty: Faulty) -> None:
    source = storage.put("in/a.dng", b"a")
    published = Event()

    def put_and_hang(method: str, path: str) -> str | None:
        """The object arrives, and whoever sent it is killed before it hears of that."""
        if method == "PUT" and path.endswith("/a.png"):
            storage.rule = None
            storage.put("out/a.png", b"a")
            published.set()
            until(lambda: process.poll() is not None)
            return "cut"
        return None

    storage.rule = put_and_hang
    process = start("batch", source, "-o", OUT, code=injected({}))
    assert published.wait(PATIENCE)
    process.kill()
    process.communicate(timeout=PATIENCE)
    storage.rule = None
    faulty({})
    storage.put("in/a.dng", b"changed")
    again = batch(source, "-o", OUT, "--resume")
    assert "done          1" in again.stdout, "what the dead run has made is ours to replace"
    assert storage.read("out/a.png") == b"changed"


@pytest.mark.slow
def test_two_runs_at_once_make_each_result_once(storage: Storage, start: Any) -> None:
    names = [f"{number}.dng" for number in range(6)]
    for name in names:
        storage.put(f"in/{name}", name.encode())
    together = Barrier(2, timeout=PATIENCE)
    first = set[str]()

    def wait_for_each_other(method: str, path: str) -> str | None:
        if method == "PUT" and path.endswith("/0.png") and len(first) < 2:
            first.add(f"{len(first)}")
            together.wait()
        return None

    storage.rule = wait_for_each_other
    runs = [start("batch", IN, "-o", OUT, "--jobs", "1", code=injected({})) for _ in range(2)]
    for run in runs:
        run.communicate(timeout=PATIENCE)
    assert [run.returncode for run in runs] == [0, 0]
    assert storage.names("out") == [f"out/{name[0]}.png" for name in names]
    done = Counter(record["input"] for record in records() if record["status"] == "done")
    assert set(done) == {f"{IN}/{name}" for name in names}
