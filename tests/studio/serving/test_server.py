"""A picture opened, painted, repaired and saved through the server, and what may go wrong on the way."""

import os
import signal
import threading
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.studio.task_queue import StudioTask
from tests.batch.batches import PATIENCE
from tests.studio.studios import Served, heard, png, waited, waves


def test_tiles_show_the_picture_and_its_smaller_selves(shared: Served) -> None:
    pixels = waves(300, 620)
    number = shared.upload(png(pixels))
    sheet = shared.picture(number)["sheet"]
    assert (sheet["width"], sheet["height"], sheet["levels"]) == (620, 300, 2)
    np.testing.assert_array_equal(shared.tile(number, "before"), pixels[:, :512])
    assert shared.tile(number, "before", 1).shape == (150, 310, 3)


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_deep_pictures_are_shown_in_bytes(shared: Served, dtype: type) -> None:
    pixels = waves(60, 80, np.uint16)
    buffer = BytesIO()
    stored = pixels if dtype is np.uint16 else (pixels / 65535).astype(np.float32)
    tifffile.imwrite(buffer, stored, photometric="rgb")
    number = shared.upload(buffer.getvalue(), "deep.tif")
    shown = shared.tile(number, "before").astype(int)
    assert abs(shown - pixels / 257).max() <= 1.5


def test_a_turned_picture_is_shown_upright(shared: Served) -> None:
    pixels, exif = waves(40, 60), Image.Exif()
    exif[274] = 6
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", exif=exif)
    number = shared.upload(buffer.getvalue())
    np.testing.assert_array_equal(shared.tile(number, "before"), np.rot90(pixels, -1))
    shared.stroke(number, (10, 10), (30, 20))
    assert shared.task(shared.post(f"/api/pictures/{number}/repair", {"quality": "fast"}))["state"] == "done"
    changed = (shared.tile(number, "after") != shared.tile(number, "before")).any(axis=2)
    marked = shared.tile(number, "mask")[..., 1] > 0
    assert changed.any()
    assert not (changed & ~marked).any()


def test_strokes_are_drawn_undone_and_erased(shared: Served) -> None:
    number = shared.upload(png(waves()))
    shared.stroke(number, (20, 20), (60, 20))
    marked = shared.tile(number, "mask")[..., 1]
    assert set(np.unique(marked)) == {0, 255}
    count = shared.picture(number)["sheet"]["mask"]["pixels"]
    assert count == np.count_nonzero(marked) > 100
    answer = shared.post(f"/api/pictures/{number}/mask", {"tool": "undo"}).json()
    assert answer["mask"]["pixels"] == 0
    assert answer["mask"]["redo"]
    shared.post(f"/api/pictures/{number}/mask", {"tool": "redo"})
    erase = {"tool": "rectangle", "points": [[0, 0], [119, 89]], "erase": True}
    assert shared.post(f"/api/pictures/{number}/mask", erase).json()["mask"]["pixels"] == 0


def test_what_is_repaired_is_seen_and_gone_when_it_is_erased(shared: Served) -> None:
    pixels = waves()
    pixels[40:44, 30:90] = 0
    number = shared.upload(png(pixels))
    shared.stroke(number, (30, 42), (90, 42), radius=3.5)
    done = shared.task(shared.post(f"/api/pictures/{number}/repair", {"what": "all", "quality": "fast"}))
    assert (done["state"], done["reason"]) == ("done", "")
    after, truth = shared.tile(number, "after").astype(int), waves().astype(int)
    assert abs(after - truth)[40:44, 35:85].mean() < 8
    assert shared.tile(number, "doubt")[..., 1][40:44, 35:85].any()
    assert shared.picture(number)["sheet"]["touched"]
    again = shared.post(f"/api/pictures/{number}/repair", {"what": "new", "quality": "fast"})
    assert again.status_code == 400
    assert "nothing is new" in again.json()["error"]
    shared.post(f"/api/pictures/{number}/mask", {"tool": "clear"})
    np.testing.assert_array_equal(shared.tile(number, "after"), pixels)
    assert not shared.tile(number, "doubt")[..., 1].any()


def test_only_what_is_new_is_repaired(shared: Served) -> None:
    number = shared.upload(png(waves(90, 1500)))
    shared.stroke(number, (20, 30), (50, 30))
    shared.task(shared.post(f"/api/pictures/{number}/repair", {"what": "all", "quality": "fast"}))
    shared.stroke(number, (1450, 30), (1460, 30))
    done = shared.task(shared.post(f"/api/pictures/{number}/repair", {"what": "new", "quality": "fast"}))
    assert done["state"] == "done"
    assert 0 < done["result"]["pixels"] < 100


@pytest.mark.parametrize(("name", "suffix"), [("a.png", "png"), ("a.png", "tif"), ("a.png", "jpg")])
def test_a_saved_file_is_what_the_command_makes_of_the_saved_mask(
    shared: Served, folder: Path, tmp_path: Path, name: str, suffix: str
) -> None:
    source = folder / name
    number = 1
    shared.post(f"/api/pictures/{number}/open")
    shared.opened(number)
    shared.post(f"/api/pictures/{number}/mask", {"tool": "clear"})
    shared.stroke(number, (30, 42), (90, 50), radius=2.5)
    before = source.read_bytes()
    plain = {"format": suffix, "place": "new", "quality": "fast", "mask": True}
    done = shared.task(shared.post(f"/api/pictures/{number}/save", plain))
    assert done["state"] == "done", done
    saved, mask = (folder / each for each in done["result"]["names"])
    expected = tmp_path / f"expected.{suffix}"
    arguments = ["inpaint", str(source), str(mask), str(expected), "--quality", "fast", "-q"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert saved.read_bytes() == expected.read_bytes()
    assert source.read_bytes() == before
    assert mask.read_bytes() == shared.get(f"/api/pictures/{number}/mask.png").content


def test_what_is_seen_is_what_is_saved(shared: Served) -> None:
    number = shared.upload(png(waves()))
    shared.stroke(number, (30, 42), (90, 50), radius=2.5)
    shared.task(shared.post(f"/api/pictures/{number}/repair", {"what": "all", "quality": "fast"}))
    shared.task(shared.post(f"/api/pictures/{number}/save", {"format": "png", "quality": "fast"}))
    with Image.open(BytesIO(shared.get(f"/api/pictures/{number}/result").content)) as saved:
        np.testing.assert_array_equal(np.array(saved), shared.tile(number, "after"))


def test_results_never_fall_on_other_files_unless_told(shared: Served, folder: Path) -> None:
    number = 2
    shared.post(f"/api/pictures/{number}/open")
    shared.opened(number)
    shared.stroke(number, (10, 10))
    (folder / "b_repaired.png").write_text("somebody's work")
    plain = {"format": "png", "quality": "fast"}
    names = [
        shared.task(shared.post(f"/api/pictures/{number}/save", {**plain, "place": place}))["result"]["names"]
        for place in ("new", "new", "replace")
    ]
    assert names == [["b_repaired-2.png"], ["b_repaired-3.png"], ["b_repaired.png"]]
    assert (folder / "b_repaired.png").read_bytes() == (folder / "b_repaired-2.png").read_bytes()
    original = (folder / "b.png").read_bytes()
    over = shared.post(f"/api/pictures/{number}/save", {**plain, "place": "original", "format": "tif"})
    assert over.status_code == 400
    assert (folder / "b.png").read_bytes() == original
    done = shared.task(shared.post(f"/api/pictures/{number}/save", {**plain, "place": "original"}))
    assert done["result"]["names"] == ["b.png"]
    assert (folder / "b.png").read_bytes() == (folder / "b_repaired-2.png").read_bytes()


def test_saving_twice_at_once_gives_two_files(shared: Served) -> None:
    number = shared.upload(png(waves()), "twice.png")
    shared.stroke(number, (10, 10))
    answers = [
        shared.post(f"/api/pictures/{number}/save", {"format": "png", "quality": "fast"}) for _ in range(3)
    ]
    tasks = [shared.task(answer) for answer in answers]
    assert [task["state"] for task in tasks] == ["done"] * 3, tasks
    names = [task["result"]["names"] for task in tasks]
    assert names == [["twice_repaired.png"], ["twice_repaired-2.png"], ["twice_repaired-3.png"]]


def test_a_file_that_was_changed_meanwhile_is_not_worked_on(shared: Served) -> None:
    number = shared.upload(png(waves()))
    shared.stroke(number, (10, 10))
    source = shared.studio.wishes.session.entry(number).source
    source.write_bytes(source.read_bytes() + b"\0")
    answer = shared.post(f"/api/pictures/{number}/save", {"format": "png"})
    assert answer.status_code == 400
    assert "has changed since it was opened" in answer.json()["error"]


def test_masks_are_loaded_as_the_command_reads_them(shared: Served) -> None:
    number = shared.upload(png(waves()))
    mask = np.zeros((90, 120), np.uint8)
    mask[10:20, 30:50] = 255
    path = f"/api/pictures/{number}/mask"
    assert shared.task(shared.client.put(path, content=png(mask)))["state"] == "done"
    np.testing.assert_array_equal(shared.tile(number, "mask")[..., 1], mask)
    with Image.open(BytesIO(shared.get(f"{path}.png").content)) as saved:
        np.testing.assert_array_equal(np.array(saved.convert("L")), mask)
    wrong = shared.task(shared.client.put(path, content=png(mask[:50])))
    assert wrong["state"] == "failed"
    assert "the mask is 120×50, the picture 120×90" in wrong["reason"]
    assert shared.task(shared.client.put(path, content=b"no picture"))["state"] == "failed"
    np.testing.assert_array_equal(shared.tile(number, "mask")[..., 1], mask)


def test_dust_is_proposed_and_can_be_taken_back(shared: Served) -> None:
    rows, columns = np.mgrid[0:200, 0:200]
    pixels = (120 + rows / 5)[..., None].repeat(3, axis=2).astype(np.uint8)
    pixels[(rows - 60) ** 2 + (columns - 80) ** 2 < 30] = 20
    number = shared.upload(png(pixels))
    done = shared.task(shared.post(f"/api/pictures/{number}/find", {"what": "dust", "sensitivity": 0.5}))
    assert done["state"] == "done", done
    marked = shared.tile(number, "mask")[..., 1] > 0
    assert marked[60, 80]
    assert done["result"]["pixels"] == np.count_nonzero(marked) < 400
    assert shared.post(f"/api/pictures/{number}/mask", {"tool": "undo"}).json()["mask"]["pixels"] == 0
    for wrong in ({"what": "ghosts"}, {"what": "hot"}, {"sensitivity": 7}, {"what": 3}):
        assert shared.post(f"/api/pictures/{number}/find", wrong).status_code == 400


def test_one_mask_repairs_all_pictures_of_its_size(shared: Served, folder: Path) -> None:
    shared.post("/api/pictures/1/open")
    shared.opened(1)
    shared.stroke(1, (30, 42), (90, 50))
    before = set(folder.iterdir())
    answer = shared.post("/api/pictures/1/folder", {"quality": "fast"})
    tasks = [shared.studio.wishes.crew.tasks[number] for number in answer.json()["tasks"]]
    waited(lambda: all(task.is_over for task in tasks) or None)
    assert [task.state.value for task in tasks] == ["done", "done", "failed"]
    assert "give a mask of the picture's size" in tasks[2].reason
    assert len(set(folder.iterdir()) - before) == 2


def test_a_damaged_upload_says_what_is_wrong(shared: Served) -> None:
    number = shared.upload(png(waves())[:3000])
    assert "photo.png" in shared.picture(number)["failure"]
    assert shared.post(f"/api/pictures/{number}/repair").status_code == 400


def test_tabs_are_told_what_others_do(shared: Served) -> None:
    number = shared.upload(png(waves()))
    told: list[dict[str, object]] = []
    thread = threading.Thread(target=lambda: told.append(heard(shared, "mask")))
    listeners = shared.studio.wishes.session._listeners
    before = list(listeners)
    thread.start()
    waited(lambda: [one for one in listeners if one not in before] or None)
    shared.stroke(number, (10, 10))
    thread.join(PATIENCE)
    assert told[0]["number"] == number
    assert shared.get("/api/state").status_code == 200
    waited(
        lambda: not [one for one in listeners if one not in before] or None
    )  # a tab that is closed is no longer told


def test_strokes_of_two_tabs_at_once_are_all_kept(shared: Served) -> None:
    number = shared.upload(png(waves()))
    strokes = [((10.0 + 4 * n, 10.0 + 3 * n),) for n in range(12)]
    threads = [
        threading.Thread(target=shared.stroke, args=(number, *points), kwargs={"radius": 0.4})
        for points in strokes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    marked = shared.tile(number, "mask")[..., 1]
    assert np.count_nonzero(marked) == 12
    for _ in threads:
        shared.post(f"/api/pictures/{number}/mask", {"tool": "undo"})
    assert not shared.tile(number, "mask")[..., 1].any()


def worker_of(shared: Served, task: StudioTask) -> int:
    """The number of the process that works on a task."""
    supervisor = shared.studio.wishes.crew._of[task.number]._supervisor
    assert supervisor is not None
    (worker,) = (each for each in supervisor._workers.values() if each.job is task.job)
    return worker._process.pid


def begun(shared: Served, number: int) -> int:
    """A repair that takes a while, under way; returns its task."""
    shared.post(f"/api/pictures/{number}/mask", {"tool": "rectangle", "points": [[5, 5], [390, 390]]})
    task: int = shared.post(f"/api/pictures/{number}/repair", {"quality": "best"}).json()["task"]
    waited(lambda: shared.studio.wishes.crew.tasks[task].stage or None)
    return task


def test_a_killed_worker_costs_its_repair_alone(shared: Served) -> None:
    number = shared.upload(png(waves(400, 400)))
    task = shared.studio.wishes.crew.tasks[begun(shared, number)]
    os.kill(worker_of(shared, task), signal.SIGKILL)
    waited(lambda: task.is_over or None)
    assert task.state == "failed"
    assert "SIGKILL" in task.reason
    assert shared.picture(number)["sheet"]["mask"]["pixels"] == 386 * 386  # what was painted is still there
    shared.post(f"/api/pictures/{number}/mask", {"tool": "clear"})
    shared.stroke(number, (50, 50))
    assert shared.task(shared.post(f"/api/pictures/{number}/repair", {"quality": "fast"}))["state"] == "done"


def test_a_repair_is_cancelled_and_the_next_one_done(shared: Served) -> None:
    number = shared.upload(png(waves(400, 400)))
    first = begun(shared, number)
    second = shared.post(f"/api/pictures/{number}/repair", {"quality": "best"}).json()["task"]
    for task in (second, first):
        assert shared.post(f"/api/tasks/{task}/cancel").status_code == 200
    tasks = shared.studio.wishes.crew.tasks
    waited(lambda: (tasks[first].is_over and tasks[second].is_over) or None)
    assert [tasks[each].state.value for each in (first, second)] == ["cancelled", "cancelled"]
    assert shared.post("/api/tasks/999999/cancel").status_code == 404
    shared.post(f"/api/pictures/{number}/mask", {"tool": "undo"})
    shared.stroke(number, (50, 50))
    assert shared.task(shared.post(f"/api/pictures/{number}/repair", {"quality": "fast"}))["state"] == "done"
