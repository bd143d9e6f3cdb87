#!/usr/bin/env python3
"""scripts/check_tests.py over small trees. Usage: check_tests_test.py CHECK_TESTS [unittest arguments]"""

import unittest

from small_tree import SmallTree

COVERS = '[[covers]]\nfiles = ["am/*"]\nruns = ["am"]\n'


class Tests(SmallTree):
    def setUp(self):
        super().setUp()
        self.write("tests/mutants/coverage.toml", COVERS)
        self.write("am/send.h")
        self.write("am/send.cc")
        self.write("pin/kept.h")
        self.write("pin/kept.cc")
        self.write("tests/unit/pin/kept_test.cc", '#include "pin/kept.h"\n')

    def test_a_tree_that_mirrors_its_sources(self):
        self.write("tests/support/words.h")
        self.write("tests/unit/support/words_test.cc", '#include "tests/support/words.h"\n')
        self.write("tests/unit/api/release_test.cc")
        self.check(0, "3 unit tests, 2 units, 0 violations")

    def test_a_test_in_another_folder_than_its_unit(self):
        self.write("tests/unit/pin/send_test.cc", '#include "am/send.h"\n')
        self.check(1, "tests/unit/pin/send_test.cc: the unit is am/send, so its test lies in tests/unit/am")

    def test_a_test_of_another_unit_with_the_same_name(self):
        self.write("pin/send.h")
        self.write("tests/unit/pin/send_test.cc", '#include "pin/send.h"\n#include "am/send.h"\n')
        self.check(0, "0 violations")

    def test_a_folder_without_sources(self):
        self.write("tests/unit/pins/some_test.cc")
        self.check(1, "tests/unit/pins/some_test.cc: there is no folder pins")

    def test_a_unit_that_nothing_runs(self):
        self.write("pin/owner.cc")
        self.check(1, "pin/owner: no unit test has its name")

    def test_a_unit_that_another_test_includes(self):
        self.write("pin/owner.h")
        self.write("pin/owner.cc")
        self.write("tests/unit/pin/kept_test.cc", '#include "pin/kept.h"\n#include "pin/owner.h"\n')
        self.check(0, "1 unit tests, 3 units, 0 violations")


if __name__ == "__main__":
    unittest.main()
