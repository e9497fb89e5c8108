"""scripts/prove-replay without opbench: the computed schedule, and the columns."""

from opbench_proofs.replay_claims import Claim, percentile
from opbench_proofs.replay_schedule import LIMIT, OPERATIONS, Load


def load(predecessors: dict[int, int]) -> Load:
    """Three operations of 10 ns, one each 4 ns."""
    return Load([0, 4, 4], [3, 3, 3], [7, 7, 7], predecessors)


def test_schedule():
    assert load({}).latencies(3, 1) == [10, 10, 10]
    assert load({}).latencies(2, 1) == [10, 10, 12]
    assert load({}).latencies(1, 1) == [10, 16, 22]
    assert load({}).latencies(1, 2) == [10, 18, 26]
    # The second waits for the first, and the third takes the other slot.
    assert load({1: 0}).latencies(2, 1) == [10, 16, 10]


def test_columns():
    drawn = Load.draw(seed=1)
    columns = drawn.columns()
    assert {len(columns[name]) for name in ("gaps_ns", "cpu_ns", "wait_ns")} == {OPERATIONS}
    assert columns["limits"] == [LIMIT] and columns["gaps_ns"][0] == 0
    assert sum(columns["dependency_steps"]) == max(drawn.predecessors)
    assert set(columns["dependency_distances"]) == {1}
    assert drawn == Load.draw(seed=1) != Load.draw(seed=2)


def test_claims():
    assert percentile([3.0, 1.0, 2.0, 4.0], "p50") == 2 and percentile([3.0, 1.0, 2.0], "p99") == 3
    assert Claim("l", "", "p50", 1.0, 1.09).held and not Claim("l", "", "p50", 1.0, 1.12).held
    assert Claim("l", "limit 1", "p50", 1.0, 1.12).held and not Claim("l", "limit 1", "p50", 1.0, 0.8).held
