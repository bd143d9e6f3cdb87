#!/usr/bin/env python3
"""bench/flood/plot.py on made-up measurements. Usage: plot_test.py SOURCE_ROOT [unittest arguments]"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench/flood"), str(ROOT / "tests/support")]

import plot  # noqa: E402
from plots import PLOTTING_PYTHON, SVG, has_matplotlib, without_matplotlib  # noqa: E402


def row(driver, test, operation, size, depth=1, p50_us=1.0, bytes_per_s=1e9):
    return {"driver": driver, "test": test, "op": operation, "bytes": size, "depth": depth, "p50_us": p50_us, "bytes_per_s": bytes_per_s}


ROWS = [row(driver, test, operation, size) for driver in ("shm", "dpdk") for size in (8, 4096, 1 << 20)
        for test, operations in plot.DRAWN.items() for operation in operations]
REFERENCES = [{"driver": "shm", "reference": "barrier", "us": 0.2}, {"driver": "shm", "reference": "cache_line", "us": 0.25},
              {"driver": "shm", "reference": "memcpy", "bytes": 1 << 20, "bytes_per_s": 2e10}]
DEVICE = [{"level": "ethdev", "test": "stream", "direction": "0->1", "bytes": 64, "bytes_per_s": 3e8},
          {"level": "ethdev", "test": "pingpong", "bytes": 64, "p50_us": 0.9}]


class Words(unittest.TestCase):
    def test_values_have_the_unit_that_fits(self):
        for us, text in ((0.001, "1 ns"), (0.25, "250 ns"), (1, "1 µs"), (1e4, "10 ms"), (5e6, "5 s"), (5e9, "5000 s")):
            self.assertEqual(plot.time_text(us), text)
        for rate, text in ((8, "8 B/s"), (1e4, "10 kB/s"), (1e9, "1 GB/s"), (2.5e12, "2.5 TB/s")):
            self.assertEqual(plot.bandwidth_text(rate), text)
        for size, text in ((1, "1 B"), (1000, "1000 B"), (4096, "4 KiB"), (5000, "5000 B"), (1 << 22, "4 MiB")):
            self.assertEqual(plot.bytes_text(size), text)


class Points(unittest.TestCase):
    def test_sizes_rise_and_the_deepest_stands_for_a_depth_sweep(self):
        rows = [row("shm", "flood", "put_nb", 4096), row("shm", "flood", "put_nb", 8, depth=1, bytes_per_s=1),
                row("shm", "flood", "put_nb", 8, depth=256, bytes_per_s=2), row("dpdk", "flood", "put_nb", 16),
                row("shm", "pingpong", "put_nb", 32), row("shm", "flood", "am_short", 0)]
        self.assertEqual(plot.points(rows, "shm", "flood", "put_nb", plot.bandwidth), ([8, 4096], [2, 1e9]))
        self.assertEqual(plot.points(rows, "shm", "flood", "am_short", plot.bandwidth), ([], []))


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.svg = self.put("plot.svg", None)

    def put(self, name, rows):
        path = pathlib.Path(self.folder.name) / name
        if rows is not None:
            path.write_text(json.dumps(rows), encoding="utf-8")
        return str(path)

    def draw(self, *words, python=None, **more):
        python = python or subprocess.run([PLOTTING_PYTHON], capture_output=True, text=True, check=False).stdout.strip()
        return subprocess.run([python, ROOT / "bench/flood/plot.py", "--svg", self.svg, *words], capture_output=True, text=True, check=False, **more)

    @unittest.skipUnless(has_matplotlib(), "no python3-matplotlib (scripts/install-packages plot)")
    def test_both_drivers_with_every_line_and_what_they_are_compared_with(self):
        done = self.draw(self.put("rows.json", ROWS), "--references", self.put("references.json", REFERENCES),
                         "--device", self.put("device.json", DEVICE))
        self.assertEqual(done.returncode, 0, done.stderr)
        root = xml.etree.ElementTree.parse(self.svg).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        drawn = pathlib.Path(self.svg).read_text(encoding="utf-8")
        for words in ["shm", "dpdk", "8 B", "4 KiB", "1 MiB", *plot.WORDS.values(), "floor: one cache line, both ways",
                      "ceiling: memcpy of 1 MiB", "floor: the bare device, both ways", "ceiling: the bare device"]:
            self.assertIn(f"<!-- {words} -->", drawn)

    @unittest.skipUnless(has_matplotlib(), "no python3-matplotlib (scripts/install-packages plot)")
    def test_files_that_are_not_what_they_should_be_get_a_sentence(self):
        rows = self.put("rows.json", ROWS)
        for words, *sentence in (([self.put("none.json", None)], "none.json", "flood --json"),
                                 ([self.put("references.json", REFERENCES)], 'without "op"', "flood --json"),
                                 ([self.put("empty.json", [])], "hold no measurement"),
                                 ([rows, "--references", rows], 'without "reference"', "flood --references-json"),
                                 ([rows, "--device", rows], 'without "level"', "raw_port --json"),
                                 ([rows, "--svg", "/nonexistent/x.svg"], "/nonexistent/x.svg", "--svg FILE")):
            done = self.draw(*words)
            self.assertEqual(done.returncode, 1, done.stderr)
            for part in sentence:
                self.assertIn(part, done.stderr)
            self.assertEqual(done.stderr.count("plot.py: "), 1, done.stderr)  # beside it matplotlib may tell of its cache of fonts
            self.assertNotIn("Traceback", done.stderr)

    def test_without_matplotlib_a_sentence_says_what_to_install(self):
        done = self.draw(self.put("rows.json", ROWS), python=sys.executable, env=without_matplotlib(self.folder.name))
        self.assertEqual(done.returncode, 1)
        self.assertIn("install python3-matplotlib", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
