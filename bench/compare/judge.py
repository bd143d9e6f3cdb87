"""Decides by paired ratios whether a row became worse. No assumption is made on how the noise is distributed: only that a
round is as likely to favour the one build as the other, if they are alike."""

import functools
import math
import statistics
from dataclasses import dataclass

LIMIT = 1.05  # a row is worse above this ratio
ERROR_SHARE = 0.05  # how likely a comparison of equal builds may find any row's interval beside 1
CLEAN, SUSPECT, WORSE, BETTER, UNCLEAR = "clean", "suspect", "WORSE", "better", "unclear"


@dataclass
class Estimate:
    """The result for one row: the median ratio of candidate to reference (above 1: the candidate costs more), and its interval."""
    count: int
    median: float
    low: float
    high: float


@functools.lru_cache(maxsize=None)
def binomial_tail(count, most):
    """The probability of at most `most` heads in `count` throws of a coin."""
    return sum(math.comb(count, heads) for heads in range(most + 1)) / 2**count


def median_interval(values, error):
    """The order statistics between which the true median lies but for a probability of `error`: the interval of the sign test.
    Infinite if there are too few values for that."""
    ordered = sorted(values)
    outside = -1  # so many values may be left out at each end
    while 2 * (outside + 2) <= len(ordered) and 2 * binomial_tail(len(ordered), outside + 1) <= error:
        outside += 1
    if outside < 0:
        return 0.0, math.inf
    return ordered[outside], ordered[-1 - outside]


def estimate(pairs, error):
    """Estimates from pairs (cost of the reference, cost of the candidate), one for each round."""
    ratios = [candidate / reference for reference, candidate in pairs]
    return Estimate(len(ratios), statistics.median(ratios), *median_interval(ratios, error))


def is_suspect(pairs):
    """Whether the first rounds make it worthwhile to measure a row again. This is lenient on purpose: judge() is strict."""
    return bool(pairs) and statistics.median(candidate / reference for reference, candidate in pairs) > LIMIT


def judge(first, again, row_count):
    """The verdict on a row of `row_count`: `first` are the pairs of the rounds of all rows, `again` those of the rounds of
    suspects. A row is worse if both say so by their medians, and the interval of all rounds together excludes 1."""
    error = ERROR_SHARE / row_count
    whole = estimate(first + again, error)
    if not is_suspect(first):
        if whole.high < 1 / LIMIT:
            return BETTER, whole
        return (CLEAN if estimate(first + again, ERROR_SHARE).high <= LIMIT else UNCLEAR), whole
    if not again:
        return SUSPECT, whole
    if is_suspect(again) and whole.median > LIMIT and whole.low > 1:
        return WORSE, whole
    return UNCLEAR, whole


def judge_counts(first, again):
    """The same for counts of instructions, which hardly scatter: worse if the least of the candidate exceeds the most of the
    reference, and the median ratio the limit."""
    pairs = first + again
    ratios = [candidate / reference for reference, candidate in pairs]
    whole = Estimate(len(pairs), statistics.median(ratios), min(ratios), max(ratios))
    apart = min(candidate for _, candidate in pairs) > max(reference for reference, _ in pairs)
    if whole.median > LIMIT and apart:
        return (WORSE if again else SUSPECT), whole
    return (BETTER if whole.high < 1 / LIMIT else CLEAN), whole
