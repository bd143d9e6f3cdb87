"""Counts the test cases of Meson's testlog.json files and prints `N passed, N failed, N skipped`.

GoogleTest and TAP programs count by their cases, any other test as one, on all three sides. A test that was not started counts
as many cases as another of the logs has of it, or as one. Before the last line comes how many distinct cases that is: the same
case over another driver, in another mode, in other jobs or builds is one. Skipped ones are named with their reason, failed ones
with their last words. Exit status 1 when anything failed, or when nothing ran, or, with --floor, when less ran than a file says.
"""

import argparse
import collections
import json
import re
import sys

CASE = re.compile(r"^\[  (     OK|SKIPPED|FAILED ) ?\] ([\w/.-]+)(?:, where .*)? \((\d+) ms\)", re.M)
TAP_PLAN = re.compile(r"^1\.\.\d+$", re.M)
TAP_CASE = re.compile(r"^(not )?ok \d+ - ([^#\n]+?)(?: # (?:SKIP|skip) (.*))?$", re.M)
LAST_LINES = 60
REASON = re.compile(r"^.*: Skipped\n(.*)$", re.M)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# Parts of the names of jobs' tests that say in which job a case runs, not which case it is.
OF_THE_JOB = re.compile(r"shm|dpdk|verbs|seq|parsync|par|poll|interrupt|watchdog|thread|nicproc|lossy|large|everything|\d+")
# Cases of tests/conform in one more job.
HOOKED = "job/no_malloc_in_signals/cases/"
NAMES_MAX = 3

Case = collections.namedtuple("Case", "name result reason")


def google_cases(out):
    reasons = iter(reason.strip() for reason in REASON.findall(out))
    results = {"OK": PASSED, "SKIPPED": SKIPPED, "FAILED": FAILED}
    for verdict, name, _ in CASE.findall(out):
        result = results[verdict.strip()]
        yield Case(name, result, next(reasons, "no reason given") if result == SKIPPED else "")


def tap_cases(out):
    for is_not, name, reason in TAP_CASE.findall(out):
        yield Case(name, SKIPPED if reason else FAILED if is_not else PASSED, reason)


def cases_of(test):
    """The cases of one test; itself, without a name, where it tells of none, or fails beyond them."""
    out, result = test.get("stdout", ""), test["result"]
    cases = list(tap_cases(out) if TAP_PLAN.search(out) else google_cases(out))
    if not cases and result == "SKIP":
        cases.append(Case("", SKIPPED, (out + test.get("stderr", "")).strip().rpartition("\n")[2] or "no reason given"))
    elif not cases and result in ("OK", "EXPECTEDFAIL"):
        cases.append(Case("", PASSED, ""))
    if result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS") and not any(case.result == FAILED for case in cases):
        cases.append(Case(f"({result.lower()})", FAILED, ""))
    return cases


def short_name(test):
    return test["name"].split(" / ")[-1]


def distinct_name(test, case):
    """The same wherever this case runs."""
    if test.startswith(HOOKED):
        test = "conform/" + test.removeprefix(HOOKED)
    room, _, rest = test.partition("/")
    if room == "conform" and case:
        return f"{room} {'ex' if rest.startswith('ex') else 'gasnet1'}: {case.split()[0]}"  # without its rows
    if room not in ("job", "conform"):
        return f"{test}: {case}"
    parts = []
    for part in rest.split("/"):
        words = [word for word in part.split("_") if not OF_THE_JOB.fullmatch(word) and word != "dispatch"]
        parts += ["_".join(words)] if words else []
    return f"{'/'.join([room, *parts])}: {case}"


def last_words(test):
    """The last output of a test that failed: the log above may be out of reach of who reads this."""
    lines = (test.get("stdout", "") + test.get("stderr", "")).strip().splitlines()[-LAST_LINES:]
    return [f"{test['name']}: status {test['returncode']} after {test['duration']:.0f} s"] + lines


class Count:
    def __init__(self):
        self.cases = collections.Counter()  # by result
        self.distinct = {PASSED: set(), SKIPPED: set()}
        self.sizes = {}  # cases of a Meson test
        self.passed_tests, self.failed, self.words = set(), [], []

    def add(self, test):
        name, cases, skipped = short_name(test), cases_of(test), collections.defaultdict(list)
        self.sizes[name] = max(len(cases), self.sizes.get(name, 1))
        for case in cases:
            self.cases[case.result] += 1
            if case.result == FAILED:
                self.failed.append(f"{test['name']}: {case.name}")
            else:
                self.distinct[case.result].add(distinct_name(name, case.name))
            if case.result == SKIPPED:
                skipped[case.reason].append(case.name)
        if any(case.result == FAILED for case in cases):
            self.words += last_words(test)
        elif any(case.result == PASSED for case in cases):
            self.passed_tests.add(name)
        for reason, names in skipped.items():
            which = [] if not names[0] else [", ".join(names) if len(names) <= NAMES_MAX else f"{len(names)} cases"]
            print(f"skipped: {': '.join([name, *which, reason])}")

    def add_left_out(self, line):
        """`name: reason`, where the name is of a Meson test, perhaps with the build in parentheses."""
        size = self.sizes.get(re.sub(r" \(.*\)$", "", line.partition(": ")[0]), 1)
        self.cases[SKIPPED] += size
        print(f"skipped: {line}" + (f" ({size} cases)" if size > 1 else ""))

    def below(self, floor):
        """Sentences about what is less than the floor says."""
        only_skipped = len(self.distinct[SKIPPED] - self.distinct[PASSED])
        if len(self.distinct[PASSED]) < floor["distinct_cases"]:
            yield f"{len(self.distinct[PASSED])} distinct cases passed, fewer than {floor['distinct_cases']}"
        if only_skipped > floor["skipped_everywhere"]:
            yield f"{only_skipped} distinct cases were skipped wherever they were to run, more than {floor['skipped_everywhere']}"
        for name in floor["tests"]:
            if name not in self.passed_tests:
                yield f"{name} did not run, and must"


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--left-out", help="file with a line `name: reason` for each test that was not started")
    parser.add_argument("--also-failed", help="file with a line for each thing that failed beside the tests")
    parser.add_argument("--floor", help="JSON file of what must have run at least")
    parser.add_argument("--not-here", default="/", metavar="PREFIX", help="tests that this machine cannot run: the floor misses none of them")
    parser.add_argument("logs", nargs="+")
    args = parser.parse_args()
    count = Count()
    for path in args.logs:
        for line in lines_of(path):
            count.add(json.loads(line))
    for line in lines_of(args.left_out) if args.left_out else []:
        count.add_left_out(line)
    failed = count.failed + (lines_of(args.also_failed) if args.also_failed else [])
    if args.floor:
        with open(args.floor, encoding="utf-8") as file:
            floor = json.load(file)
        floor["tests"] = [name for name in floor["tests"] if not name.startswith(args.not_here)]
        failed += count.below(floor)
    for line in count.words:
        print(f"| {line}")
    for name in failed:
        print(f"failed: {name}")
    only_skipped = count.distinct[SKIPPED] - count.distinct[PASSED]
    print(f"distinct cases: {len(count.distinct[PASSED])} passed, {len(only_skipped)} skipped wherever they were to run")
    print(f"{count.cases[PASSED]} passed, {len(failed)} failed, {count.cases[SKIPPED]} skipped")
    return 1 if failed or count.cases[PASSED] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
