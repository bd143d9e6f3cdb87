#!/usr/bin/env python3
"""bench/guard in real jobs, with few rounds: a build beside itself. Usage: guard_test.py GUARD BUILD [unittest arguments]"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GUARD, BUILD = sys.argv[1:3]
TIME_LIMIT_S = 200
ITSELF = ["--build", BUILD, "--against", BUILD, "--no-build"]
AM_ROWS = {f"shm seq am {test} {operation}" for test in ("pingpong", "flood")
           for operation in ("am_short 0", "am_medium 8", "am_long 8", "am_long 65536")}


def start(*words, **more):
    return subprocess.Popen([sys.executable, GUARD, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def finish(process):
    try:
        out, err = process.communicate(timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"no end after {TIME_LIMIT_S} s\n{out}\n{err}") from None
    return process.returncode, out, err


def processes_of(folder):
    """Those whose environment names the folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and folder in (entry / "environ").read_text(errors="replace"):
                found.append(entry.name)
        except OSError:
            pass  # ended meanwhile
    return found


class Guard(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, TMPDIR=folder.name, GASNET_TMPDIR=folder.name)

    def run_guard(self, *words):
        return finish(start(*words, env=self.environment))

    def assert_nothing_is_left(self):
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(processes_of(f"GASNET_TMPDIR={self.folder}\0"), [])

    def test_one_round_against_itself_judges_nothing_worse(self):
        with tempfile.TemporaryDirectory() as other:
            path = pathlib.Path(other) / "out.json"
            code, out, err = self.run_guard(*ITSELF, "--jobs", "shm seq am", "--rounds", "1", "--json", str(path))
            self.assertEqual(code, 0, err)
            rows = json.loads(path.read_text())
        self.assertEqual({row["row"] for row in rows}, AM_ROWS)
        for row in rows:
            self.assertEqual(len(row["first"]), 1)
            self.assertTrue(all(cost > 0 for pair in row["first"] for cost in pair), row)
            self.assertIn(row["row"], out)
        self.assertIn("8 rows: 0 worse by more than 5 %", out)
        self.assertIn("round 1, 1 jobs of each build", err)
        self.assert_nothing_is_left()

    def test_wrong_arguments_get_a_sentence(self):
        for words, sentence in (
                (["--minutes", "0"], "--minutes takes more than 0"), (["--rounds", "0"], "--rounds at least 1"),
                (["HEAD", "--against", BUILD], "exclude each other"), (["--jobs", "pigeon"], "no job is named pigeon; there are: shm seq am"),
                (["--build", "/nowhere"], "/nowhere is no build directory; make one with"),
                (["--json", "/nowhere/rows"], "cannot write /nowhere"),
                (["--build", BUILD, "--no-build", "no-such-commit"], "no-such-commit names no commit")):
            code, out, err = self.run_guard(*words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(sentence, err)
        self.assert_nothing_is_left()

    def test_programs_that_are_missing_are_named(self):
        empty = self.folder / "empty"
        empty.mkdir()
        (empty / "build.ninja").touch()
        code, _, err = self.run_guard("--build", BUILD, "--against", str(empty), "--no-build", "--jobs", "shm seq am")
        self.assertEqual(code, 2)
        self.assertIn("shm seq am: left out, the reference has no bench/flood", err)
        self.assertIn("nothing was compared", err)

    def test_signals_leave_nothing(self):
        for number, code_wanted in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = start(*ITSELF, "--jobs", "shm*", env=self.environment)
            limit = time.monotonic() + TIME_LIMIT_S
            # The launcher of a job makes a directory beside that of guard.
            while len(list(self.folder.iterdir())) < 2 and time.monotonic() < limit:
                time.sleep(0.02)
            process.send_signal(number)
            code, out, err = finish(process)
            self.assertEqual((code, out), (code_wanted, ""), err)
            self.assertIn("stopped; nothing is left behind", err)
            self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
