#!/usr/bin/env python3
"""bench/threads in real jobs. Usage: threads_test.py THREADS_PY BUILD DRIVER [unittest arguments]"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL, BUILD, DRIVER = sys.argv[1:4]
TIME_LIMIT_S = 100


def start(*words, **more):
    return subprocess.Popen([sys.executable, TOOL, "--build", BUILD, "--drivers", DRIVER, *words], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


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


class Threads(unittest.TestCase):
    def test_tables_and_json_have_every_measurement(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out.json"
            code, out, err = finish(start("--threads", "1,3", "--turns", "1", "--seconds", "0.02", "--json", str(path)))
            self.assertEqual(code, 0, err)
            rows = json.loads(path.read_text())
        self.assertEqual({(row["op"], row["ranks"], row["threads"]) for row in rows},
                         {(op, *kind) for op in ("am_short", "put_nbi_8") for kind in ((2, 1), (2, 3), (6, 1))})
        for row in rows:
            self.assertEqual(row["driver"], DRIVER)
            self.assertGreater(row["msgs_per_s"], 0)
        for title in ("Short AM", "8-byte put"):
            self.assertIn(f"{title} over {DRIVER}, millions a second", out)
        self.assertIn("3 of 3: ", err)

    def test_bad_arguments_get_a_sentence(self):
        for words in (["--threads", "0"], ["--threads", "many"], ["--drivers", "pigeon"], ["--turns", "0"]):
            code, _, err = finish(start(*words))
            self.assertEqual(code, 2, words)
            self.assertIn(words[0], err)

    def test_control_c_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            process = start("--seconds", "60", env=dict(os.environ, GASNET_TMPDIR=folder))
            limit = time.monotonic() + TIME_LIMIT_S
            while not list(pathlib.Path(folder).iterdir()) and time.monotonic() < limit:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            code, _, err = finish(process)
            self.assertEqual(code, 130, err)
            self.assertIn("stopped", err)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
            self.assertEqual(processes_of(f"GASNET_TMPDIR={folder}\0"), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
