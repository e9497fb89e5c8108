"""Bounds for a rate of which some cases were observed (Clopper and Pearson)."""

import math


def at_least(successes: int, trials: int, rate: float) -> float:
    """The probability of so many successes or more."""
    if not 0 < rate < 1:
        return float(successes == 0 or rate == 1)
    return math.fsum(
        math.exp(
            math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
            + count * math.log(rate) + (trials - count) * math.log1p(-rate)
        )
        for count in range(successes, trials + 1)
    )  # fmt: skip


def lower_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """The rate is not less than this, with the given confidence."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if at_least(successes, trials, middle) < 1 - confidence else (low, middle)
    return low


def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """The rate is not greater than this, with the given confidence."""
    return 1 - lower_bound(trials - successes, trials, confidence)


def is_beyond_chance(cases: int, trials: int, rate: float) -> bool:
    """Whether this many cases would occur less than once in a thousand times at that rate."""
    return at_least(cases, trials, rate) < 0.001
