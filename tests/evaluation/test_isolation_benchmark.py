"""The benchmark of decoding apart: what is compared, and how shares are formed."""

from pathlib import Path

import pytest

from demosaic_ntc.io.isolation.decoder import can_isolate
from evaluation.studies.isolation import Cost, cost_table, measure_raw, measure_start


@pytest.mark.skipif(not can_isolate(), reason="Linux only")
def test_costs_are_measured(small: Path) -> None:
    cost = measure_raw(small, 2, "fast")
    assert cost.megapixels == pytest.approx(36 * 48 / 1e6)
    assert min(*cost.here, *cost.apart[1:], *cost.conversion) > 0
    assert measure_start(1)[1] > 0.02  # an interpreter has to come up


def test_shares_are_of_a_conversion() -> None:
    table = cost_table([Cost("a", 10.0, (0.1, 0.1), (0.15, 0.2), (5.0, 9.0))], (0.2, 0.3))
    ((*_, more, clock, _, share, with_start),) = table.rows
    assert [each.text for each in (more, clock, share, with_start)] == ["50.0", "100.0", "1.00", "5.00"]
