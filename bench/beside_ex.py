#!/usr/bin/env python3
"""bench/ex over Pinwire beside bench/ex over GASNet-EX, in turns in one run: medians and spread, as a Markdown table.

The same programs, built over both: configure with `-Dbeside=smp-seq,udp-seq` while PKG_CONFIG_PATH names an
installation of GASNet-EX with those conduits. Shared memory runs beside smp, DPDK beside udp over loopback. np,
events, atomics and vis have two ranks; coll once for each number of --ranks."""

import argparse
import json
import os
import statistics
import subprocess
import sys

from beside_flood import HERE, ours, text, theirs

PAIRS = [("shm", "smp"), ("dpdk", "udp")]
PROGRAMS = ["np", "events", "atomics", "coll", "vis"]
RUN_S = 600


def rows_of(start, environment, options):
    """By operation and bytes: the row; in the order in which they were measured. A sentence if there are none."""
    command = [*start, "--seconds", str(options.seconds)]
    try:
        run = subprocess.run(command, text=True, capture_output=True, env={**os.environ, **environment}, timeout=RUN_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"beside_ex: {' '.join(command)} did not end in {RUN_S} s")
    if run.returncode != 0:
        sys.exit(f"beside_ex: {' '.join(command)} ended with code {run.returncode}: {run.stderr[-300:]}")
    rows = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return {(row["operation"], row["bytes"]): row for row in rows}


def measured(runs, key):
    return [run[key]["value"] for run in runs if "value" in run.get(key, {})]


def cell(runs, key):
    values = measured(runs, key)
    return text(values) if values else next((run[key]["note"] for run in runs if key in run), "-")


def times_better(mine, peer, key):
    left, right = measured(mine, key), measured(peer, key)
    if not left or not right:
        return "-"
    better = statistics.median(left) / statistics.median(right)
    is_more_better = mine[0][key]["unit"].endswith("/s")
    return f"{better if is_more_better else 1 / better:.2f}"


def compare(program, ranks, driver, conduit, options):
    mine, peer = [], []
    for turn in range(options.rounds):
        print(f"\r\033[K{program}, {ranks} ranks, {driver} beside {conduit}: round {turn + 1} of {options.rounds}",
              end="", file=sys.stderr, flush=True)
        mine.append(rows_of(*ours(options.build, driver, f"ex/{program}", ranks), options))
        peer.append(rows_of(*theirs(options.build, conduit, f"ex/{program}", "seq", ranks), options))
    print("\r\033[K", end="", file=sys.stderr)
    where = mine[0]["ranks", ranks]["note"]
    for key, row in mine[0].items():
        if key[0] == "ranks":
            continue
        print(f"| {program}, {where} | {driver}, {conduit} | {key[0]} | {key[1]} | {row.get('unit', '-')} | {cell(mine, key)} "
              f"| {cell(peer, key)} | {times_better(mine, peer, key)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"), metavar="DIR")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each measurement, at least (0.05); on a loaded machine less than a time slice, and more rounds")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--drivers", nargs="+", choices=[driver for driver, _ in PAIRS], default=[driver for driver, _ in PAIRS])
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4, 8], help="of coll (2 4 8)")
    options = parser.parse_args()
    pairs = [pair for pair in PAIRS if pair[0] in options.drivers]
    for program in options.programs:
        for _, conduit in pairs:
            path = os.path.join(options.build, "bench", "ex", f"{program}_gasnet_{conduit}-seq")
            if not os.access(path, os.X_OK):
                sys.exit(f"beside_ex: {path} is missing; configure with -Dbeside=smp-seq,udp-seq and PKG_CONFIG_PATH set, then run ninja")
    print("| program | over | operation | bytes | unit | Pinwire | GASNet-EX | times better |")
    print("|---|---|---|---|---|---|---|---|")
    for program in options.programs:
        for ranks in options.ranks if program == "coll" else [2]:
            for driver, conduit in pairs:
                compare(program, ranks, driver, conduit, options)


if __name__ == "__main__":
    main()
