#!/usr/bin/env python3
"""scripts/check_prose.py itself, on small trees. Usage: check_prose_test.py SCRIPT [unittest arguments]"""

import unittest

from small_tree import SCRIPT, SmallTree

HEADLESS = ("Of two, one.", "Who calls, waits.", "Whoever calls waits.", "So it goes.", "Else none.", "What it sends.")


class Prose(SmallTree):
    def expect(self, name, text, *violations):
        self.write(name, text)
        self.check(1 if violations else 0, *violations, f" {len(violations)} violations")

    def test_the_sources_pass(self):
        self.root = SCRIPT.parent.parent
        self.check(0, " 0 violations")

    def test_a_tree_without_prose_fails(self):
        self.check(1, "0 files")

    def test_a_comment_of_c_begins_with_a_subject(self):
        for text in HEADLESS:
            forms = (f"// {text}", f"/// {text}", f"int x;  ///< {text}", f"/* {text} */", f"/**\n * {text}\n */", f"// One. {text}")
            lines = "\nint y;\n".join(forms).split("\n")
            found = [f'nicfw/a.h:{number}: a sentence begins with "{text.split()[0]}"' for number, line in enumerate(lines, 1) if text in line]
            self.expect("nicfw/a.h", "\n".join(lines) + "\n", *found)

    def test_sentences_go_on_from_line_to_line(self):
        self.expect("nicfw/a.cc", "// It is one\n// Of two.\n")
        self.expect("nicfw/a.cc", "// It ends.\n// Of two, one.\n", "nicfw/a.cc:2:")
        self.expect("nicfw/a.cc", "// It has a part\n//\n// Of two, one.\n", "nicfw/a.cc:3:")
        self.expect("nicfw/a.cc", "// It has a part\n//  - Of two, one.\n", "nicfw/a.cc:2:")
        self.expect("nicfw/a.cc", "int a;  ///< one\n// Of two, one.\n", "nicfw/a.cc:2:")
        self.expect("nicfw/a.cc", "int a;  ///< one\n        ///< Of two\n")

    def test_a_question_may_begin_with_what_and_a_statement_may_not(self):
        self.expect("nicfw/a.cc", "// What does it send? A frame.\n")
        self.expect("nicfw/a.cc", "// What it sends\n// is a frame. Is it?\n", "nicfw/a.cc:1:")

    def test_no_comment_names_an_issue(self):
        self.expect("nicfw/a.cc", "// Bounded\n// (issue 19, item 10).\n", 'nicfw/a.cc:2: it names "issue 19"')
        self.expect("nicfw/a.cc", "// As DESIGN §4 says.\n", 'nicfw/a.cc:1: it names "DESIGN"')
        self.expect("nicfw/a.cc", "// An issue, 19 of them, tissue 19.\n")

    def test_strings_and_code_are_no_comments(self):
        self.expect("nicfw/a.cc", 'auto a = "// Of two";\nauto b = R"(\n// So what\n)";\nchar c = \'"\';  // two\n')

    def test_words_inside_of_sentences_pass(self):
        self.expect("nicfw/a.cc", "// It is one of two, so whoever waits is told what else is so. SO_REUSEADDR. Offers. Whole. Sofar.\n")

    def test_comments_and_docstrings_of_python(self):
        self.expect("scripts/a.py", '"""Of two, one."""\n', "scripts/a.py:1:")
        self.expect("scripts/a.py", 'def a():\n    """Says a word.\n\n    Of two, one."""\n')
        self.expect("scripts/a.py", 'def a():\n    """What it says."""\n', "scripts/a.py:2:")
        self.expect("scripts/a.py", 'X = "# Of two"  # Of one\n', "scripts/a.py:1:")

    def test_comments_of_shell(self):
        self.expect("tests/a.sh", "echo '# Of two' \"# Of two\" # Of one\n", "tests/a.sh:1:")

    def test_scripts_without_a_suffix_are_known_by_their_interpreter(self):
        self.expect("scripts/a", "#!/usr/bin/env python3\n# Of two, one.\n", "scripts/a:2:")
        self.expect("scripts/a", "#!/bin/sh\n# Of two, one.\n", "scripts/a:2:")
        self.expect("scripts/b.sh", "# One.\n", "scripts/a:2:")
        self.write("scripts/a", "Of two, one.\n# Of two, one.\n")
        self.check(0)

    def test_comments_of_meson(self):
        self.expect("tests/meson.build", "a = '# Of two'\n# So it goes.\n", "tests/meson.build:2:")

    def test_documents_begin_sentences_with_a_subject(self):
        for text in ("Of two, one.", "It ends. So it goes.", "| a | Who calls, waits |", "- Of a list", "    // Of one", "```\n# Of one\n```"):
            self.write("docs/a.md", text + "\n")
            self.check(1, "docs/a.md:", " 1 violations")

    def test_headings_and_labels_are_no_sentences(self):
        self.expect("docs/a.md", "# What it does\n\n**What it costs.** Nothing.\n\n- **Who pays.** Nobody.\n\n    int x;  Of\n")
        self.expect("nicfw/a.c", "/* ---- What it does ---- */\n")

    def test_generated_documents_pass(self):
        self.write("docs/CONFORMANCE.md", "Of two, one.\n")
        self.write("nicfw/a.h")
        self.check(0, "1 files, 0 violations")


if __name__ == "__main__":
    unittest.main()
