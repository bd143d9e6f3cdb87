#!/usr/bin/env python3
"""scripts/check_alone.py over builds of a few small files. check_alone_test.py CHECK_ALONE"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv[1]


class CheckAlone(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.entries = []

    def add(self, target, texts):
        """A target of files that are one translation unit."""
        together = self.root / "build" / f"{target}.p/a-unity0.cpp"
        together.parent.mkdir(parents=True)
        for name, text in texts.items():
            (self.root / name).write_text(text)
        together.write_text("".join(f"#include<{self.root}/build/../{name}>\n" for name in texts))
        output = f"{target}.p/a-unity0.cpp.o"
        source = f"{target}.p/a-unity0.cpp"
        self.entries.append({"file": source, "output": output,
                             "command": f"ccache c++ -Wall -MD -MQ {output} -MF {output}.d -o {output} -c {source}"})

    def run_check(self, *words):
        (self.root / "build").mkdir(exist_ok=True)
        (self.root / "build/compile_commands.json").write_text(json.dumps(self.entries))
        return subprocess.run([CHECK, self.root / "build", *words], capture_output=True, text=True)

    def test_files_that_include_what_they_use_pass(self):
        self.add("core/liba.a", {"one.cc": "#include <vector>\nstd::vector<int> one;\n", "two.cc": "#include <vector>\nstd::vector<int> two;\n"})
        run = self.run_check()
        self.assertEqual((run.returncode, run.stdout),
                         (0, "2 of 2 files that are compiled together, 0 do not compile by themselves\n"), run.stderr)

    def test_a_file_that_lives_by_the_one_before_it_fails(self):
        self.add("core/liba.a", {"one.cc": "#include <vector>\n", "two.cc": "std::vector<int> two;\n"})
        run = self.run_check()
        self.assertEqual(run.returncode, 1)
        self.assertIn("two.cc: by itself it does not compile", run.stderr)
        self.assertNotIn("one.cc: by itself", run.stderr)

    def test_a_warning_fails(self):
        self.add("core/liba.a", {"one.cc": "int one() { int unused; return 1; }\n"})
        self.assertEqual(self.run_check().returncode, 1)

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=t", "-c", "user.email=t@t.example", *words], check=True, capture_output=True)

    def test_of_a_commit_on_those_that_differ(self):
        self.add("core/liba.a", {"old.cc": "std::vector<int> old;\n", "new.cc": "int one;\n"})
        self.git("init", "-q")
        self.git("add", "old.cc", "new.cc")
        self.git("commit", "-q", "-m", "one")
        (self.root / "new.cc").write_text("int two;\n")
        run = self.run_check("--since", "HEAD")
        self.assertEqual((run.returncode, run.stdout.split()[:3]), (0, ["1", "of", "2"]), run.stderr)
        (self.root / "new.cc").write_text("std::vector<int> two;\n")
        self.assertEqual(self.run_check("--since", "HEAD").returncode, 1)

    def test_no_more_than_what_is_asked_for(self):
        self.add("core/liba.a", {f"{name}.cc": f"int {name};\n" for name in "abcdefg"})
        self.assertEqual(self.run_check("--at-most", "3").stdout.split()[:3], ["3", "of", "7"])

    def test_without_that_commit_all_are_parsed(self):
        self.add("core/liba.a", {"old.cc": "std::vector<int> old;\n"})
        self.assertEqual(self.run_check("--since", "HEAD").returncode, 1)

    def test_tests_are_left_alone_and_a_build_without_libraries_fails(self):
        self.add("tests/three", {"three.cc": "no C++ at all\n"})
        self.assertEqual(self.run_check().returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
