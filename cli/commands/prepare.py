"""The command ``demosaic-ntc prepare``: all kernels compiled in advance."""

from ..arguments import options as o
from ..failures import exit_on_error


def prepare(quiet: o.Quiet = False, debug: o.Debug = False) -> None:
    """Compile all kernels for this machine in advance: for images of containers, and before a batch.

    What is not prepared is compiled when a command first needs it. Kernels are kept beside the program, or in
    the folder that NUMBA_CACHE_DIR names, and belong to this kind of processor.
    """
    with exit_on_error(debug=debug, quiet=quiet):
        from ..actions.prepare import prepare_or_fail

        prepare_or_fail(quiet=quiet)
