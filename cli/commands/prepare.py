"""The command ``demosaic-ntc prepare``: all kernels compiled in advance."""

from ..arguments import options as o
from ..failures import exit_on_error


def prepare(quiet: o.Quiet = False, debug: o.Debug = False) -> None:
    """Compile all kernels for this machine in advance, for container images or before a batch.

    Otherwise each kernel is compiled when a command first needs it. Kernels are cached next to the program,
    or in the folder NUMBA_CACHE_DIR, and are specific to this kind of processor.
    """
    with exit_on_error(debug=debug, quiet=quiet):
        _prepare_or_fail(quiet=quiet)


def _prepare_or_fail(*, quiet: bool) -> None:
    """Have all kernels compiled; fail if they cannot be kept."""
    from demosaic_ntc.errors import OutputError
    from demosaic_ntc.jit.entries import load_all
    from demosaic_ntc.jit.precompile import find_folder

    from ..failures import print_lines
    from ..output.progress import prepare_shown

    entries, folder = load_all(), find_folder()
    came = all(entry.is_shipped for entry in entries)
    if folder is None and not came:
        message = "no folder can be written to keep compiled kernels; set NUMBA_CACHE_DIR to one that can"
        raise OutputError(message)
    if missing := prepare_shown(quiet=quiet):
        message = f"{folder}: {len(missing)} kernels could not be compiled or kept"
        raise OutputError(f"{message}; look whether the folder can be written and is not full")
    if not quiet:
        place = "they came with the program" if came else f"kept in {folder}"
        print_lines([f"{len(entries)} kernels are ready, {place}"])
