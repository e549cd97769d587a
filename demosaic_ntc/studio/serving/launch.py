"""A studio from its start to its end: a folder of its own, its workers, and the server on a free port."""

import html
import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import uvicorn
from starlette.applications import Starlette

from demosaic_ntc.batch.job import JobLimits
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.io.atomic import is_abandoned, owner
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.machine import processors
from demosaic_ntc.studio.actions import Actions, heard
from demosaic_ntc.studio.serving.security import Place
from demosaic_ntc.studio.serving.server import build_app
from demosaic_ntc.studio.session import Session
from demosaic_ntc.studio.task_queue import StudioTask, TaskQueue
from demosaic_ntc.studio.work.opening import OpenPicture
from demosaic_ntc.studio.work.repairing import RepairQuickly

_HERE = "127.0.0.1"
_FOLDER = "demosaic-ntc-studio-"

# A task that takes longer hangs.
_LONGEST_SECONDS = 4 * 3600.0

# What is under way when the server is told to end may still be answered for so long.
_GRACE_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Studio:
    """A session that is ready to be served."""

    wishes: Actions
    place: Place
    app: Starlette
    listener: socket.socket


@contextmanager
def opened_studio(sources: Sequence[Path], limits: InputLimits, port: int = 0) -> Iterator[Studio]:
    """A studio for files and folders; when the block ends, its workers and all it made are gone."""
    remove_left_folders()
    with TemporaryDirectory(prefix=f"{_FOLDER}{owner()}-") as folder, _open_socket(port) as listener:
        session = Session(Path(folder), limits)
        session.name(sources)

        def tell(task: StudioTask) -> None:
            heard(session, task)

        quick, long = (WorkerSetup(work, processors(), None) for work in (OpenPicture(), RepairQuickly()))
        crew = TaskQueue(quick, long, JobLimits(_LONGEST_SECONDS), tell)
        try:
            wishes = Actions(session, crew)
            place = Place(listener.getsockname()[1])
            if session.entries:
                wishes.open(session.entry(1))
            yield Studio(wishes, place, build_app(wishes, place), listener)
        finally:
            crew.close()


def remove_left_folders() -> None:
    """Remove the folders of studios that were killed, with the pictures in them; no others, nobody else's."""
    for folder in Path(gettempdir()).glob(f"{_FOLDER}*"):
        with suppress(OSError):
            mark = folder.name.removeprefix(_FOLDER).rpartition("-")[0]
            status = folder.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and (
                not hasattr(os, "getuid") or status.st_uid == os.getuid()
            )
            if is_ours and is_abandoned(folder, mark):
                shutil.rmtree(folder, ignore_errors=True)


def write_doorway(studio: Studio) -> str:
    """A page that leads to the studio's and that nobody else can read; return its address.

    Everybody sees what programs are started with: a browser is not started with the secret.
    """
    doorway = studio.wishes.session.folder / "studio.html"
    target = html.escape(studio.place.address)
    page = (
        f'<!doctype html><meta http-equiv="refresh" content="0; url={target}"><a href="{target}">studio</a>\n'
    )
    with open(os.open(doorway, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(page)
    return doorway.as_uri()


@contextmanager
def _open_socket(port: int) -> Iterator[socket.socket]:
    """A socket that this machine alone can reach; port 0 takes a free one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HERE, port))
        yield listener


def serve(studio: Studio, ready: Callable[[str], None]) -> None:
    """Answer requests until the process is interrupted; `ready` is told the address once it does."""
    server_of(studio, ready).run(sockets=[studio.listener])


def server_of(studio: Studio, ready: Callable[[str], None]) -> uvicorn.Server:
    """The server of a studio, to be run on its socket."""
    config = uvicorn.Config(
        studio.app,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="on",
        ws="none",
    )
    return _Server(config, lambda: ready(studio.place.address))


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._ready()
