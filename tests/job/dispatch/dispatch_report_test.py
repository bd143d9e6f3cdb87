#!/usr/bin/env python3
"""scripts/dispatch-report in real jobs, what it writes and what it says, not how fast anything is.
Usage: dispatch_report_test.py DISPATCH_REPORT BUILD DRIVER [unittest arguments]"""

import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from plots import SVG, has_matplotlib, without_matplotlib  # noqa: E402
from run_script import run_script  # noqa: E402

REPORT, BUILD, DRIVER = sys.argv[1:4]
TIME_LIMIT_S = 200
MODES = ["poll", "interrupt", "watchdog", "thread", "nicproc"]
SHORT = ["--turns", "1", "--count", "10", "--seconds", "0.01", "--busy", "0,100"]


def run(*words, **more):
    return run_script([REPORT, "--build", BUILD, "--drivers", DRIVER, *words], TIME_LIMIT_S, **more)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name) / "report"
        cls.code, cls.said, cls.err = run("--out", str(cls.out), *SHORT)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.assertEqual(self.code, 0, self.err)

    def test_json_has_every_measurement_of_every_mode(self):
        facts = json.loads((self.out / "dispatch.json").read_text(encoding="utf-8"))
        rows = facts["rows"]
        self.assertEqual({row["mode"] for row in rows}, set(MODES))
        self.assertEqual({row["driver"] for row in rows}, {DRIVER})
        for mode in MODES:
            served = [] if mode == "poll" else [-2, -1]
            for what in ("round_trip", "one_way"):
                self.assertEqual(sorted(row["busy_us"] for row in rows if (row["mode"], row["what"]) == (mode, what)), served + [0, 100])
            self.assertEqual(sorted(row["busy_us"] for row in rows if (row["mode"], row["what"]) == (mode, "throughput")), served[1:] + [0])
            for what in ("lost", "idle", "hold_resume", "hsl", "mutex", "raw_wake", "raw_wake_across"):
                self.assertEqual(len([row for row in rows if (row["mode"], row["what"]) == (mode, what)]), 1, (mode, what))
        for row in rows:
            if row["what"] in ("round_trip", "one_way", "raw_wake", "raw_wake_across"):
                self.assertGreaterEqual(row["count"], 10, row)
                self.assertGreater(row["p10_us"], 0, row)
                self.assertLessEqual(row["p10_us"], row["median_us"], row)
                self.assertLessEqual(row["median_us"], row["p90_us"], row)
            if row["what"] == "throughput":
                self.assertGreater(row["messages_per_s"], 0, row)

    def test_tables_have_a_line_of_every_mode(self):
        tables = (self.out / "dispatch.md").read_text(encoding="utf-8")
        self.assertEqual(self.said, tables)
        parts = tables.split("\n\n| ")[1:]
        self.assertEqual(len(parts), 4, tables)
        for part in parts:
            widths = {line.count("|") for line in ("| " + part).strip().splitlines() if line.startswith("|")}
            self.assertEqual(len(widths), 1, part)
            for mode in MODES:
                self.assertIn(f"| {mode} | ", part)
        self.assertIn("hold+resume", parts[3])

    @unittest.skipUnless(has_matplotlib(), "no python3-matplotlib (scripts/install-packages plot)")
    def test_the_plot_is_well_formed_and_names_every_mode(self):
        root = xml.etree.ElementTree.parse(self.out / "dispatch.svg").getroot()
        self.assertEqual(root.tag, SVG + "svg")
        drawn = (self.out / "dispatch.svg").read_text(encoding="utf-8")
        for mode in MODES + [DRIVER, "raw wake", "100 µs"]:
            self.assertIn(f"<!-- {mode} -->", drawn)
        self.assertGreater(len(root.findall(f".//{SVG}path")), 2 * len(MODES))


class Mistakes(unittest.TestCase):
    def check(self, words, *sentence):
        code, _, err = run(*words)
        self.assertEqual(code, 2, err)
        for part in sentence:
            self.assertIn(part, err)

    def test_each_gets_a_sentence(self):
        self.check(["--modes", "poll,signal"], "poll, interrupt, watchdog, thread, nicproc", "'poll,signal'")
        self.check(["--drivers", "ucx"], "shm, dpdk, verbs", "'ucx'")
        self.check(["--busy", "1,x"], "microseconds", "'1,x'")
        self.check(["--count", "9"], "10 to 1000000")
        self.check(["--turns", "0"], "--turns at least 1")
        self.check(["--seconds", "0"], "--seconds takes more than 0")
        self.check(["--nonsense"], "--nonsense")
        self.check(["--svg", "x.svg"], "--out DIR")
        self.check(["--out"], "--out wants the name of a directory")
        self.check(["--out", "/proc/report"], "/proc/report", "--out DIR")
        self.check(["--build", "/nonexistent"], "/nonexistent", "ninja")

    def test_without_matplotlib_the_tables_are_written_all_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "report"
            code, _, err = run("--out", str(out), "--modes", "poll", *SHORT, env=without_matplotlib(folder))
            self.assertEqual(code, 0, err)
            self.assertIn("install python3-matplotlib", err)
            self.assertEqual(sorted(path.name for path in out.iterdir()), ["dispatch.json", "dispatch.md"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
