"""The work behind a report, part by part; everything finished is in its file at once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import (
    demosaic_benchmark,
    demosaic_results,
    error_benchmark,
    error_results,
    inpaint_benchmark,
    inpaint_results,
    noise_benchmark,
    noise_results,
    report_demosaic,
    report_errors,
    report_inpaint,
    report_noise,
    report_paper,
)
from . import protocol as common
from .convergence import ROWS, title, traced
from .demosaic_protocol import protocol as demosaic_protocol
from .error_tables import protocol as error_protocol
from .inpaint_protocol import protocol as inpaint_protocol
from .noise_tables import protocol as noise_protocol
from .paper_comparison import tensor_size
from .report import PICTURES, gallery_of
from .report_demosaic import DemosaicPart
from .report_errors import ErrorPart
from .report_file import NAME, ReportFile
from .report_inpaint import InpaintPart
from .report_noise import NoisePart
from .report_paper import PaperPart
from .report_running import Showing, missing, run_all
from .running import StoredJob


@dataclass(frozen=True, slots=True)
class Work:
    """Steps that are still to be done: how many, and what each was once it is done."""

    total: int
    steps: Iterator[str]


def opened(folder: Path, *, whole: bool) -> ReportFile:
    """The report in a folder, made or continued."""
    folder.mkdir(parents=True, exist_ok=True)
    file = ReportFile(folder / NAME)
    file.put("whole pictures", whole)
    file.put("facts", {"machine": common.machine(), "commit": common.commit()})
    return file


def forget(folder: Path) -> None:
    """Remove the results and pictures of earlier runs; nothing else in the folder is touched."""
    for path in (folder / NAME, *(folder / PICTURES).glob("*.webp")):
        path.unlink(missing_ok=True)


def demosaic_work(file: ReportFile, part: DemosaicPart) -> Work:
    """Demosaicing."""
    gallery = gallery_of(file)
    lines = demosaic_protocol(part.cfa, part.crop, part.methods)
    store = demosaic_results.Store(file.section("demosaic"), lines)
    file.put("demosaic plan", report_demosaic.described(part))
    _show(file, report_demosaic.keep_truths(part, gallery))
    showing = report_demosaic.showing(gallery)
    jobs = missing(part.jobs, store, showing)
    done = run_all(jobs, demosaic_benchmark.run, store, showing)
    return _picture_work(len(jobs), done)


def noise_work(file: ReportFile, part: NoisePart) -> Work:
    """Noisy mosaics."""
    store = noise_results.Store(file.section("noise"), noise_protocol(part.noises, part.methods, part.crop))
    file.put("noise plan", report_noise.described(part))
    nothing = Showing(gallery_of(file), lambda job: None)
    jobs = missing(part.jobs, store, nothing)
    done = run_all(jobs, noise_benchmark.run, store, nothing)
    return _picture_work(len(jobs), done)


def inpaint_work(file: ReportFile, part: InpaintPart) -> Work:
    """Inpainting."""
    gallery = gallery_of(file)
    lines = inpaint_protocol(part.damages, part.methods)
    store = inpaint_results.Store(file.section("inpaint"), lines)
    file.put("inpaint plan", report_inpaint.described(part))
    _show(file, report_inpaint.keep_truths(part, gallery))
    showing = report_inpaint.showing(part, gallery)
    jobs = missing(part.jobs, store, showing)
    done = run_all(jobs, inpaint_benchmark.run, store, showing)
    return _picture_work(len(jobs), done)


def errors_work(file: ReportFile, part: ErrorPart) -> Work:
    """Expected errors beside true ones."""
    store = error_results.Store(file.section("errors"), error_protocol(part.methods, part.crop))
    file.put("errors plan", report_errors.described(part))
    nothing = Showing(gallery_of(file), lambda job: None)
    jobs = missing(part.jobs, store, nothing)
    done = run_all(jobs, error_benchmark.run, store, nothing)
    return _picture_work(len(jobs), done)


def _picture_work(total: int, jobs: Iterable[StoredJob]) -> Work:
    """Methods on pictures."""
    return Work(total, (f"{job.set}, {job.picture.name}: {job.method.name}" for job in jobs))


def paper_work(file: ReportFile, part: PaperPart) -> Work:
    """The paper's experiments, and how some completions converge."""
    lines = common.protocol(part.seeds, part.methods, part.solver)
    store = report_paper.PaperStore(file.section("paper"), lines)
    file.put("paper plan", report_paper.described(part))
    code = common.engine(common.SOLVER_LAYERS)
    fresh = [trace for trace in file.get("convergence") or () if trace["code"] == code]
    file.put("convergence", fresh)

    def steps() -> Iterator[str]:
        for result in report_paper.run_missing(part, store):
            row = result.experiment.row
            yield f"{tensor_size(result.experiment)}, n = {row.samples:,}: {result.method.name}"
        for row in ROWS[len(fresh) :]:
            file.put("convergence", [*file.get("convergence"), traced(row).encoded()])
            yield f"convergence, {title(row)}"

    todo = sum(key not in store for key in part.keys)
    return Work(todo + len(ROWS) - len(fresh), steps())


def _show(file: ReportFile, shown: dict[str, object]) -> None:
    """Note what is shown of pictures, beside what other parts show."""
    file.put("shown", {**(file.get("shown") or {}), **shown})
