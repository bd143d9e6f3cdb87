"""Runs the conformance cases of one program over one driver, in one mode: a job for all that can share
one, a job each for those that cannot. Prints TAP for Meson, and leaves the results as JSON for
scripts/conformance."""

import argparse
import collections
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

JOB_TIMEOUT_S = 500  # only a hang reaches it
VERDICT = re.compile(r"^@case (\d+) (\w+) (\S+) ?(.*)$", re.M)
JOB_NOT_HERE = re.compile(r"^@job not_here (.*)$", re.M)
JOB_FAILED = re.compile(r"^@job failed (.*)$", re.M)

PRCTL, PR_SET_PDEATHSIG = ctypes.CDLL(None).prctl, 1

Case = collections.namedtuple("Case", "name ids kind scope code says")
Ending = collections.namedtuple("Ending", "code out err")


def cases_of(program):
    """The lines of `program --list`, in the order in which the cases run."""
    listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    cases = []
    for line in listed.splitlines():
        name, ids, kind, scope, code, says = line.split("\t")
        cases.append(Case(name, ids.split(), kind, scope, int(code), [s for s in says.split("|") if s]))
    return cases


def end_with_parent():
    """In the launcher: SIGTERM, which ends the job, once this script has gone, killed perhaps."""
    PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)


def end_on_signals(process):
    def end(number, _):
        process.terminate()
        process.wait()
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


class Runner:
    def __init__(self, options):
        self.options = options
        self.results = []

    def job(self, *arguments):
        """One job; its marks lie in a directory of its own."""
        with tempfile.TemporaryDirectory(prefix="conform-") as marks:
            command = [self.options.launcher, "-n", str(self.options.ranks), self.options.program, *arguments]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       errors="replace", env=environment(self.options, marks), preexec_fn=end_with_parent)
            end_on_signals(process)
            try:
                out, err = process.communicate(timeout=JOB_TIMEOUT_S)
                return Ending(process.returncode, out, err)
            except subprocess.TimeoutExpired:
                process.terminate()
                out, err = process.communicate()
                return Ending("none: it hung", out, err)

    def record(self, case, result, reason=""):
        self.results.append({"name": case.name, "ids": case.ids, "result": result, "reason": reason})

    def run_shared(self, cases):
        """All in one job; where it breaks down, the case at fault fails and a new job runs the rest."""
        while cases:
            ending = self.job("--from", cases[0].name)
            said = collections.defaultdict(dict)
            for rank, verdict, name, text in VERDICT.findall(ending.out):
                said[name][int(rank)] = (verdict, text)
            while cases and len(said[cases[0].name]) == self.options.ranks:
                self.record(cases[0], *joined(said[cases.pop(0).name]))
            if cases:
                self.record(cases.pop(0), "fail", f"the job ended in it, with {ending.code}: {tail(ending)}")
            elif ending.code != 0:
                self.results[-1].update(result="fail", reason=f"the job ended with {ending.code}: {tail(ending)}")

    def run_alone(self, case):
        ending = self.job("--job", case.name)
        failed, not_here = JOB_FAILED.search(ending.out), JOB_NOT_HERE.search(ending.out)
        missing = [words for words in case.says if words not in ending.out + ending.err]
        if failed:
            self.record(case, "fail", failed[1])
        elif ending.code != case.code:
            self.record(case, "fail", f"ended with {ending.code}, expected {case.code}: {tail(ending)}")
        elif not_here:
            self.record(case, "not_here", not_here[1])
        elif missing:
            self.record(case, "fail", f"did not say {missing[0]!r}: {tail(ending)}")
        else:
            self.record(case, "pass")


def environment(options, marks):
    return {**os.environ, "GASNET_DRIVER": options.driver, "CONFORM_DIR": marks, "CONFORM_WORD": "spoken at the start"}


def joined(verdicts):
    """(result, reason) of a case from what each rank says of it."""
    failed = [f"rank {rank}: {text}" for rank, (verdict, text) in sorted(verdicts.items()) if verdict == "fail"]
    kinds = {verdict for verdict, _ in verdicts.values()}
    if failed:
        return "fail", failed[0]
    if kinds == {"not_here"}:
        return "not_here", verdicts[0][1]
    return ("pass", "") if kinds == {"ok"} else ("fail", "some ranks say that it asks nothing of this job, others that it passed")


def tail(ending):
    return " / ".join((ending.err.strip() or ending.out.strip() or "no output").splitlines()[-4:])


def print_tap(results):
    """Cases that ask nothing of such a job are skipped, with their reason."""
    print(f"1..{len(results)}")
    for number, result in enumerate(results, 1):
        word, skip = "not ok" if result["result"] == "fail" else "ok", ""
        if result["result"] == "not_here":
            skip = f" # SKIP {result['reason']}"
        print(f"{word} {number} - {result['name']} {' '.join(result['ids'])}{skip}")
        if result["result"] == "fail":
            print(f"# {result['reason']}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("launcher", "program", "driver", "mode", "json"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--alone", choices=["all", "network", "none"], required=True,
                        help="which of the cases that need a job of their own")
    parser.add_argument("--shared", choices=["yes", "no"], default="yes", help="whether those run that share a job")
    parser.add_argument("--only", help="cases whose name has this in it", default="")
    options = parser.parse_args()

    results_file = pathlib.Path(options.json)
    results_file.unlink(missing_ok=True)  # those of an earlier run are none of this one's
    cases = [case for case in cases_of(options.program) if options.only in case.name]
    runner = Runner(options)
    if options.shared == "yes":
        runner.run_shared([case for case in cases if case.kind == "case"])
    for case in cases:
        if case.kind == "job" and (options.alone == "all" or options.alone == case.scope):
            runner.run_alone(case)
    print_tap(runner.results)
    results_file.write_text(json.dumps(
        {"driver": options.driver, "mode": options.mode, "ranks": options.ranks, "dispatch": os.environ.get("GASNET_DISPATCH", "poll"),
         "shared": options.shared, "cases": runner.results}, indent=1))
    # In a guest the status is all that Meson looks at.
    return 1 if any(result["result"] == "fail" for result in runner.results) else 0


sys.exit(main())
