#!/usr/bin/env python3
"""scripts/tree_figures.py over a small tree. Usage: tree_figures_test.py TREE_FIGURES [unittest arguments]"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
SOURCE = """#if A
#endif
// check(false) in a comment
int one() { return 1; }
int three(int a) {
  check(a > 0, "a");
  return a;
}
struct S {
  void four() const noexcept {
    for (int i = 0; i < 2; ++i) {
      dcheck(i < 2, "i");
    }
  }
};
"""


class Figures(unittest.TestCase):
    def run_script(self, *words):
        return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False)

    def test_a_small_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a").mkdir()
            (pathlib.Path(folder) / "a/s.cc").write_text(SOURCE, encoding="utf-8")
            (pathlib.Path(folder) / "a/s.h").write_text("\n" * 5, encoding="utf-8")
            (pathlib.Path(folder) / "t.cc").write_text("", encoding="utf-8")
            ran = self.run_script(folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            # 20 lines, functions of 1, 4 and 5 lines, 2 assertions, one #if, units of 20 and 0 lines.
            self.assertEqual(ran.stdout.splitlines()[-1], f"| {folder} | 20 | 4 | 4 | 5 | 100.0 |  | 50.0 | 10 | 2 |")

    def test_no_folder(self):
        ran = self.run_script("nowhere")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertIn("nowhere is no folder; --help says", ran.stderr)

    def test_help(self):
        for word in ("--help", "-h"):
            ran = self.run_script("nowhere", word)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertIn("\n    scripts/tree_figures.py DIR...", ran.stdout)

    def test_the_sources_around_it(self):
        self.assertIn("\n| the library | ", self.run_script().stdout)


if __name__ == "__main__":
    unittest.main()
