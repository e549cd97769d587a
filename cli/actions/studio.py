"""A studio asked for on the command line: prepared, announced, served until it is interrupted."""

import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

import typer

from demosaic_ntc.errors import LicenceMissing, OutputError
from demosaic_ntc.io.header import InputLimits, open_regular, prefix_path

from ..failures import print_note
from ..output.progress import prepare_shown


def serve_studio(
    sources: Sequence[Path], port: int, limits: InputLimits, *, browser: bool, quiet: bool
) -> None:
    """Serve the page until Ctrl-C."""
    try:
        from demosaic_ntc.studio.serving.launch import opened_studio, serve, write_doorway
    except ImportError as error:
        raise LicenceMissing(f"studio needs {error.name}; pip install 'demosaic-ntc[studio]'") from error
    for source in sources:
        if not source.is_dir():
            with prefix_path(source), open_regular(source, limits):
                pass
    prepare_shown(quiet=quiet)

    def ready(address: str) -> None:
        typer.echo(address)
        if not quiet:
            print_note("the page opens by this address alone; Ctrl-C ends it")
        if browser:  # some browsers do not come back before they end
            Thread(target=_open_browser, args=(write_doorway(studio),), daemon=True).start()

    try:
        with opened_studio(sources, limits, port) as studio:
            serve(studio, ready)
    except OSError as error:
        if error.filename is None and port:
            words = f"port {port} cannot be used ({error.strerror}); leave out --port to take a free one"
            raise OutputError(words) from error
        raise


def _open_browser(address: str) -> None:
    """Open a page where there is a browser; the address stands in the terminal anyway."""
    with suppress(webbrowser.Error):
        webbrowser.open(address)
