#!/usr/bin/env python3
"""run_cases.py itself, with a launcher and a program of cases that are shell scripts."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUN_CASES = pathlib.Path(__file__).with_name("run_cases.py")
PATIENCE_S = 20
# Name, rows, kind, scope, exit code and words of each case.
LISTED = "\n".join("\t".join(words) for words in (
    ("a.passes", "C1-001", "case", "network", "0", ""), ("a.fails", "C1-002", "case", "network", "0", ""),
    ("a.absent", "C1-003", "case", "network", "0", ""), ("j.good", "C1-004", "job", "local", "42", "said so"),
    ("j.failed_before", "C1-005", "job", "local", "42", ""), ("j.silent", "C1-006", "job", "local", "0", "said so"),
    ("j.absent", "C1-007", "job", "network", "0", "")))
PROGRAM = f"""case "$*" in
  --list) cat <<'END'
{LISTED}
END
  ;;
  "--from "*) echo "@case 0 ok a.passes "; echo "@case 0 fail a.fails it is wrong"; echo "@case 0 not_here a.absent one rank" ;;
  "--job j.good") echo "rank 0 said so"; exit 42 ;;
  "--job j.failed_before") printf '\\n@job failed here: expected more\\n'; exit 42 ;;
  "--job j.absent") echo "@job not_here another mode" ;;
esac
"""
SPINS = """echo $$ > "$PID_FILE"
trap 'echo ended > "$PID_FILE"; exit 9' TERM
while :; do sleep 0.05; done
"""


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class RunCases(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.program = self.script("program", PROGRAM)
        self.json = self.folder / "results.json"

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        path.chmod(0o755)
        return path

    def start(self, launcher, **environment):
        return subprocess.Popen([sys.executable, RUN_CASES, "--launcher", self.script("launcher", launcher), "--program", self.program, "--driver", "shm",
                                 "--mode", "seq", "--ranks", "1", "--alone", "all", "--json", self.json], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=dict(os.environ, TMPDIR=str(self.folder), **environment))

    def test_every_kind_of_end(self):
        process = self.start('shift 2; exec "$@"\n')
        out = process.communicate(timeout=PATIENCE_S)[0]
        self.assertEqual(process.returncode, 1, out)
        for line in ("1..7", "ok 1 - a.passes C1-001", "not ok 2 - a.fails C1-002", "# rank 0: it is wrong", "ok 3 - a.absent C1-003 # SKIP one rank",
                     "ok 4 - j.good C1-004", "not ok 5 - j.failed_before C1-005", "# here: expected more", "not ok 6 - j.silent C1-006",
                     "ok 7 - j.absent C1-007 # SKIP another mode"):
            self.assertIn(line, out.splitlines())
        results = {case["name"]: case["result"] for case in json.loads(self.json.read_text(encoding="utf-8"))["cases"]}
        self.assertEqual(results, {"a.passes": "pass", "a.fails": "fail", "a.absent": "not_here", "j.good": "pass", "j.failed_before": "fail",
                                   "j.silent": "fail", "j.absent": "not_here"})

    def test_its_end_is_the_end_of_its_job(self):
        pid_file = self.folder / "pid"
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            process = self.start(SPINS, PID_FILE=str(pid_file))
            self.wait_for(lambda: pid_file.exists() and pid_file.read_text(encoding="utf-8").strip().isdigit())
            self.addCleanup(end, int(pid_file.read_text(encoding="utf-8")))
            process.send_signal(number)
            self.wait_for(lambda: pid_file.read_text(encoding="utf-8").strip() == "ended")
            process.communicate(timeout=PATIENCE_S)
            self.assertNotEqual(process.returncode, 0)
            pid_file.unlink()

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), until, "it does not come to be")
            time.sleep(0.02)


unittest.main()
