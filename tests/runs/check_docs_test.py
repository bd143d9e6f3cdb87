#!/usr/bin/env python3
"""scripts/check_docs.py itself, on small trees. Usage: check_docs_test.py SCRIPT [unittest arguments]"""

import unittest

from small_tree import SCRIPT, SmallTree


class Docs(SmallTree):
    def test_the_documents_pass(self):
        self.root = SCRIPT.parent.parent
        self.check(0, " 0 violations")

    def test_a_tree_without_documents_fails(self):
        self.check(1, "0 documents")

    def test_a_readme_of_120_lines_and_columns_passes(self):
        self.write("README.md", ("x" * 120 + "\n") * 120)
        self.check(0, "1 documents, 0 violations")

    def test_a_longer_readme_fails(self):
        self.write("README.md", "x\n" * 121)
        self.check(1, "README.md:121: 121 lines, more than 120", " 1 violations")

    def test_a_wider_readme_fails_once_for_each_line_tables_included(self):
        self.write("README.md", "x" * 121 + "\n| " + "x" * 120 + " |\n")
        self.check(1, "README.md:1: 121 columns, more than 120", "README.md:2: 124 columns", " 2 violations")

    def test_a_table_of_a_document_may_be_wide(self):
        self.write("docs/a.md", "| " + "x" * 120 + " |\n")
        self.check(0)
        self.write("docs/a.md", "x" * 121 + "\n")
        self.check(1, "docs/a.md:1: 121 columns")

    def test_links_name_files_and_headings(self):
        self.write("README.md", "[a](docs/a.md) [b](docs/a.md#the-first-one) [c](#here) [d](https://x.y/z)\n# Here\n")
        self.write("docs/a.md", "# The first, one\n[back](../README.md#here)\n")
        self.check(0, "2 documents, 0 violations")

    def test_a_link_to_no_file_fails(self):
        self.write("docs/a.md", "text\n[b](b.md)\n")
        self.check(1, "docs/a.md:2: the link b.md names no file")

    def test_a_link_to_no_heading_fails(self):
        self.write("docs/a.md", "[b](b.md#two) [c](#three)\n")
        self.write("docs/b.md", "# One\n")
        self.check(1, "the link b.md#two names no heading", "the link #three names no heading", " 2 violations")

    def test_an_absolute_link_fails(self):
        self.write("docs/a.md", "[b](/docs/a.md)\n")
        self.check(1, "the link /docs/a.md names no file")

    def test_equal_headings_are_numbered_and_code_is_part_of_their_names(self):
        self.write("docs/a.md", "# One\n# One\n# `gasnet_init` (C)\n[b](#one) [c](#one-1) [d](#gasnet_init-c)\n")
        self.check(0)

    def test_a_link_or_heading_in_code_is_none(self):
        self.write("docs/a.md", "`[b](b.md)`\n```\n[b](b.md)\n# One\n```\n")
        self.check(0)
        self.write("docs/a.md", "```\n# One\n```\n[b](#one)\n")
        self.check(1, "the link #one names no heading")

    def test_paths_in_code_exist(self):
        self.write("am/send.cc")
        self.write("am/send.h")
        self.write("core/api/config.h.in")
        self.write("docs/a.md", "`am/send.cc`, `am/send.{h,cc}`, `am/*.h`, `am/`, `am/send.cc:12`, `core/api/config.h`, `build/am/none`, am/none\n")
        self.check(0)

    def test_a_path_in_code_that_does_not_exist_fails(self):
        self.write("am/send.cc")
        for path in ("am/sent.cc", "am/send.{h,cc}", "am/*.h", "extended/job/"):
            self.write("docs/a.md", f"see `{path}`\n")
            self.check(1, "docs/a.md:1: ", " does not exist", " 1 violations")

    def test_paths_in_commands_exist(self):
        self.write("docs/a.md", "`scripts/none --all`\n\n    bench/none\n")
        self.check(1, "docs/a.md:1: scripts/none does not exist", "docs/a.md:3: bench/none does not exist")

    def test_a_function_of_a_row_of_internals_is_in_a_file_of_the_row(self):
        self.write("nicfw/a.h", "void give() {}\n")
        self.write("nicfw/a.cc", "void A::take(int n) {}\n")
        self.write("docs/internals-a.md", "| q | `nicfw/a.{h,cc}` | `give()`, `A::take()` |\n| q | by nobody | `none()` |\n")
        self.check(0, " 0 violations")
        self.write("docs/internals-a.md", "| q | `nicfw/a.h` | `give()`, `take()` |\n")
        self.check(1, "docs/internals-a.md:1: take() is in none of the files of its row", " 1 violations")
        self.write("docs/a.md", "| q | `nicfw/a.h` | `take()` |\n")
        self.check(1, " 1 violations")

    def test_a_function_of_a_step_of_a_walk_is_in_a_file_of_the_step(self):
        self.write("am/a.h", "void give() {}\n")
        step = "1. `am/a.h`, `give()`, and then\n   `{}()`\n2. `none()`\n"
        self.write("docs/a.md", "## 1. A walk\n" + step.format("give") + "\n`am/a.h` has no `take()`\n# A list\n" + step.format("take"))
        self.check(0, " 0 violations")
        self.write("docs/a.md", "## 1. A walk\n" + step.format("take"))
        self.check(1, "docs/a.md:2: take() is in none of the files of its step", " 1 violations")

    def test_an_id_that_is_cited_is_explained(self):
        self.write("docs/a.md", "as C1-161 asks\n")
        self.check(1, "docs/a.md:1: C1-161 is cited and explained nowhere", " 1 violations")
        for place, row in (("docs/requirements.md", "| C1-161 | one waits |\n"), ("docs/CONFORMANCE.md", "| C1-161 M | waits | pass |\n"),
                           ("tests/conform/a/rows.tsv", "C1-161\tM\twaits\n")):
            self.write(place, row)
            self.check(0, " 0 violations")
            self.write(place, row.replace("161", "162"))
            self.check(1, "docs/a.md:1: C1-161 is cited", " 1 violations")

    def test_ids_are_cited_by_sources_and_names_of_tests(self):
        self.write("docs/requirements.md", "| C1-161 | one waits |\n")
        for name, text in (("am/a.h", "// (EX-001)"), ("tests/a.cc", "TEST(A, Waits_EX_001)"), ("tests/b.cc", "TEST(A, Waits_EX001)"),
                           ("scripts/a", "# EX-001"), ("tests/mutants/a.toml", "x = 'EX-001'")):
            self.write(name, text + "\n")
            self.check(1, f"{name}:1: EX-001 is cited", " 1 violations")
            self.write(name, text.replace("001", "01") + " HEX-001 EX-0011 VIS_A C1 161\n")
            self.check(0)

    def test_generated_documents_may_be_wide(self):
        self.write("docs/JOBS.md", "x" * 121 + "\n")
        self.check(0)
        self.write("docs/JOBS.md", "[a](b.md)\n")
        self.check(1, "names no file")


if __name__ == "__main__":
    unittest.main()
