#!/usr/bin/env python3
"""Compares the public headers with tables of a release of GASNet-EX (release/, which scripts/release-tables makes): clients
assert the values and sizes, and use the names, of that release. release/left_out.tsv says what differs on purpose, and why.
Usage: release_test.py SOURCE_ROOT BUILD_ROOT [unittest arguments]"""

import pathlib
import re
import sys
import unittest

import public_surface as surface

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
TABLES = pathlib.Path(__file__).resolve().parent / "release"
WORDS = ["-D_GNU_SOURCE=1", "-DGASNET_PAR", "-D_REENTRANT", f"-I{SOURCE}/core/api", f"-I{BUILD}/core/api"]
ROOMS = ("am", "core", "driver", "extended", "nicfw", "pin", "scripts/installation", "segment")


def table(name):
    lines = (line for line in (TABLES / name).read_text().splitlines() if not line.startswith("#"))
    return {key: value for key, _, value in (line.partition("\t") for line in lines)}


def left_out(kind):
    """Patterns of one table, each with its reason."""
    rows = (line.split("\t") for line in (TABLES / "left_out.tsv").read_text().splitlines() if not line.startswith("#"))
    return {pattern: reason for where, pattern, reason in rows if where == kind}


def settings_and_variables():
    """Names between quotation marks in the library's sources, which ask the environment for them, and in fragments."""
    texts = [path.read_text(errors="replace") for room in ROOMS for path in (SOURCE / room).rglob("*") if path.is_file()]
    return {name for text in texts for name in re.findall(r'"(GASNET_[A-Z0-9_]+)[="]|^(GASNET_\w+) ?=', text, re.M) for name in name if name}


class Release(unittest.TestCase):
    def expect_all_but(self, kind, differing):
        """A name that differs is left out on purpose, and one that is said to be left out differs: rows do not outlive their reason."""
        patterns = left_out(kind)
        unexplained = {name: facts for name, facts in differing.items()
                       if not any(re.fullmatch(pattern, name) for pattern in patterns)}
        if unexplained:
            self.fail(f"{kind}: not as in the release; mend it, or say why in left_out.tsv:\n" +
                      "\n".join(f"{name}: {facts}" for name, facts in sorted(unexplained.items())))
        idle = [pattern for pattern in patterns if not any(re.fullmatch(pattern, name) for name in differing)]
        self.assertFalse(idle, f"{kind}: these rows of left_out.tsv leave nothing out")

    def expect_equal(self, kind, ours):
        self.assertGreater(len(ours), 50)
        self.expect_all_but(kind, {name: f"{facts} there, {ours.get(name)} here" for name, facts in table(kind + ".tsv").items()
                                   if ours.get(name) != facts})

    def test_constants_have_its_values(self):
        self.expect_equal("constants", surface.constants(WORDS))

    def test_types_have_its_sizes_and_signs(self):
        self.expect_equal("types", surface.types(WORDS))

    def test_names_of_its_headers_are_there(self):
        ours = surface.names(WORDS)
        self.assertGreater(len(ours), 1000)
        self.expect_all_but("names", {name: where for name, where in table("names.tsv").items()
                                      if where == "header" and name not in ours})

    def test_names_of_its_texts_are_there(self):
        ours = surface.names(WORDS) | settings_and_variables()
        self.expect_all_but("texts", {name: where for name, where in table("names.tsv").items()
                                      if where == "text" and name not in ours})

    def test_internals_that_clients_use_are_there(self):
        """Each as what the preprocessor or the compiler knows: docs/CLIENTS.md says where they were found."""
        asked = table("clients.tsv")
        self.assertGreater(len(asked), 20)
        ours = surface.every_identifier(WORDS)
        self.expect_all_but("clients", {name: clients for name, clients in asked.items() if name not in ours})

    def test_system_headers_come_with_its_headers(self):
        for kind, headers in table("system_headers.tsv").items():
            missing = set(headers.split()) - surface.system_headers(WORDS, kind)
            self.assertEqual(missing, set(), f"{kind} brings not what the release's does")

    def test_files_are_there(self):
        """Those that clients include; tests/job/dropin looks at an installed tree."""
        installed = (SOURCE / "core/api/meson.build").read_text()
        here = {f"include/{name}" for name in re.findall(r"'(\w+\.h)'", installed)} | {"include/CONDUIT-conduit/gasnet_core.h"}
        self.expect_all_but("files", {name: "missing" for name in table("files.tsv")
                                      if name.endswith(".h") and name not in here})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
