"""Bounds for a rate of which some cases were seen (Clopper and Pearson). scipy is loaded when it is needed: help is given
without it."""


def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """With that confidence the rate is not greater."""
    from scipy.stats import binomtest

    return float(binomtest(successes, trials, alternative="less").proportion_ci(confidence, method="exact").high)


def lower_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """With that confidence the rate is not less."""
    return 1 - upper_bound(trials - successes, trials, confidence)


def is_beyond_chance(cases: int, trials: int, rate: float) -> bool:
    """Whether so many cases would be seen less than once in a thousand times if each came at that rate."""
    from scipy.stats import binomtest

    return bool(binomtest(cases, trials, rate, alternative="greater").pvalue < 0.001)
