"""Estimates and their intervals, as opbench itself makes them."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

FEWEST_FOR_INTERVAL = 6
"""Even from the least to the greatest, n values hold the true median with probability 1 − 2^(1−n): 95 % at six."""
RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A figure; its 95 % interval, or where there are too few values the least and the greatest of them."""

    value: float
    low: float
    high: float
    is_interval: bool
    values: int


def centre(values: Sequence[float]) -> float:
    """Hodges and Lehmann's estimate: the median of the means of all pairs, each value paired with itself too."""
    pairs = ((values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i, len(values)))
    return median(pairs)


def shift(first: Sequence[float], second: Sequence[float]) -> float:
    """The same for two independent samples: the median of all differences between one of each."""
    return median(b - a for a in first for b in second)


def of_values(values: Sequence[float], seed: str) -> Estimate:
    """The median of one figure a sample."""
    return _estimate([values], lambda parts: median(parts[0]), list(values), seed)


def of_pairs(pairs: Sequence[tuple[float, float]], seed: str) -> Estimate:
    """The ratio of the second to the first, from figures that were taken side by side."""
    logarithms = [math.log(second / first) for first, second in pairs]
    found = _estimate([logarithms], lambda parts: centre(parts[0]), logarithms, seed)
    return _exponential(found)


def of_groups(first: Sequence[float], second: Sequence[float], seed: str) -> Estimate:
    """The ratio of the second to the first, from figures that were not taken side by side."""
    groups = [[math.log(value) for value in group] for group in (first, second)]
    extremes = [min(groups[1]) - max(groups[0]), max(groups[1]) - min(groups[0])]
    found = _estimate(groups, lambda parts: shift(parts[0], parts[1]), extremes, seed)
    return _exponential(found)


def _estimate(
    parts: Sequence[Sequence[float]],
    estimate: Callable[[Sequence[Sequence[float]]], float],
    extremes: Sequence[float],
    seed: str,
) -> Estimate:
    fewest = min(len(part) for part in parts)
    value = estimate(parts)
    if fewest < FEWEST_FOR_INTERVAL:
        return Estimate(value, min(extremes), max(extremes), False, fewest)
    numbers = random.Random(seed)
    drawn = sorted(estimate([numbers.choices(part, k=len(part)) for part in parts]) for _ in range(RESAMPLES))
    tail = int(0.025 * RESAMPLES)
    return Estimate(value, drawn[tail], drawn[-1 - tail], True, fewest)


def _exponential(found: Estimate) -> Estimate:
    return Estimate(
        math.exp(found.value), math.exp(found.low), math.exp(found.high), found.is_interval, found.values
    )
