"""Results of runs: of a build directory, or merged from several runs in the committed file of records."""

import collections
import datetime
import json
import subprocess

from .rows import CONFORM, ROOT

RECORDS = CONFORM / "results.json"
PASSED, FAILED, SKIPPED, ABSENT = "pass", "FAIL", "skip", "not_here"
OF_MESON = {"OK": PASSED, "EXPECTEDFAIL": PASSED, "SKIP": SKIPPED}  # all others: failed
SPECIFICATIONS = {"gasnet1": "", "ex": "ex_", "upc": "upc_"}  # with what goes before "dispatch" in a test's name
LETTERS = {PASSED: "p", FAILED: "f", ABSENT: "n"}
RESULTS = {letter: result for result, letter in LETTERS.items()}

# A job of cases: `results` by name. `test` is the Meson test, `name` its file's.
Job = collections.namedtuple("Job", "name test specification driver mode dispatch results")


class Record:
    def __init__(self):
        self.runs = []  # {"date", "commit"} of each run
        self.tests = {}  # name: (result, number of the run)
        self.cases = {}  # name: ids
        self.jobs = {}  # name: Job

    def results(self):
        return {name: result for name, (result, _) in self.tests.items()}

    def runs_in_use(self):
        """(date, commit, tests) of each run that still has results."""
        counts = collections.Counter(run for _, run in self.tests.values())
        return [(run["date"], run["commit"], counts[number]) for number, run in enumerate(self.runs) if counts[number]]

    # ---- of a build directory

    def add_build(self, build, logs, commit):
        """The last run there, and those of other logs; they replace what older runs say of the same tests."""
        number, ran = len(self.runs), set()
        date = datetime.date.fromtimestamp((build / "meson-logs/testlog.json").stat().st_mtime)
        self.runs.append({"date": str(date), "commit": commit})
        for path in [build / "meson-logs/testlog.json", *logs]:
            for test in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                name = test["name"].split(" / ")[-1]
                self.tests[name] = (OF_MESON.get(test["result"], FAILED), number)
                ran.add(name)
        for specification, prefix in SPECIFICATIONS.items():
            for start in ("", "dispatch-"):
                for path in sorted(build.glob(f"tests/conform/**/{start}{specification}-*.json")):
                    self._add_job(path.stem, specification, prefix if start else None, json.loads(path.read_text(encoding="utf-8")), ran)

    def _add_job(self, name, specification, prefix, job, ran):
        test = f"conform/{specification}/{job['driver']}/{job['mode']}/{job['ranks']}" + ("/alone" if job.get("shared") == "no" else "")
        if prefix is not None:
            test = f"conform/{prefix}dispatch_{job['mode']}/{job['driver']}/{job['dispatch']}"
        if test not in ran:  # the file of an earlier run is none of this one's
            return
        self.cases.update({case["name"]: case["ids"] for case in job["cases"]})
        results = {case["name"]: FAILED if case["result"] == "fail" else case["result"] for case in job["cases"]}
        self.jobs[name] = Job(name, test, specification, job["driver"], job["mode"], "" if prefix is None else job["dispatch"], results)

    # ---- of the committed file

    def load(self, path=RECORDS):
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.runs = kept["runs"]
        self.tests = {name: tuple(result) for name, result in kept["tests"].items()}
        self.cases = {name: ids.split() for name, ids in kept["cases"].items()}
        names = list(self.cases)
        for name, (*facts, letters) in kept["jobs"].items():
            results = {case: RESULTS[letter] for case, letter in zip(names, letters) if letter in RESULTS}
            self.jobs[name] = Job(name, *facts, results)

    def save(self, path=RECORDS):
        """A line for each test, case and job."""
        names = sorted({name for job in self.jobs.values() for name in job.results})
        jobs = {job.name: [*job[1:-1], "".join(LETTERS.get(job.results.get(name), "-") for name in names)] for job in self.jobs.values()}
        parts = {"runs": self.runs, "tests": dict(sorted(self.tests.items())), "cases": {name: " ".join(self.cases[name]) for name in names},
                 "jobs": dict(sorted(jobs.items()))}
        path.write_text("{\n" + ",\n".join(f'"{part}": {lines_of(values)}' for part, values in parts.items()) + "\n}\n", encoding="utf-8")


def lines_of(values):
    if isinstance(values, list):
        return "[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()) + "\n}"


def commit_of_checkout():
    asked = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return asked.stdout.strip() or "no commit"
