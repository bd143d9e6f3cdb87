"""Counts the test cases of Meson's testlog.json files and prints `N passed, N failed, N skipped`.

GoogleTest and TAP programs count by their cases, any other test as one. Skipped ones are named with their
reason, failed ones with their last words. Exit status 1 when anything failed, or when nothing ran.
"""

import argparse
import json
import re
import sys

CASE = re.compile(r"^\[  (     OK|SKIPPED|FAILED ) ?\] ([\w/.-]+)(?:, where .*)? \((\d+) ms\)", re.M)
TAP_PLAN = re.compile(r"^1\.\.\d+$", re.M)
TAP_CASE = re.compile(r"^(not )?ok \d+ - ([^#\n]+?)(?: # (?:SKIP|skip) (.*))?$", re.M)
LAST_LINES = 60
REASON = re.compile(r"^.*: Skipped\n(.*)$", re.M)


def google_cases(out):
    """(passed, failed names, {skipped name: reason})"""
    passed, failed, skipped = 0, [], []
    for verdict, name, _ in CASE.findall(out):
        if verdict.strip() == "OK":
            passed += 1
        elif verdict == "SKIPPED":
            skipped.append(name)
        else:
            failed.append(name)
    reasons = [reason.strip() for reason in REASON.findall(out)]
    reasons += ["no reason given"] * (len(skipped) - len(reasons))
    return passed, failed, dict(zip(skipped, reasons))


def tap_cases(out, test_name):
    """The same."""
    passed, failed, skipped = 0, [], {}
    for is_not, name, reason in TAP_CASE.findall(out):
        name = f"{test_name}: {name}"
        if reason:
            skipped[name] = reason
        elif is_not:
            failed.append(name)
        else:
            passed += 1
    return passed, failed, skipped


def cases_of(test):
    """(passed, failed names, {skipped name: reason}) of one test."""
    out = test.get("stdout", "")
    passed, failed, skipped = tap_cases(out, test["name"]) if TAP_PLAN.search(out) else google_cases(out)
    result = test["result"]
    if passed + len(failed) + len(skipped) == 0:
        if result == "SKIP":
            skipped[test["name"]] = (out + test.get("stderr", "")).strip().rpartition("\n")[2] or "no reason given"
        elif result in ("OK", "EXPECTEDFAIL"):
            passed += 1
    if result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS") and not failed:
        failed.append(f"{test['name']} ({result.lower()})")
    return passed, failed, skipped


def last_words(test):
    """What a test that failed printed last: the log above may be out of reach of who reads this."""
    lines = (test.get("stdout", "") + test.get("stderr", "")).strip().splitlines()[-LAST_LINES:]
    return [f"{test['name']}: status {test['returncode']} after {test['duration']:.0f} s"] + lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--left-out", help="file with a line `name: reason` for each test that was not started")
    parser.add_argument("logs", nargs="+")
    args = parser.parse_args()
    passed, failed, skipped, words = 0, [], [], []
    for path in args.logs:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                p, f, s = cases_of(test)
                passed += p
                failed += f
                skipped += s
                words += last_words(test) if f else []
                for name, why in s.items():
                    print(f"skipped: {name}: {why}")
    if args.left_out:
        with open(args.left_out, encoding="utf-8") as lines:
            for line in lines:
                print(f"skipped: {line.strip()}")
                skipped.append(line.partition(": ")[0])
    for line in words:
        print(f"| {line}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed or passed == 0 else 0)


main()
