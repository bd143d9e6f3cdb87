#!/usr/bin/env python3
"""scripts/check_layers.py itself, on small trees. Usage: check_layers_test.py SCRIPT [unittest arguments]"""

import unittest

from small_tree import SCRIPT, SmallTree


class Layers(SmallTree):
    def include(self, name, *headers):
        self.write(name, "".join(f"#include {one}\n" for one in headers))

    def test_the_sources_pass(self):
        self.root = SCRIPT.parent.parent
        self.check(0, "0 violations")

    def test_a_room_may_include_lower_ones(self):
        self.include("extended/rma/put.h", '"extended/state/job.h"', '"core/base/log.h"')
        self.include("extended/state/job.h")
        self.check(0, "0 violations")

    def test_a_room_may_not_include_a_higher_one(self):
        self.include("extended/rma/put.h", '"extended/coll/member/member.h"')
        self.check(1, "extended/rma/put.h (extended/rma) includes extended/coll/member/member.h (extended/coll/member), which is not below it")

    def test_rooms_beside_each_other_do_not_include_each_other(self):
        self.include("extended/coll/member/member.cc", '"extended/vis/pieces.h"')
        self.check(1, "1 violations")

    def test_the_rooms_of_the_launcher_have_an_order(self):
        self.include("core/launch/main.cc", '"core/launch/job/job.h"')
        self.include("core/launch/job/job.h", '"core/launch/loop/loop.h"')
        self.include("core/launch/loop/loop.h", '"core/launch/process/process.h"')
        self.check(1, "core/launch/loop/loop.h (core/launch/loop) includes core/launch/process/process.h "
                      "(core/launch/process), which is not below it\n1 violations")

    def test_a_cycle_by_way_of_a_source_is_refused(self):
        self.include("extended/rma/put.cc", '"extended/rma/put.h"', '"extended/rma/get.h"')
        self.include("extended/rma/put.h")
        self.include("extended/rma/get.h", '"extended/rma/put.h"')
        self.check(1, "these units include each other: extended/rma/get extended/rma/put")

    def test_a_cycle_of_three_units_is_refused_once(self):
        self.include("extended/rma/a.h", '"extended/rma/b.h"')
        self.include("extended/rma/b.h", '"extended/rma/c.h"')
        self.include("extended/rma/c.cc", '"a.h"')
        self.include("extended/rma/c.h")
        self.check(1, "extended/rma/a extended/rma/b extended/rma/c\n1 violations")

    def test_a_system_header_is_no_unit(self):
        self.include("extended/rma/atomic.h", '"extended/rma/put.h"')
        self.include("extended/rma/put.h", "<atomic>")
        self.check(0)

    def test_nicfw_has_no_clock_of_its_own(self):
        self.include("nicfw/lane/lane.cc", "<chrono>")
        self.check(1, "nicfw/lane/lane.cc includes <chrono>")


if __name__ == "__main__":
    unittest.main()
