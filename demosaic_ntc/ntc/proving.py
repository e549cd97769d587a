"""Which oracle may speak the last word, by the size of the tensor."""

from demosaic_ntc.errors import ModelTooLarge
from demosaic_ntc.ntc import integer
from demosaic_ntc.ntc.alternating import AlternatingMaximisation, make_heuristic_oracles
from demosaic_ntc.ntc.enumeration import ENUMERATION_WORK, BranchAndBound, Enumeration
from demosaic_ntc.ntc.oracle import Oracle, WeakSeparation
from demosaic_ntc.ntc.problem import Observations
from demosaic_ntc.run import Deadline

ORACLES = ("auto", "heuristic", "exact", "gurobi", "highs")
THOROUGH_BATCHES = 8  # of 64 starts, before a run may end unproved
AUTO_SLICES = 26  # up to so many slices beside the longest mode an integer program proves in the end;
AUTO_SECONDS = {True: 60.0, False: 3.0}  # what "auto" allows it in all, where that is so and where it is not


def separation(oracle: str, observed: Observations, deadline: Deadline, seed: int) -> WeakSeparation:
    """Return the oracles by name: guesses, a last thorough guess, and a proof where there is one."""
    thorough = AlternatingMaximisation(observed, seed + 1, batches=THOROUGH_BATCHES)
    exact = _exact_oracle(oracle, observed, deadline)
    return WeakSeparation(make_heuristic_oracles(observed, seed), [thorough, exact] if exact else [thorough])


def _exact_oracle(oracle: str, observed: Observations, deadline: Deadline) -> Oracle | None:
    """Return the oracle that may speak the last word, or none where nothing can."""
    if oracle == "heuristic":
        return None
    if oracle == "gurobi":
        return integer.gurobi(observed, deadline)
    if oracle == "highs":
        return integer.highs(observed, deadline)
    enumeration = Enumeration(observed)
    if enumeration.work <= ENUMERATION_WORK:
        return enumeration
    branching = BranchAndBound(observed)
    if branching.suitable:
        return branching
    if oracle == "exact":
        raise ModelTooLarge(
            f"shape {observed.shape} is too large for exact search; choose oracle='auto', 'gurobi' or 'highs'"
        )
    small = sum(observed.shape) - max(observed.shape) <= AUTO_SLICES
    program = integer.best_available(observed, deadline, AUTO_SECONDS[small])
    if program:
        program.only_bounds = not small  # cut short: the same seed shall give the same tensor everywhere
    return program
