#!/usr/bin/env python3
"""The promises of the inline functions of the public headers about the order of memory, in the compilers' output: on x86 no
program can tell acquire from relaxed. Usage: order_test.py SOURCE_ROOT BUILD_ROOT [unittest arguments]"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
WORDS = ["-x", "c", "-", "-std=c11", "-w", "-DGASNET_PAR", "-D_REENTRANT", f"-I{SOURCE}/core/api", f"-I{BUILD}/core/api"]
CLIENT = """#include <gasnet.h>
void *find(gasnet_node_t node, void *remote, size_t bytes) { return pinwire_direct(node, remote, 0, bytes); }
"""
IS_DEBUG = "PINWIRE_DEBUG_BUILD 1" in (BUILD / "core/api/gasnet_config.h").read_text()


def made_of(compiler, *words):
    """The lines of find() in the compiler's own language."""
    done = subprocess.run([compiler, *WORDS, *words], input=CLIENT, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{compiler}: {done.stderr}")
    lines = done.stdout.splitlines()
    start = next(at for at, line in enumerate(lines) if re.search(r"\bfind\b.*\(", line) and "declare" not in line)
    return lines[start + 1:]


@unittest.skipIf(IS_DEBUG, "pinwire_direct() is a call into the library in debug builds")
class Order(unittest.TestCase):
    """The order of `base`, `size` and `delta` in struct pinwire_reach: let_headers_reach() writes the size last, with release."""

    def expect_order(self, lines, acquire, plain):
        """One load with acquire, and what is read beside the table's own address comes behind it."""
        acquired = [at for at, line in enumerate(lines) if re.search(acquire, line)]
        others = [at for at, line in enumerate(lines) if re.search(plain, line)]
        said = "\n".join(lines[:40])
        self.assertEqual(len(acquired), 1, said)
        self.assertEqual(len(others), 2, said)
        self.assertLess(acquired[0], min(others), said)

    def test_gcc_acquires_the_size_of_a_segment_first(self):
        """The number behind the address is the order: 2 is __ATOMIC_ACQUIRE."""
        self.expect_order(made_of("gcc", "-O2", "-S", "-o", "/dev/null", "-fdump-tree-optimized=stdout"),
                          r"__atomic_load_8 \(.*, 2\)", r"->(base|delta)\b")

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_clang_acquires_the_size_of_a_segment_first(self):
        self.expect_order(made_of("clang", "-O1", "-S", "-emit-llvm", "-o", "-"),
                          r"load atomic i64, .* acquire\b", r"load i64, ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
