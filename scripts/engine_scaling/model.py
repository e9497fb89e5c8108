"""The throughput of one queue by its number of workers. Sources/OperationEngine/OperationEngine.docc/ManyCores.md has the
assumptions.

All times are in nanoseconds. An operation's *turn* is what one worker alone takes from one operation to the next: what it
does under the queue's lock, what it does outside, and the operation's own work.
"""

import math
from dataclasses import dataclass

# Of LockTurns.swift: below this length of a turn a worker that finds the lock taken stands aside for `STAND_ASIDE`.
SHORT_TURN = 450
STAND_ASIDE = 2500


@dataclass(frozen=True)
class Kind:
    """What an operation of one kind costs, without its work."""

    name: str
    # What one worker alone takes for it, and the part of that which is under the lock.
    turn: float
    locked: float
    # How many times in a row something is fetched from another processor when the lock changes its worker.
    fetches: int

    def __post_init__(self) -> None:
        if not 0 < self.locked <= self.turn or self.fetches < 1:
            raise ValueError(f"{self.name}: {self.locked} ns of {self.turn} ns under the lock, {self.fetches} fetches")

    def serial(self, fetch: float) -> float:
        """What nobody else can do meanwhile where the lock changes its worker each time."""
        return self.locked + self.fetches * fetch


@dataclass(frozen=True)
class Coefficients:
    """Of throughput(n) ÷ throughput(1) = n ÷ (1 + sigma (n − 1) + kappa n (n − 1))."""

    sigma: float
    kappa: float

    def speedup(self, workers: int) -> float:
        """Never more than a lock lets through that is always held: where sigma is above 1, the form alone exceeds that."""
        form = workers / (1 + self.sigma * (workers - 1) + self.kappa * workers * (workers - 1))
        return form if workers == 1 or self.sigma == 0 else min(form, 1 / self.sigma)

    @property
    def best(self) -> int:
        """The number of workers beyond which more of them make it slower."""
        if self.kappa == 0:
            return 1 << 16
        peak = math.sqrt(max(0.0, 1 - self.sigma) / self.kappa)
        return max((max(1, math.floor(peak)), math.floor(peak) + 1), key=self.speedup)


def coefficients(kind: Kind, work: float, fetch: float) -> Coefficients:
    """Of workers that wait for each other at the lock.

    Serial is what is under the lock, and fetching what it guards: so much of a turn each of the others waits (sigma). Those
    that wait look at the lock, which delays each hand-over by a fetch for each of them (kappa).
    """
    turn = kind.turn + work
    sigma = kind.serial(fetch) / turn
    return Coefficients(sigma, sigma * fetch / turn)


def is_short(kind: Kind, work: float) -> bool:
    """Whether workers stand aside for each other, so that one alone runs nearly all."""
    return kind.turn + work < SHORT_TURN


def standing_aside(kind: Kind, work: float, fetch: float, workers: int) -> float:
    """The speedup of such workers, below 1.

    Each of the others looks at the lock once in `STAND_ASIDE`. Where it is free, what the lock guards goes to that worker,
    and back before long; where it is taken, only the lock's line comes and goes.
    """
    busy = kind.locked / (kind.turn + work)
    cost = ((1 - busy) * kind.fetches + busy) * 2 * fetch
    return 1 / (1 + (workers - 1) * cost / STAND_ASIDE)


def speedup(kind: Kind, work: float, fetch: float, workers: int) -> float:
    """Throughput with so many workers ÷ that with one."""
    if workers == 1:
        return 1.0
    if is_short(kind, work):
        return standing_aside(kind, work, fetch, workers)
    return coefficients(kind, work, fetch).speedup(workers)


def turn_for_half(kind: Kind, fetch: float, workers: int) -> float:
    """How long a turn has to be, work included, for one queue to keep so many workers busy half of their time."""
    serial = (workers - 1) * kind.serial(fetch)
    return max(SHORT_TURN, (serial + math.sqrt(serial * serial + 4 * workers * serial * fetch)) / 2)
