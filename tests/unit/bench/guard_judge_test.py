#!/usr/bin/env python3
"""The statistics of bench/guard on made-up samples. Usage: guard_judge_test.py SOURCE_ROOT [unittest arguments]"""

import math
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, f"{sys.argv[1]}/bench/compare")

from judge import BETTER, CLEAN, SUSPECT, UNCLEAR, WORSE, binomial_tail, is_suspect, judge, judge_counts, median_interval  # noqa: E402

ROWS = 100
TRIALS = 200  # of rows; their seeds are fixed, so each run of this test is the same


def measured(generator, rounds, slowdown, noise):
    """Pairs as a shared machine gives them: spells that both builds see, noise of each run, and single runs that take several
    times as long, by chance of either build."""
    pairs = []
    for _ in range(rounds):
        spell = generator.choice([100, 100, 350])
        pairs.append(tuple(spell * slow * math.exp(generator.gauss(0, noise)) * (4 if generator.random() < 0.02 else 1)
                           for slow in (1, slowdown)))
    return pairs


def verdicts(slowdown, noise, first_rounds=14, again_rounds=12):
    """Judges many rows, each as guard does."""
    found = []
    for seed in range(TRIALS):
        generator = random.Random(seed)
        first = measured(generator, first_rounds, slowdown, noise)
        again = measured(generator, again_rounds, slowdown, noise) if is_suspect(first) else []
        found.append(judge(first, again, ROWS)[0])
    return found


class Judge(unittest.TestCase):
    def test_equal_builds_are_never_worse_however_they_scatter(self):
        for noise in (0.01, 0.05, 0.2, 0.5):
            self.assertNotIn(WORSE, verdicts(1.0, noise), noise)

    def test_equal_builds_with_little_noise_are_clean(self):
        self.assertGreaterEqual(verdicts(1.0, 0.01).count(CLEAN), 0.95 * TRIALS)

    def test_ten_percent_are_found(self):
        self.assertGreaterEqual(verdicts(1.10, 0.01).count(WORSE), 0.98 * TRIALS)
        self.assertGreaterEqual(verdicts(1.10, 0.04).count(WORSE), 0.85 * TRIALS)

    def test_three_percent_are_not(self):
        self.assertNotIn(WORSE, verdicts(1.03, 0.01))
        self.assertLessEqual(verdicts(1.03, 0.05).count(WORSE), 0.02 * TRIALS)

    def test_too_much_noise_is_said_to_be_unclear_and_not_clean(self):
        found = verdicts(1.10, 0.5)
        self.assertLessEqual(found.count(CLEAN), 0.05 * TRIALS)
        self.assertGreater(found.count(UNCLEAR), 0.8 * TRIALS)

    def test_a_faster_build_is_better(self):
        self.assertGreaterEqual(verdicts(0.8, 0.02).count(BETTER), 0.7 * TRIALS)

    def test_a_suspect_must_be_slow_in_rounds_of_its_own(self):
        slow, same = [(100.0, 110.0)] * 20, [(100.0, 100.0)] * 20
        self.assertEqual(judge(slow, slow, ROWS)[0], WORSE)
        self.assertEqual(judge(slow, same, ROWS)[0], UNCLEAR)
        self.assertEqual(judge(slow, [], ROWS)[0], SUSPECT)

    def test_few_rounds_prove_nothing(self):
        for count in (1, 5):
            self.assertNotEqual(judge([(100.0, 200.0)] * count, [(100.0, 200.0)], ROWS)[0], WORSE)
        self.assertEqual(judge([(100.0, 100.0)] * 2, [], ROWS)[0], UNCLEAR)

    def test_counts_need_no_many_rounds_but_must_not_overlap(self):
        self.assertEqual(judge_counts([(400, 401)], [])[0], CLEAN)
        self.assertEqual(judge_counts([(400, 440)], [])[0], SUSPECT)
        self.assertEqual(judge_counts([(400, 440)], [(402, 441), (400, 440)])[0], WORSE)
        self.assertEqual(judge_counts([(400, 440)], [(445, 441), (400, 440)])[0], CLEAN)
        self.assertEqual(judge_counts([(400, 350)], [])[0], BETTER)


class Interval(unittest.TestCase):
    def test_the_tail_of_the_binomial_distribution(self):
        self.assertEqual(binomial_tail(4, 0), 1 / 16)
        self.assertEqual(binomial_tail(4, 1), 5 / 16)
        self.assertEqual(binomial_tail(4, 4), 1)

    def test_it_is_that_of_the_sign_test(self):
        # For 10 values, 2 * P(at most 1) = 0.0215 and 2 * P(at most 2) = 0.109.
        self.assertEqual(median_interval(range(1, 11), 0.05), (2, 9))
        self.assertEqual(median_interval(range(1, 11), 0.11), (3, 8))
        self.assertEqual(median_interval(range(1, 6), 0.05), (0, math.inf))

    def test_it_holds_the_median_as_often_as_it_says(self):
        generator, missed = random.Random(1), 0
        for _ in range(2000):
            low, high = median_interval([generator.gauss(0, 1) for _ in range(15)], 0.05)
            missed += not low <= 0 <= high
        self.assertLessEqual(missed, 0.05 * 2000)
        self.assertGreater(missed, 0.02 * 2000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
