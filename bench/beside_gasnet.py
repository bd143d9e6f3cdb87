#!/usr/bin/env python3
"""Pinwire over shared memory beside GASNet-EX's smp conduit, in turns in one run: medians and spread.

DIR holds GASNet-EX's own test programs testam, testsmall, testlarge and testbarrier, built for smp
(SEQ or PAR), as `make` leaves them in its smp-conduit folder. The cores' cache-line round trip,
which both rest on, is measured beside them."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build")



def same(us):
    return us


def of_200000(us):
    return us / 200000


# Name, unit; what to look for in the peer's output (the last match counts); how to read it.
PEER_ROWS = [
    ("Short AM round trip", "us", "testam", ["20000", "8"], r"AMShort\s+ping-pong roundtrip ReqRep:\s+\S+ sec\s+(\S+) us", same),
    ("Short AM flood", "us", "testam", ["200000", "8"], r"AMShort\s+flood\s+one-way\s+Req\s+:\s+\S+ sec\s+(\S+) us", same),
    ("put 8 B, blocking", "us", "testsmall", ["200000", "8"], r"\s8 byte.*latency\s+(\d+) us total.*PutBlocking", of_200000),
    ("get 8 B, blocking", "us", "testsmall", ["200000", "8"], r"\s8 byte.*latency\s+(\d+) us total.*GetBlocking", of_200000),
    ("put 8 B, nbi flood", "us", "testsmall", ["200000", "8"], r"\s8 byte.*throughput\s+(\S+) KB/sec \(PutNBI",
     lambda kib_per_s: 8e6 / (kib_per_s * 1024)),
    ("put 1 MiB", "GB/s", "testlarge", ["2000", "1048576"],
     r"1048576 byte.*throughput\s+(\S+) KB/sec \(PutBlocking", lambda kib_per_s: kib_per_s * 1024 / 1e9),
    ("barrier", "us", "testbarrier", ["20000"], r"Avg Anon. Barrier latency:\s+(\S+) us", same),
]
OURS = {
    "Short AM round trip": ("pingpong", "am_short", 0, lambda row: 1e6 / row["msgs_per_s"]),
    "Short AM flood": ("flood", "am_short", 0, lambda row: 1e6 / row["msgs_per_s"]),
    "put 8 B, blocking": ("pingpong", "put_blocking", 8, lambda row: 1e6 / row["msgs_per_s"]),
    "get 8 B, blocking": ("pingpong", "get_blocking", 8, lambda row: 1e6 / row["msgs_per_s"]),
    "put 8 B, nbi flood": ("flood", "put_nbi", 8, lambda row: 1e6 / row["msgs_per_s"]),
    "put 1 MiB": ("flood", "put_blocking", 1048576, lambda row: row["bytes_per_s"] / 1e9),
}


def peer_figures(folder):
    outputs, figures = {}, {}
    for name, _, program, arguments, pattern, read in PEER_ROWS:
        key = (program, *arguments)
        if key not in outputs:
            run = subprocess.run(["taskset", "-c", "0,1", os.path.join(folder, program), *arguments], text=True,
                                 env={**os.environ, "GASNET_PSHM_NODES": "2"}, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, timeout=120)
            if run.returncode != 0:
                sys.exit(f"beside_gasnet: {program} ended with code {run.returncode}")
            outputs[key] = run.stdout
        found = re.findall(pattern, outputs[key])
        if not found:
            sys.exit(f"beside_gasnet: {program} printed no line for '{name}'; is it GASNet-EX's own, of 2023 or later?")
        figures[name] = read(float(found[-1]))
    return figures


def our_figures(program):
    launcher = os.path.join(BUILD, "core", "launch", "gasnetrun_pinwire")
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "rows.json")
        run = subprocess.run(
            [launcher, "-n", "2", "--bind", os.path.join(BUILD, "bench", program), "--", "--json", table, "--sizes", "8", "1M", "--quick",
             "--ops", "am_short", "put_blocking", "get_blocking", "put_nbi"],
            env={**os.environ, "GASNET_DRIVER": "shm"}, text=True, capture_output=True, timeout=120)
        if run.returncode != 0:
            sys.exit(f"beside_gasnet: flood ended with code {run.returncode}: {run.stderr[-300:]}")
        with open(table) as rows:
            rows = json.load(rows)
    figures = {}
    for name, (test, op, size, read) in OURS.items():
        figures[name] = next(read(r) for r in rows if (r["test"], r["op"], r["bytes"]) == (test, op, size))
    figures["barrier"] = float(re.search(r"barrier of \d+ ranks\s+([\d.]+) us", run.stdout).group(1))
    line = re.search(r"one cache line between the cores, both ways\s+([\d.]+) us", run.stdout)
    figures["line"] = float(line.group(1)) if line else float("nan")
    return figures


def spread(values):
    return f"{statistics.median(values):9.4f} ({min(values):.4f}-{max(values):.4f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--par", action="store_true", help="the PAR library against programs built for PAR")
    options = parser.parse_args()
    missing = [p for p in ("testam", "testsmall", "testlarge", "testbarrier")
               if not os.access(os.path.join(options.folder, p), os.X_OK)]
    if missing:
        sys.exit(f"beside_gasnet: {options.folder} lacks {', '.join(missing)}: build them there with `make {missing[0]}-seq`")
    program = "flood_par" if options.par else "flood"
    if not os.access(os.path.join(BUILD, "bench", program), os.X_OK):
        sys.exit(f"beside_gasnet: build/bench/{program} is not built; run ninja -C build")
    ours, theirs = [], []
    for turn in range(options.rounds):
        print(f"\rround {turn + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
        ours.append(our_figures(program))
        theirs.append(peer_figures(options.folder))
    print("\r", end="", file=sys.stderr)
    print(f"{'':22}{'':>5}  {'Pinwire: median (spread)':<28}  {'GASNet-EX smp':<28}  {'ratio':>6}")
    for name, unit, *_ in PEER_ROWS:
        mine = [f[name] for f in ours]
        peer = [f[name] for f in theirs]
        ratio = statistics.median(mine) / statistics.median(peer)
        print(f"{name:<22}{unit:>5}  {spread(mine):<28}  {spread(peer):<28}  {ratio:>6.2f}")
    print(f"{'cache line, both ways':<22}{'us':>5}  {spread([f['line'] for f in ours])}")


if __name__ == "__main__":
    main()
