"""Bounds for a rate of which some cases were seen (Clopper and Pearson)."""

from math import comb


def tail(least: int, trials: int, rate: float) -> float:
    """The probability of at least so many successes."""
    return sum(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(least, trials + 1))


def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """With that confidence the rate is not greater."""
    if successes == trials:
        return 1.0
    return _bisect(lambda rate: 1 - tail(successes + 1, trials, rate) > 1 - confidence)


def lower_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """With that confidence the rate is not less."""
    return 1 - upper_bound(trials - successes, trials, confidence)


def is_beyond_chance(cases: int, trials: int, rate: float) -> bool:
    """Whether so many cases would be seen less than once in a thousand times if each came at that rate."""
    return tail(cases, trials, rate) < 0.001


def _bisect(holds) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
