#!/usr/bin/env python3
"""scripts/test, count_tests.py, leftovers and conformance themselves, in a checkout of nothing else, where meson and ninja are shell scripts."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve().parent
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from conforming import record, rows, table  # noqa: E402  pylint: disable=wrong-import-position
PATIENCE_S = 30
LONG_GUESTS = [f"guest/l{i}" for i in range(1, 22)]
OTHER_GUESTS = [f"guest/s{i}" for i in range(1, 13)]
JOBS = [f"job/j{i}" for i in range(1, 6)]
SUITES = {"long": [*LONG_GUESTS, "guest/matrix/x", "job/long"], "always": ["guest/short"],
          "guest": [*LONG_GUESTS, "guest/matrix/x", *OTHER_GUESTS, "guest/short"], "job": JOBS}
MESON = """case $1 in
  setup) mkdir -p build/meson-logs build-asan/meson-logs build-tsan/meson-logs; touch build/build.ninja ;;
  test) case "$LISTS$*" in
      all*"--list --suite long"*) for i in %(long)s; do echo "p / $i"; done ;;
      all*"--list --suite always"*) for i in %(always)s; do echo "p / $i"; done ;;
      all*--list*"--suite job_shm --suite job_dpdk"*) for i in %(job)s; do echo "p / $i"; done ;;
      all*--list*"--suite guest"*) for i in %(guest)s; do echo "p / $i"; done ;;
      *--list*) ;;
      *) case $MESON_DOES in
          log) echo "$*" >> ran; printf "$MESON_LOG" > "$3/meson-logs/testlog.json" ;;
          spin) trap 'echo ended > meson; exit 1' TERM; echo began > meson; while :; do sleep 0.05; done ;;
        esac ;;
    esac ;;
esac
""" % {suite: " ".join(tests) for suite, tests in SUITES.items()}
STUBS = {"install-packages": "exit 0\n", "conformance": "", "programs_of_tests.py": ""}


def entry(name, out="", result="OK"):
    return json.dumps({"name": f"pinwire:x / {name}", "stdout": out, "stderr": "", "result": result, "returncode": 0, "duration": 1.0})


def google(*cases):
    """(name, verdict)..."""
    return "".join((": Skipped\nno device\n\n" if verdict == "SKIPPED" else "") + f"[ {verdict:>8} ] {name} (1 ms)\n"
                   for name, verdict in cases)


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


class Checkout(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for name in ("test", "count_tests.py", "leftovers"):
            (self.root / "scripts").mkdir(exist_ok=True)
            shutil.copy(SCRIPTS / name, self.root / "scripts" / name)
        for name, text in STUBS.items():
            executable(self.root / "scripts" / name, f"#!/bin/sh\n{text}")
        (self.root / "tests/support").mkdir(parents=True)
        (self.root / "tests/support/tsan.supp").touch()
        self.floor(1, 5, [])
        executable(self.root / "bin/meson", f"#!/bin/sh\n{MESON}")
        executable(self.root / "bin/ninja", "#!/bin/sh\n")

    def floor(self, cases, skipped, tests):
        (self.root / "tests/floor.json").write_text(json.dumps({"distinct_cases": cases, "skipped_everywhere": skipped, "rows": 0, "tests": tests}))

    def start(self, *words, **environment):
        path = f"{self.root}/bin:{os.environ['PATH']}"
        return subprocess.Popen([self.root / "scripts/test", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=dict(os.environ, PATH=path, TMPDIR=str(self.root), **environment))

    def run_test(self, log, *words, **environment):
        process = self.start(*words, **environment, MESON_DOES="log", MESON_LOG="".join(line.replace("\\", "\\\\").replace("%", "%%") + "\\n" for line in log))
        return process.communicate(timeout=PATIENCE_S)[0], process.returncode


class Runs(Checkout):
    def test_the_last_line_has_the_counts(self):
        out, status = self.run_test([entry("job/a/shm/seq/2"), entry("job/a/dpdk/par/4"), entry("guest/b", "no emulator", "SKIP")])
        self.assertEqual(status, 0, out)
        self.assertEqual(out.splitlines()[-2:], ["distinct cases: 1 passed, 1 skipped wherever they were to run", "2 passed, 0 failed, 1 skipped"])
        self.assertIn("skipped: guest/b: no emulator", out)

    def test_a_log_of_another_run_is_no_result(self):
        log = self.root / "build/meson-logs/testlog.json"
        log.parent.mkdir(parents=True)
        log.write_text(entry("job/a") + "\n")
        process = self.start(MESON_DOES="nothing")
        out = process.communicate(timeout=PATIENCE_S)[0]
        self.assertNotEqual(process.returncode, 0)
        self.assertNotIn("1 passed", out)

    def test_the_floor_is_for_a_strict_run(self):
        log = [entry("job/a"), entry("guest/rxe", "no emulator", "SKIP")]
        self.floor(2, 0, ["guest/rxe"])
        out, status = self.run_test(log)
        self.assertEqual(status, 0, out)
        out, status = self.run_test(log, "--strict")
        self.assertEqual(status, 1, out)
        for sentence in ("1 distinct cases passed, fewer than 2", "more than 0", "guest/rxe did not run, and must"):
            self.assertIn(sentence, out)
        self.assertEqual(out.splitlines()[-1], "1 passed, 3 failed, 1 skipped")

    def test_what_stays_is_named_and_fails_a_strict_run(self):
        (self.root / "build").mkdir()
        shutil.copy(shutil.which("sleep"), self.root / "build/left")
        executable(self.root / "bin/ninja", f"#!/bin/sh\n{self.root}/build/left 60 >/dev/null 2>&1 &\necho $! >> {self.root}/pids\n")
        for words, expected in (((), 0), (("--strict",), 1)):
            out, status = self.run_test([entry("job/a")], *words)
            pids = (self.root / "pids").read_text().split()
            os.kill(int(pids[-1]), signal.SIGKILL)
            self.assertEqual(status, expected, out)
            self.assertIn(f"left behind: process {pids[-1]}: {self.root}/build/left 60", out)

    def ran(self, build="build", room="guest/"):
        runs = [line.split() for line in (self.root / "ran").read_text().splitlines()]
        return sorted(word for words in runs if words[2] == build for word in words if word.startswith(room))

    def test_each_test_that_needs_a_guest_has_its_turn(self):
        for turn in range(7, 27):
            out = self.run_test([entry("guest/short")], "--turn", f"{turn:02}", LISTS="all")[0]
        self.assertEqual(self.ran(), sorted([*LONG_GUESTS, *2 * OTHER_GUESTS, *20 * ["guest/short"]]))
        self.assertIn("guest/s1 (build): it waits for its turn", out)
        self.assertIn("guest/l1 (build): long", out)

    def test_each_job_runs_under_each_sanitizer_in_one_of_two_turns(self):
        for turn in (7, 8):
            out = self.run_test([entry("job/j1")], "--sanitizers", "--turn", str(turn), LISTS="all")[0]
        self.assertIn("job/j1 (build-tsan): it waits for its turn", out)
        for build in ("build-asan", "build-tsan"):
            self.assertEqual(self.ran(build, "job/"), JOBS)

    def test_without_turns_all_jobs_run_under_sanitizers(self):
        self.run_test([entry("job/j1")], "--sanitizers", LISTS="all")
        self.assertEqual(self.ran("build-asan", "job/"), JOBS)

    def test_without_turns_all_guests_run_but_the_long(self):
        self.run_test([entry("guest/short")], LISTS="all")
        self.assertEqual(self.ran(), sorted([*OTHER_GUESTS, "guest/short"]))

    def test_a_signal_ends_what_runs(self):
        meson = self.root / "meson"
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            process = self.start(MESON_DOES="spin")
            self.addCleanup(process.kill)
            until = time.monotonic() + PATIENCE_S
            while not (meson.exists() and meson.read_text() == "began\n"):
                self.assertLess(time.monotonic(), until)
                time.sleep(0.02)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(meson.read_text(), "ended\n", number)
            meson.unlink()


class Counts(Checkout):
    def count(self, log, *words):
        path = self.root / "log"
        path.write_text("\n".join(log) + "\n")
        return subprocess.run([sys.executable, SCRIPTS / "count_tests.py", *words, path], stdout=subprocess.PIPE, text=True, check=False).stdout

    def test_skipped_cases_count_as_passed_ones_do(self):
        left_out = self.root / "left_out"
        left_out.write_text("unit/a (build-tsan): slow\njob/never: long\n")
        out = self.count([entry("unit/a", google(("A.One", "OK"), ("A.Two", "OK"), ("A.Three", "SKIPPED")))], "--left-out", left_out)
        self.assertIn("skipped: unit/a (build-tsan): slow (3 cases)", out)
        self.assertEqual(out.splitlines()[-1], f"2 passed, 0 failed, {1 + 3 + 1} skipped")

    def test_a_case_of_several_jobs_is_one(self):
        tap = "1..2\nok 1 - a.one C1-001\nok 2 - a.two C1-002 # SKIP one rank\n"
        log = [entry(f"conform/gasnet1/{job}", tap) for job in ("shm/seq/1", "dpdk/par/2")]
        log.append(entry("conform/dispatch_par/shm/thread", tap.replace(" # SKIP one rank", "")))
        log.append(entry("job/no_malloc_in_signals/cases/gasnet1/seq/shm/interrupt", tap))
        out = self.count(log)
        self.assertEqual(out.splitlines()[-2:], ["distinct cases: 2 passed, 0 skipped wherever they were to run", "5 passed, 0 failed, 3 skipped"])
        self.assertIn("skipped: conform/gasnet1/shm/seq/1: a.two C1-002: one rank", out)

    def test_a_test_that_fails_after_its_cases_fails(self):
        out = self.count([entry("unit/a", google(("A.One", "OK")), "TIMEOUT")])
        self.assertEqual(out.splitlines()[-1], "1 passed, 1 failed, 0 skipped")


class Rows(unittest.TestCase):
    """The table that scripts/conformance makes."""

    def setUp(self):
        self.record = record.Record()
        self.record.runs = [{"date": "2026-01-02", "commit": "abc"}]
        self.record.tests = {"job/ex/shm/seq/2": ("pass", 0), "unit/api_headers": ("pass", 0)}
        self.record.cases = {"a.one": ["C1-001"], "a.two": ["C1-001", "C1-002"]}
        results = {"seq": {"a.one": "pass", "a.two": "not_here"}, "par": {"a.one": "pass", "a.two": "FAIL"}}
        for mode, of_mode in results.items():
            name = f"gasnet1-shm-{mode}-2"
            self.record.jobs[name] = record.Job(name, f"conform/gasnet1/shm/{mode}/2", "gasnet1", "shm", mode, "", of_mode)

    def cells(self, name, tests=()):
        made = table.Table(self.record)
        line = made.line_of(rows.Row(name, ["M"], "asks", list(tests), "", "section"))
        return [cell.strip() for cell in line.split("|")[3:6]] + [line.split("|")[-2].strip()], made.counts

    def test_a_cell_is_empty_where_no_case_asks_anything(self):
        self.assertEqual(self.cells("C1-001")[0], ["part", "", "FAIL", ""])
        self.assertEqual(self.cells("C1-002")[0], ["", "", "FAIL", ""])

    def test_a_test_that_names_no_row_shows_none(self):
        cells, counts = self.cells("C1-999", ["job/ex/*"])
        self.assertEqual(cells, ["", "", "", "`job/ex/*`: pass (does not name it)"])
        self.assertEqual(counts, {"not run": 1})
        cells, counts = self.cells("GX-005", ["unit/api_headers"])
        self.assertEqual((cells[-1], counts), ("`unit/api_headers`: pass", {"pass": 1}))

    def test_ranges_of_rows_are_named(self):
        self.assertEqual(rows.ids_named_in("C1-098...100, /* GX_157 */ TEST(E, C1_102_104_Ends) VIS-12 1C1-001"),
                         {"C1-098", "C1-099", "C1-100", "GX-157", "C1-102", "C1-103", "C1-104"})

    def test_records_come_back_as_they_were(self):
        with tempfile.TemporaryDirectory() as folder:
            path, again = pathlib.Path(folder) / "results.json", record.Record()
            self.record.save(path)
            again.load(path)
        self.assertEqual(vars(again), vars(self.record))


unittest.main()
