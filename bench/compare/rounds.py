"""Measures both builds in turns: a first pass over all jobs, then one over those of rows that look worse."""

import time
from collections import defaultdict

from counts import JOB, count_pairs, countable_rows
from judge import is_suspect
from process import Failed
from rows import run_job

FIRST_SHARE = 0.6  # of the time
AGAIN_ROUNDS_MAX = 25


class Comparison:
    def __init__(self, builds, jobs, scratch, say):
        self.builds, self.scratch, self.say = builds, scratch, say  # builds: {"reference": path, "candidate": path}
        self.jobs = [job for job in jobs if job.name != JOB and self.has_program(job)]
        self.counted = countable_rows(builds, scratch, say) if any(job.name == JOB for job in jobs) else []
        self.units = {}  # of each row
        self.first, self.again = defaultdict(list), defaultdict(list)  # {row: [(reference, candidate)]}

    def has_program(self, job):
        needed = [job.program] + (["driver/dpdk/switch/pinwire_switch"] if job.environment.get("GASNET_DRIVER") == "dpdk" else [])
        for side, build in self.builds.items():
            for program in needed:
                if not (build / program).is_file():
                    self.say(f"{job.name}: left out, the {side} has no {program}")
                    return False
        return True

    def pairs_of(self, job, turn):
        """{row: (reference, candidate)} of one run of each build. Every other turn the candidate is first."""
        rows = {}
        for side in list(self.builds) if turn % 2 == 0 else list(self.builds)[::-1]:
            try:
                rows[side] = run_job(job, self.builds[side], self.scratch)
            except Failed as bad:
                if side == "candidate":
                    raise
                # A defect of the older commit is no reason not to measure the rest.
                self.say(f"{job.name}: left out, the reference fails: {bad}")
                return None
        both = [name for name in rows["reference"] if name in rows["candidate"]]
        self.units.update(dict.fromkeys(both, job.unit))
        return {name: (rows["reference"][name], rows["candidate"][name]) for name in both}

    def one_round(self, jobs, pairs, turn):
        """Returns the jobs that can go on."""
        going_on = []
        for job in jobs:
            found = self.pairs_of(job, turn)
            if found is None:
                continue
            going_on.append(job)
            for name, pair in found.items():
                pairs[name].append(pair)
        return going_on

    def count_once(self, rows, pairs, turn):
        for name, pair in count_pairs(rows, self.builds, self.scratch, turn).items():
            self.units[name] = "instructions"
            pairs[name].append(pair)

    def rounds(self, jobs, pairs, until, rounds_max, what):
        """Rounds while the next is likely to end in time, one at least. Returns the jobs that can go on."""
        turn, longest = 0, 0.0
        while jobs and turn < rounds_max and (turn == 0 or time.monotonic() + longest < until):
            self.say(f"{what}: round {turn + 1}, {len(jobs)} jobs of each build, {max(0, until - time.monotonic()):.0f} s left")
            start = time.monotonic()
            jobs = self.one_round(jobs, pairs, turn)
            longest = max(longest, time.monotonic() - start)
            turn += 1
        return jobs

    def measure(self, seconds, rounds_max):
        start = time.monotonic()
        self.count_once(self.counted, self.first, 0)
        jobs = self.rounds(self.jobs, self.first, start + FIRST_SHARE * seconds, rounds_max, "all rows")
        suspects = [name for name, pairs in self.first.items() if is_suspect(pairs)]
        if not suspects:
            return
        counted = [row for row in self.counted if f"{JOB} {row}" in suspects]
        for turn in (1, 2):
            self.count_once(counted, self.again, turn)
        narrow = []
        for job in jobs:
            names = [name for name in suspects if name.startswith(job.name + " ")]
            narrow += [job.narrow(names)] if names else []
        self.rounds(narrow, self.again, start + seconds, min(rounds_max, AGAIN_ROUNDS_MAX), f"{len(suspects)} suspects again")
