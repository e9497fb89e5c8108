"""Bounds for a rate of which some cases were observed (Clopper and Pearson). scipy is loaded only when needed: help works
without it."""


def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """The rate is not greater than this, with the given confidence."""
    from scipy.stats import binomtest

    return float(binomtest(successes, trials, alternative="less").proportion_ci(confidence, method="exact").high)


def lower_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """The rate is not less than this, with the given confidence."""
    return 1 - upper_bound(trials - successes, trials, confidence)


def is_beyond_chance(cases: int, trials: int, rate: float) -> bool:
    """Whether this many cases would occur less than once in a thousand times at that rate."""
    from scipy.stats import binomtest

    return bool(binomtest(cases, trials, rate, alternative="greater").pvalue < 0.001)
