#!/usr/bin/env python3
"""bench/ex in real jobs, with few rounds: that every program finds right what it moves, and prints every row.
Usage: ex_bench_test.py BUILD DRIVER [unittest arguments]"""

import json
import math
import os
import subprocess
import sys
import unittest

BUILD, DRIVER = sys.argv[1:3]
TIME_LIMIT_S = 100
KIB = [1 << shift for shift in range(10, 17)]


def run(program, ranks, *arguments):
    command = [f"{BUILD}/core/launch/gasnetrun_pinwire", "-n", str(ranks), f"{BUILD}/bench/ex/{program}", *arguments]
    return subprocess.run(command, env={**os.environ, "GASNET_DRIVER": DRIVER}, text=True, capture_output=True, timeout=TIME_LIMIT_S)


class Programs(unittest.TestCase):
    def rows(self, program, ranks=2):
        done = run(program, ranks, "--seconds", "1e-4")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        for row in rows:
            self.assertTrue("note" in row or (math.isfinite(row["value"]) and row["value"] > 0), row)
        self.assertEqual(rows[0]["operation"], "ranks")
        self.assertEqual(rows[0]["bytes"], ranks)
        return rows[1:]

    def test_np_sends_every_size_that_fits_in_every_way(self):
        rows = self.rows("np")
        ways = ["fixed", "fixed, generated", "negotiated, generated", "negotiated, generated in place"]
        operations = {"generation alone"} | {f"{kind}, {way}" for kind in ("Medium", "Long") for way in ways}
        self.assertEqual({(row["operation"], row["bytes"]) for row in rows}, {(op, size) for op in operations for size in KIB})
        for row in rows:
            if "note" in row:
                self.assertRegex(row["note"], r"^beyond the limit of \d+ bytes$")
                self.assertGreater(row["bytes"], int(row["note"].split()[4]))
        self.assertTrue(any(row["operation"] == "Medium, fixed" and "value" in row for row in rows))

    def test_events_measures_both_segments(self):
        for program in ("events", "events_everything"):
            names = {row["operation"] for row in self.rows(program)}
            for where in ("own", "neighbour"):
                self.assertLessEqual({f"PutNB + Wait, {where}", f"GetNBI + NBI_Wait, {where}", f"Test of a done event, {where}"}, names)
            self.assertIn("empty region + Wait", names)

    def test_atomics_measures_each_alone_and_together(self):
        for program in ("atomics", "atomics_everything"):
            rows = {row["operation"]: row["unit"] for row in self.rows(program)}
            for operation in ("FADD U64", "FMULT I64", "FADD by messages", "put", "Short AM and its reply"):
                self.assertEqual((rows[f"{operation}, one"], rows[f"{operation}, 64 at once"]), ("us", "M/s"))

    def test_coll_compares_its_barrier_with_messages(self):
        for ranks in (2, 3):
            rows = {(row["operation"], row["bytes"]): row for row in self.rows("coll", ranks)}
            self.assertEqual(rows["gex_Coll_BarrierBlocking, of the half round trips", 0]["unit"], "times")
            for operation in ("broadcast", "reduce to one", "reduce to all"):
                self.assertIn((operation, 1 << 20), rows)

    def test_what_it_cannot_do_is_said(self):
        alone = run("np", 1)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("np wants two ranks at least", alone.stderr)
        bad = run("coll", 2, "--seconds", "0")
        self.assertEqual(bad.returncode, 2)
        self.assertIn("coll [--seconds S]: S above 0", bad.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
