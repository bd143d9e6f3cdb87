#!/usr/bin/env python3
"""scripts/check_entries.py itself, on copies of the sources with one entry changed each. Usage: check_entries_test.py SCRIPT [unittest arguments]"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
SOURCES = SCRIPT.parent.parent


class Entries(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for folder in ("core/api", "extended"):
            shutil.copytree(SOURCES / folder, self.root / folder)

    def check(self):
        ran = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(ran.stderr, "")
        return ran.returncode, ran.stdout

    def add(self, name, body, before=""):
        (self.root / "core/api/more.h").write_text(f"void {name}(int value);\n", encoding="utf-8")
        (self.root / "extended/more.cc").write_text(f"{before}void {name}(int value) {{\n{body}\n}}\n", encoding="utf-8")

    def expect_refused(self, *words):
        status, said = self.check()
        self.assertEqual(status, 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_the_sources_pass(self):
        status, said = self.check()
        self.assertEqual(status, 0, said)
        self.assertIn(" 0 violations", said)

    def test_an_entry_that_keeps_no_handlers_off_is_refused(self):
        self.add("gex_Other_Create", "  take(value);")
        self.expect_refused("extended/more.cc: gex_Other_Create does not keep handlers off", "1 violations")

    def test_one_that_keeps_them_off_passes(self):
        self.add("gex_Other_Create", "  const LibraryCall call;\n  take(value);")
        self.assertEqual(self.check()[0], 0)

    def test_one_passes_whose_function_keeps_them_off(self):
        self.add("gex_Other_Create", "  take(value);", before="void take(int value) {\n  const RareCall call;\n}\n\n")
        self.assertEqual(self.check()[0], 0)

    def test_a_name_alone_is_no_reason_where_the_function_takes_locks(self):
        self.add("gex_Other_QuerySize", "  take(value);")
        self.assertEqual(self.check()[0], 0)
        self.add("gex_System_QueryHostInfo", "  take(value);")
        self.expect_refused("gex_System_QueryHostInfo does not keep handlers off")

    def test_an_entry_that_is_unwrapped_is_refused_whichever_it_is(self):
        refused = 0
        for path in sorted((self.root / "extended/api").rglob("*.cc")):
            text = path.read_text(encoding="utf-8")
            bare = re.sub(r"\b(ClientCall|LibraryCall|RareCall|OnlyEntry)\b|\breply_call\(", "Nothing(", text)
            if bare == text:
                continue
            path.write_text(bare, encoding="utf-8")
            status, said = self.check()
            path.write_text(text, encoding="utf-8")
            self.assertEqual(status, 1, f"{path.relative_to(self.root)} without its calls passes: {said}")
            refused += said.count(f"{path.relative_to(self.root)}: ")
        self.assertGreater(refused, 20)

    def test_a_reason_that_no_entry_needs_is_refused(self):
        for path in (self.root / "extended").rglob("*.cc"):
            path.write_text(path.read_text(encoding="utf-8").replace("gasnet_barrier_result", "other_result"), encoding="utf-8")
        self.expect_refused("no entry needs 'gasnet_barrier_result'")

    def test_sources_in_which_it_finds_nothing_are_refused(self):
        shutil.rmtree(self.root / "extended")
        (self.root / "extended").mkdir()
        self.expect_refused("only 0 entries of the public headers are found")


if __name__ == "__main__":
    unittest.main()
