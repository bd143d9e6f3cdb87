#!/usr/bin/env python3
"""scripts/flood in real jobs: what it prints and writes, not how fast anything is.
Usage: flood_script_test.py SCRIPT BUILD DRIVER [unittest arguments]"""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from plots import SVG, has_matplotlib, without_matplotlib  # noqa: E402
from run_script import run_script  # noqa: E402

SCRIPT, BUILD, DRIVER = sys.argv[1:4]
TIME_LIMIT_S = 100
SHORT = ["--iterations=50", "--repetitions=1", "--loop-ms=1", "--yield=always"]


def run(*words, build=("--build", BUILD), **more):
    more.setdefault("env", dict(os.environ, FLOOD_DRIVERS=DRIVER))
    return run_script([SCRIPT, *build, *words], TIME_LIMIT_S, **more)


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)

    def run_well(self, *words, **more):
        code, out, err = run(*SHORT, *words, **more)
        self.assertEqual(code, 0, out + err)
        return out

    def test_without_words_it_prints_the_first_screen_alone(self):
        out = self.run_well()
        self.assertIn(f"{DRIVER}: 2 ranks", out)
        for figure in ("Short AM, round trip", "overlapped gets of 1 MiB, bandwidth"):
            self.assertIn(f"\n  {figure} ", out)
        self.assertNotIn("Ping-pong", out)
        self.assertEqual(DRIVER == "dpdk", "what the device itself does" in out)
        self.assertNotIn("testpmd", out)

    def test_json_goes_into_a_file_where_the_script_was_started(self):
        self.run_well("--json", "all.json", "--sizes=8,64K", "--ops=put_nb,am_short", "--no-references", cwd=self.out)
        text = (self.out / "all.json").read_text(encoding="utf-8")
        rows = json.loads(text)
        self.assertEqual(len(rows), 2 * (2 + 1))
        self.assertEqual(text, "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
        self.assertEqual(os.listdir(self.out), ["all.json"])

    @unittest.skipUnless(has_matplotlib(), "no python3-matplotlib (scripts/install-packages plot)")
    def test_the_plot_has_the_driver_its_lines_and_what_they_are_compared_with(self):
        self.run_well("--svg", str(self.out / "plot.svg"), "--sizes=8,1M", "--ops=put_nb,get_blocking")
        self.assertEqual(os.listdir(self.out), ["plot.svg"])
        self.assertEqual(xml.etree.ElementTree.parse(self.out / "plot.svg").getroot().tag, SVG + "svg")
        drawn = (self.out / "plot.svg").read_text(encoding="utf-8")
        ceiling = "memcpy of 1 MiB" if DRIVER == "shm" else "the bare device"
        for words in (DRIVER, "overlapped puts", "blocking get", "1 MiB", f"ceiling: {ceiling}"):
            self.assertIn(f"<!-- {words} -->", drawn)


class Building(unittest.TestCase):
    def test_a_build_is_announced_and_its_failure_is_shown(self):
        # These stand in for the real programs: nothing is installed or built here.
        programs = {"dpkg-query": "echo installed", "meson": "exit 0", "ninja": "echo the compiler is broken; exit 1"}
        with tempfile.TemporaryDirectory() as folder:
            for name, body in programs.items():
                path = pathlib.Path(folder) / name
                path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
                path.chmod(0o755)
            code, out, err = run(build=(), env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"))
        self.assertEqual((code, out), (1, ""), err)
        self.assertRegex(err, "(?s)flood: building.*minutes.*the compiler is broken.*flood: building .*failed; the last lines")


class Mistakes(unittest.TestCase):
    def check(self, words, *sentence, **more):
        code, out, err = run(*words, **more)
        self.assertEqual(code, 2, out + err)
        self.assertEqual(out, "")
        for part in sentence:
            self.assertIn(part, err)

    def test_each_gets_a_sentence(self):
        for words in (["--json"], ["--json="], ["--json", "", "--quick"]):
            self.check(words, "--json wants the name of a file")
        self.check(["--build="], "--build wants the name of a directory", build=())
        self.check(["--svg"], "--svg wants the name of a file")
        self.check(["--build"], "--build wants the name of a directory", build=())
        self.check(["--build", "/nonexistent"], "/nonexistent", "ninja", build=())
        self.check(["--json=/nonexistent/x.json"], "/nonexistent", "--json FILE")
        self.check(["--svg", "/nonexistent/x.svg"], "/nonexistent", "--svg FILE")
        self.check(["-i"], "run the tool itself", "gasnetrun_pinwire")
        self.check(["--references-json=x"], "run the tool itself", "--references-json FILE")
        self.check(["--nonsense"], "--nonsense", "--help")
        self.check(["--ops=put"], "put_blocking")

    def test_a_number_of_ranks_that_is_none_gets_a_sentence(self):
        self.check([], 'invalid FLOOD_RANKS="two": expected a number', env=dict(os.environ, FLOOD_RANKS="two"))

    def test_without_matplotlib_a_plot_is_refused_before_anything_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(without_matplotlib(folder), FLOOD_DRIVERS=DRIVER)
            self.check(["--svg", str(pathlib.Path(folder) / "plot.svg")], "install python3-matplotlib", env=environment)

    def test_help_is_no_mistake(self):
        code, out, err = run("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("--all", "--json FILE", "--svg FILE", "--build DIR", "FLOOD_DRIVERS"):
            self.assertIn(word, out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
