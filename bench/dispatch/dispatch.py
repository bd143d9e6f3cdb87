#!/usr/bin/env python3
"""What each GASNET_DISPATCH costs and gives: the round trip of a Short active message to a rank that waits inside GASNet,
polls now and then, or computes and never polls; the cost of sections, locks and idling. Modes take turns; medians count.
The interrupt's floor, an eventfd that wakes a thread that signals another, is measured beside it in the same job."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

MODES = ["poll", "interrupt", "watchdog", "thread", "nicproc"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build", help="build directory (build)")
    parser.add_argument("--drivers", default="shm,dpdk", help="of shm, dpdk and verbs (shm,dpdk)")
    parser.add_argument("--modes", default=",".join(MODES), help="of " + ", ".join(MODES) + " (all)")
    parser.add_argument("--busy", default="0,10,100,1000", help="microseconds between two polls of the receiver (0,10,100,1000)")
    parser.add_argument("--count", type=int, default=1000, help="round trips of each kind in a turn (1000)")
    parser.add_argument("--turns", type=int, default=3, help="jobs of each mode (3)")
    parser.add_argument("--json", type=pathlib.Path, help="write every measurement to this file")
    options = parser.parse_args()
    options.drivers, options.modes = options.drivers.split(","), options.modes.split(",")
    if not set(options.drivers) <= {"shm", "dpdk", "verbs"}:
        parser.error(f"--drivers takes shm, dpdk and verbs, not '{','.join(options.drivers)}'")
    if not set(options.modes) <= set(MODES):
        parser.error(f"--modes takes {', '.join(MODES)}, not '{','.join(options.modes)}'")
    try:
        options.busy = [int(word) for word in options.busy.split(",")]
    except ValueError:
        parser.error(f"--busy takes numbers, separated by commas, not '{options.busy}'")
    if min(options.busy) < 0 or not 10 <= options.count <= 1_000_000 or options.turns < 1:
        parser.error("--busy takes numbers from 0, --count 10 to 1000000, --turns at least 1")
    return options


def measure(options, driver, mode):
    """The rows of one job."""
    busy = [str(us) for us in options.busy] + (["-1"] if mode != "poll" else [])  # poll never would
    command = [str(options.build / "core/launch/gasnetrun_pinwire"), "-n", "2", str(options.build / "bench/dispatch"), str(options.count), *busy]
    environment = dict(os.environ, GASNET_DRIVER=driver, GASNET_DISPATCH=mode)
    job = subprocess.run(command, env=environment, text=True, capture_output=True)
    if job.returncode != 0:
        sys.exit(f"dispatch.py: {' '.join(command)} over {driver}, {mode}, ended with {job.returncode}:\n{job.stderr}")
    rows = [json.loads(line) for line in job.stdout.splitlines()]
    return [dict(row, driver=driver, mode=mode) for row in rows]


def middle(rows, driver, mode, what, field, busy=None):
    values = [row[field] for row in rows
              if (row["driver"], row["mode"], row["what"]) == (driver, mode, what) and (busy is None or row["busy_us"] == busy)]
    return statistics.median(values) if values else None


def cell(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def print_tables(options, rows):
    kinds = options.busy + [-1]
    heads = ["waits" if us == 0 else "never polls" if us < 0 else f"polls each {us} us" for us in kinds]
    for driver in options.drivers:
        print(f"\n{driver}: round trip of a Short AM, us, median of {options.turns} medians of {options.count}, by what the receiver does\n")
        print("| mode | " + " | ".join(heads) + " | raw wake, one way | hold+resume, ns | HSL, ns | mutex, ns | idle, % of a core |")
        print("|---" * (len(heads) + 6) + "|")
        for mode in options.modes:
            cells = [cell(middle(rows, driver, mode, "round_trip", "median_us", us), 2) for us in kinds]
            cells.append(cell(middle(rows, driver, mode, "raw_wake", "median_us"), 2))
            cells += [cell(middle(rows, driver, mode, what, "ns"), 1) for what in ("hold_resume", "hsl", "mutex")]
            idle = middle(rows, driver, mode, "idle", "share")
            cells.append(cell(None if idle is None else 100 * idle, 2))
            print(f"| {mode} | " + " | ".join(cells) + " |")


def main():
    options = arguments()
    rows = []
    for _ in range(options.turns):
        for driver in options.drivers:
            for mode in options.modes:
                rows += measure(options, driver, mode)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print_tables(options, rows)


if __name__ == "__main__":
    main()
