"""What a person can ask for, made into tasks for the crew and into changes of the session."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from demosaic_ntc.arrays import Flags
from demosaic_ntc.batch.job import Job, JobOutcome, JobWork
from demosaic_ntc.batch.operations import Convert, Inpaint
from demosaic_ntc.choices import BLEMISHES
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.engine.checks import QUALITIES
from demosaic_ntc.errors import InputError, Unsupported, check_choice
from demosaic_ntc.studio import saving
from demosaic_ntc.studio.document import Document
from demosaic_ntc.studio.looks import LookSettings
from demosaic_ntc.studio.session import Entry, Session, signs_of
from demosaic_ntc.studio.task_queue import READY, StudioTask, TaskQueue, TaskState
from demosaic_ntc.studio.work.detecting import FLAGS, FindBlemishes, FindHotPixels, ReadMask
from demosaic_ntc.studio.work.opening import FACTS, SHOWN, OpenPicture, OpenRaw, Preview
from demosaic_ntc.studio.work.repairing import RepairQuickly, read_patches

Finish = Callable[[JobOutcome], dict[str, Any]]


def heard(session: Session, task: StudioTask) -> None:
    """Tell everybody of a task; a picture that could not be opened is told apart."""
    if task.kind == READY:
        return
    if task.kind == "open" and task.is_over and task.state is not TaskState.DONE:
        entry = session.entry(task.picture)
        entry.opening, entry.failure, entry.sheet = False, task.reason, None
        session.notify("picture", picture=entry.plain())
    session.notify("task", task=task.plain())


class Actions:
    """The session and those who do its work."""

    def __init__(self, session: Session, crew: TaskQueue) -> None:
        self.session, self.crew = session, crew
        self._count = 0

    # Opening -----------------------------------------------------------------------------------------------

    def open(self, entry: Entry, *, again: bool = False) -> None:
        """Open a picture, unless it is open or about to be."""
        with self.session.lock:
            if entry.opening or (entry.sheet is not None and not again):
                return
            entry.opening, entry.failure, entry.sheet = True, "", None
            entry.signs = signs_of(entry.source)
            folder = self.session.fresh_folder(entry)
        limits = self.session.limits
        work: JobWork = OpenRaw(entry.source, limits) if entry.is_raw else OpenPicture(entry.source, limits)
        # Its folder stands for the source, which is not worth a checksum before it is seen.
        task = StudioTask(
            "open", entry.number, Job(folder, folder / FACTS, work), partial(self._opened, entry)
        )
        task.early[SHOWN] = partial(self._show, entry)
        self.crew.submit("quick", task)

    def _opened(self, entry: Entry, _outcome: JobOutcome) -> dict[str, Any]:
        self._show(entry)
        return {}

    def _show(self, entry: Entry) -> None:
        """Let a picture be looked at, unless it is."""
        if entry.sheet is not None:
            return
        entry.sheet = Document(entry.folder)
        entry.opening = False
        self.session.notify("picture", picture=entry.plain())
        if entry.is_raw:
            self.develop(entry, entry.wish)

    # The mask ----------------------------------------------------------------------------------------------

    def find(self, entry: Entry, kind: str, sensitivity: float) -> StudioTask:
        """Propose what may be damaged."""
        sheet, target = self._sheet(entry), self.scratch(entry, "found.npz")
        if kind == "hot":
            if not entry.is_raw:
                raise Unsupported("hot pixels are found in raws; look for dust instead")
            job = Job(entry.source, target, FindHotPixels(self.session.limits))
        else:
            check_choice("kind of damage", kind, BLEMISHES)
            job = Job(sheet.folder / FACTS, target, FindBlemishes((kind,), sensitivity))
        return self._quick("find", entry, job, partial(self._take, entry, target, add=True))

    def load_mask(self, entry: Entry, mask: Path) -> StudioTask:
        """Take over a mask that was uploaded."""
        target = self.scratch(entry, "mask.npz")
        work = ReadMask(self._sheet(entry).facts.size, self.session.limits)
        return self._quick(
            "mask", entry, Job(mask, target, work), partial(self._take, entry, target, add=False)
        )

    def _take(self, entry: Entry, source: Path, _outcome: JobOutcome, *, add: bool) -> dict[str, Any]:
        sheet = self._sheet(entry)
        before = sheet.mask.count
        box = sheet.take_flags(source, FLAGS, add=add)
        source.unlink()
        self.session.tell_mask(entry.number, box.plain())
        return {"pixels": sheet.mask.count - before if add else sheet.mask.count}

    # Repairs -----------------------------------------------------------------------------------------------

    def repair(self, entry: Entry, *, only_new: bool, quality: str, grain: str, fill: str) -> StudioTask:
        """Show the marked pixels repaired, all of them or those that were not yet."""
        settings = self._repair_settings(quality, grain, fill)
        sheet = self._sheet(entry)
        if entry.is_raw:
            raise Unsupported("what is marked in a raw is repaired when it is converted; convert it")
        request, target = self.scratch(entry, "wanted.npz"), self.scratch(entry, "patches.npz")
        missing = sheet.write_wanted(request, only_new=only_new)
        how = (quality, settings.grain, settings.fill, bool(sheet.source.count))
        work = RepairQuickly(sheet.facts.orientation, *how)
        finish = partial(self._finish_repair, entry, sheet, request, target, missing)
        return self._long("repair", entry, Job(request, target, work), finish)

    def _finish_repair(
        self, entry: Entry, sheet: Document, request: Path, patches: Path, missing: Flags, outcome: JobOutcome
    ) -> dict[str, Any]:
        if entry.sheet is not sheet:
            raise InputError("the picture was opened again meanwhile; repair it again")
        sheet.apply(read_patches(patches), missing)
        for path in (request, patches):
            path.unlink()
        self.session.notify("repaired", number=entry.number, touched=sheet.plain()["touched"])
        return {"pixels": outcome.pixels, "certified": outcome.certified_share}

    def save(
        self, entry: Entry, *, suffix: str, place: str, quality: str, grain: str, fill: str, with_mask: bool
    ) -> StudioTask:
        """Repair the file itself exactly as the command does, with the mask as it is painted."""
        settings = self._repair_settings(quality, grain, fill)
        sheet = self._sheet(entry)
        check_choice("format", suffix, sheet.facts.formats)
        check_choice("place", place, (saving.NEW, saving.REPLACE, saving.ORIGINAL))
        entry.check_unchanged()
        mask = self.scratch(entry, "mask.png")
        saving.write_mask(mask, sheet.mask.flags())
        work = Inpaint(self._with_source(settings, entry, sheet), mask)
        with self.session.lock:
            target = saving.target_for(entry.source, suffix, place, taken=self._promised())
            job = Job(entry.source, target, work, overwrite=place != saving.NEW)
            return self._long("save", entry, job, partial(self._finish_save, entry, target, mask, with_mask))

    def _finish_save(
        self, entry: Entry, target: Path, mask: Path, with_mask: bool, _: JobOutcome
    ) -> dict[str, Any]:
        entry.result = target
        names = [target.name]
        if with_mask and not entry.is_upload:
            beside = saving.free(entry.source.with_name(entry.source.stem + saving.MASK_ENDING))
            saving.copy(mask, beside)
            names.append(beside.name)
        mask.unlink()
        if target == entry.source:
            self.open(entry, again=True)
        return {
            "names": names,
            "folder": "" if entry.is_upload else str(target.parent),
            "upload": entry.is_upload,
        }

    def save_folder(
        self, entry: Entry, *, suffix: str, quality: str, grain: str, fill: str
    ) -> list[StudioTask]:
        """Repair all named pictures with the mask of one of them, each into a file beside it."""
        settings = self._repair_settings(quality, grain, fill)
        check_choice("format", suffix, ("png", "tif", "jpg", "same"))
        sheet = self._sheet(entry)
        if not sheet.mask.count:
            raise InputError("nothing is marked; paint over what is to be repaired")
        mask = self.scratch(entry, "folder-mask.png")
        saving.write_mask(mask, sheet.mask.flags())
        work = Inpaint(self._with_source(settings, entry, sheet), mask)
        others = [each for each in self.session.entries.values() if not each.is_upload and not each.is_raw]
        with self.session.lock:
            return [self._save_one(each, suffix, work) for each in others]

    def _save_one(self, entry: Entry, suffix: str, work: JobWork) -> StudioTask:
        kind = entry.source.suffix.lstrip(".").lower() if suffix == "same" else suffix
        target = saving.target_for(entry.source, kind, saving.NEW, taken=self._promised())

        def report(_outcome: JobOutcome) -> dict[str, Any]:
            return {"names": [target.name], "folder": str(target.parent), "upload": False}

        return self._long("save", entry, Job(entry.source, target, work), report)

    def _repair_settings(self, quality: str, grain: Any, fill: Any) -> RepairSettings:
        """The settings that words of a page stand for, or an error that says which makes no sense."""
        check_choice("quality", quality, QUALITIES)
        engine: Any = {"quality": quality}
        return RepairSettings(limits=self.session.limits, engine=Engine(**engine), grain=grain, fill=fill)

    def _with_source(self, settings: RepairSettings, entry: Entry, sheet: Document) -> RepairSettings:
        """The settings with what texture is copied from, if that was marked and anything is copied."""
        if not sheet.source.count or settings.fill == "smooth":
            return settings
        source = self.scratch(entry, "source.png")
        saving.write_mask(source, sheet.source.flags())
        return replace(settings, source=source)

    # Raws --------------------------------------------------------------------------------------------------

    def develop(self, entry: Entry, wish: LookSettings) -> StudioTask:
        """Show a raw as it would be converted, without what is marked."""
        sheet = self._sheet_of_raw(entry)
        entry.wish = wish
        folder, target = self.scratch(entry, "preview"), self.scratch(entry, "preview.done")
        settings = wish.settings(self.session.limits, self._bad_pixels(entry, sheet), half=True)
        job = Job(entry.source, target, Preview(settings, sheet.facts.size, folder))
        return self._quick("develop", entry, job, partial(self._finish_development, entry, sheet, folder))

    def _finish_development(
        self, entry: Entry, sheet: Document, folder: Path, _outcome: JobOutcome
    ) -> dict[str, Any]:
        sheet.take_preview(folder)
        wish, touched = entry.wish.plain(), sheet.plain()["touched"]
        self.session.notify("repaired", number=entry.number, touched=touched, wish=wish)
        return {}

    def convert(self, entry: Entry, wish: LookSettings, *, suffix: str, place: str) -> StudioTask:
        """Convert a raw exactly as the command does that is shown."""
        sheet = self._sheet_of_raw(entry)
        check_choice("format", suffix, sheet.facts.formats)
        check_choice("place", place, (saving.NEW, saving.REPLACE))
        entry.check_unchanged()
        entry.wish = wish
        bad = self._bad_pixels(entry, sheet, beside=not entry.is_upload)
        work = Convert(wish.settings(self.session.limits, bad, half=False))
        with self.session.lock:
            target = saving.raw_target_for(entry.source, suffix, place, entry.result, self._promised())
            job = Job(entry.source, target, work, overwrite=place == saving.REPLACE)
            command = wish.command(entry.source, target, bad)
            return self._long("save", entry, job, partial(self._finish_convert, entry, target, command))

    def _finish_convert(self, entry: Entry, target: Path, command: str, _: JobOutcome) -> dict[str, Any]:
        entry.result = target
        folder = "" if entry.is_upload else str(target.parent)
        return {"names": [target.name], "folder": folder, "upload": entry.is_upload, "command": command}

    def _promised(self) -> set[Path]:
        """The places that tasks under way will write to."""
        targets = (task.job.target for task in list(self.crew.tasks.values()) if not task.is_over)
        return {target for target in targets if isinstance(target, Path)}

    def command(self, entry: Entry, wish: LookSettings, suffix: str) -> str:
        """The command that converts a raw as a wish says."""
        sheet = self._sheet_of_raw(entry)
        check_choice("format", suffix, sheet.facts.formats)
        source = Path(entry.name) if entry.is_upload else entry.source
        bad = source.with_name(source.stem + saving.LIST_ENDING) if sheet.mask.count else None
        return wish.command(source, source.with_suffix(f".{suffix}"), bad)

    def _bad_pixels(self, entry: Entry, sheet: Document, *, beside: bool = False) -> Path | None:
        """The list of what is marked in a raw; None where nothing is, so that hot pixels are looked for."""
        if not sheet.mask.count:
            return None
        saving.check_list(sheet.mask.count)
        name = entry.source.stem + saving.LIST_ENDING
        target = saving.free(entry.source.with_name(name)) if beside else self.scratch(entry, name)
        saving.write_bad_pixels(target, sheet.mask.flags(), sheet.facts.orientation)
        return target

    # Helpers -----------------------------------------------------------------------------------------------

    def _sheet(self, entry: Entry) -> Document:
        return self.session.sheet(entry.number)

    def _sheet_of_raw(self, entry: Entry) -> Document:
        if not entry.is_raw:
            raise Unsupported("only raws are developed; repair the picture instead")
        return self._sheet(entry)

    def scratch(self, entry: Entry, name: str) -> Path:
        """A place for something that is needed once."""
        with self.session.lock:
            self._count += 1
        return entry.folder / f"{self._count}-{name}"

    def _quick(self, kind: str, entry: Entry, job: Job, finish: Finish) -> StudioTask:
        return self.crew.submit("quick", StudioTask(kind, entry.number, job, finish))

    def _long(self, kind: str, entry: Entry, job: Job, finish: Finish) -> StudioTask:
        return self.crew.submit("long", StudioTask(kind, entry.number, job, finish))
