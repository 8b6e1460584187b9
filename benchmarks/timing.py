"""Honest ratios: both sides in the same run, in turn, and noise is given a second look.

A ratio is the median of the rounds' own ratios. Tried out on a busy two-core machine, over repeated
series, it scattered least (standard deviation: 3 % for a durable event, 4 % for opening, 8 % for an
import); the ratio of the medians scattered by 4, 8 and 10 %, because the machine slows down for seconds
at a time; the ratio of the minima by 9, 4 and 10 %, because now and then a durable write rides on a
commit that the file system makes anyway, and the luckiest write says little.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

ATTEMPTS = 3
"""A gate counts as missed when it is missed this often in a row."""
_TINY = 0.1

Go = Callable[[], float]
"""Does a thing once and tells how many seconds it took."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two things to time in turn; a gate is the highest ratio that passes."""

    what: str
    ours: Go
    baseline: Go
    rounds: int
    gate: float | None = None
    in_words: Callable[[float], str] | None = None
    """Writes what was measured, where that is no time."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of both sides, round by round."""

    ours: tuple[float, ...]
    baseline: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Tell how many times as long ours takes."""
        return median(o / b for o, b in zip(self.ours, self.baseline, strict=True))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    what: str
    ours: str
    baseline: str
    ratio: str
    gate: str
    verdict: str
    is_missed: bool = False


def judge(duel: Duel) -> Row:
    """Measure; a missed gate is measured again before it counts."""
    timings = [measure(duel)]
    while _misses(timings[-1], duel.gate) and len(timings) < ATTEMPTS:
        timings.append(measure(duel))
    last = timings[-1]
    write = duel.in_words or in_words
    return Row(
        what=duel.what,
        ours=write(median(last.ours)),
        baseline=write(median(last.baseline)),
        ratio=f"{last.ratio:.2f} x" if last.ratio > _TINY else f"{last.ratio:.2g} x",
        gate="" if duel.gate is None else f"≤ {duel.gate:g} x",
        verdict=_verdict([timing.ratio for timing in timings], duel.gate),
        is_missed=_misses(last, duel.gate),
    )


def measure(duel: Duel) -> Timing:
    """Time both sides in turn, after one go that does not count; who begins changes each round."""
    duel.ours(), duel.baseline()
    ours: list[float] = []
    baseline: list[float] = []
    for number in range(duel.rounds):
        if number % 2:
            baseline.append(duel.baseline())
            ours.append(duel.ours())
        else:
            ours.append(duel.ours())
            baseline.append(duel.baseline())
    return Timing(tuple(ours), tuple(baseline))


def timed(action: Callable[[], object]) -> float:
    """Tell how many seconds an action takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def in_words(seconds: float) -> str:
    """Write a time in the unit that suits it."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.2f} s"


def _misses(timing: Timing, gate: float | None) -> bool:
    return gate is not None and timing.ratio > gate


def _verdict(ratios: list[float], gate: float | None) -> str:
    if gate is None:
        return "for orientation"
    verdict = "MISSED" if ratios[-1] > gate else "holds"
    if len(ratios) == 1:
        return verdict
    series = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return f"{verdict} after {len(ratios)} series: {series}"
