"""A small tree of files for the tests of a script that checks the sources. The script is the first argument of the program."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()


class SmallTree(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, status, *words):
        ran = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (status, ""), ran.stdout)
        for word in words:
            self.assertIn(word, ran.stdout)
