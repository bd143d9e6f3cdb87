#!/usr/bin/env python3
"""scripts/check_layers.py itself, on small trees. Usage: check_layers_test.py SCRIPT [unittest arguments]"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()


class Layers(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)

    def write(self, name, *includes):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"#include {one}\n" for one in includes), encoding="utf-8")

    def check(self, status, *words):
        ran = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (status, ""), ran.stdout)
        for word in words:
            self.assertIn(word, ran.stdout)

    def test_the_sources_pass(self):
        self.root = SCRIPT.parent.parent
        self.check(0, "0 violations")

    def test_a_room_may_include_lower_ones(self):
        self.write("extended/rma/put.h", '"extended/state/job.h"', '"core/base/log.h"')
        self.write("extended/state/job.h")
        self.check(0, "0 violations")

    def test_a_room_may_not_include_a_higher_one(self):
        self.write("extended/rma/put.h", '"extended/coll/member/member.h"')
        self.check(1, "extended/rma/put.h (extended/rma) includes extended/coll/member/member.h (extended/coll/member), which is not below it")

    def test_rooms_beside_each_other_do_not_include_each_other(self):
        self.write("extended/coll/member/member.cc", '"extended/vis/pieces.h"')
        self.check(1, "1 violations")

    def test_a_cycle_by_way_of_a_source_is_refused(self):
        self.write("extended/rma/put.cc", '"extended/rma/put.h"', '"extended/rma/get.h"')
        self.write("extended/rma/put.h")
        self.write("extended/rma/get.h", '"extended/rma/put.h"')
        self.check(1, "these units include each other: extended/rma/get extended/rma/put")

    def test_a_cycle_of_three_units_is_refused_once(self):
        self.write("extended/rma/a.h", '"extended/rma/b.h"')
        self.write("extended/rma/b.h", '"extended/rma/c.h"')
        self.write("extended/rma/c.cc", '"a.h"')
        self.write("extended/rma/c.h")
        self.check(1, "extended/rma/a extended/rma/b extended/rma/c\n1 violations")

    def test_a_system_header_is_no_unit(self):
        self.write("extended/rma/atomic.h", '"extended/rma/put.h"')
        self.write("extended/rma/put.h", "<atomic>")
        self.check(0)

    def test_nicfw_has_no_clock_of_its_own(self):
        self.write("nicfw/lane.cc", "<chrono>")
        self.check(1, "nicfw/lane.cc includes <chrono>")


if __name__ == "__main__":
    unittest.main()
