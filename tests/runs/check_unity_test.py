#!/usr/bin/env python3
"""scripts/check_unity.py over builds of a few small files. check_unity_test.py CHECK_UNITY"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv[1]
ALONE = "namespace { int count() { return 1; } }\n"


class CheckUnity(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "build").mkdir()
        self.entries = []

    def add(self, target, name, text):
        (self.root / name).write_text(text)
        output = f"{target}.p/{name}.o"
        self.entries.append({"file": f"../{name}", "output": output,
                             "command": f"ccache c++ -Wall -Wshadow -MD -MQ {output} -MF {output}.d -o {output} -c ../{name}"})

    def run_check(self):
        (self.root / "build/compile_commands.json").write_text(json.dumps(self.entries))
        return subprocess.run([CHECK, self.root / "build"], capture_output=True, text=True)

    def test_files_that_go_together_pass(self):
        self.add("core/liba.a", "one.cc", ALONE + "int one() { return count(); }\n")
        self.add("core/liba.a", "two.cc", "int two() { return 2; }\n")
        run = self.run_check()
        self.assertEqual((run.returncode, run.stdout), (0, "1 libraries and programs, 0 do not compile as one translation unit\n"), run.stderr)

    def test_a_name_that_two_files_of_a_library_define_fails(self):
        self.add("core/liba.a", "one.cc", ALONE + "int one() { return count(); }\n")
        self.add("core/liba.a", "two.cc", ALONE + "int two() { return count(); }\n")
        run = self.run_check()
        self.assertEqual(run.returncode, 1)
        self.assertIn("core/liba.a: as one translation unit", run.stderr)
        self.assertIn("two.cc:1", run.stderr)

    def test_a_warning_that_one_file_gives_another_fails(self):
        self.add("core/liba.a", "one.cc", "namespace { int* total; }\nint one() { return *total; }\n")
        self.add("core/liba.a", "two.cc", "namespace { int sum(int total) { return total; } }\nint two() { return sum(2); }\n")
        run = self.run_check()
        self.assertEqual(run.returncode, 1)
        self.assertIn("-Wshadow", run.stderr)

    def test_libraries_are_apart_and_tests_are_left_alone(self):
        self.add("core/liba.a", "one.cc", ALONE + "int one() { return count(); }\n")
        self.add("core/libb.a", "two.cc", ALONE + "int two() { return count(); }\n")
        self.add("tests/three", "three.cc", "no C++ at all\n")
        self.assertEqual(self.run_check().returncode, 0)

    def test_a_build_without_libraries_fails(self):
        self.assertEqual(self.run_check().returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
