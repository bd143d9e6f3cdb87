#!/usr/bin/env python3
"""Measures the costs and the use of each GASNET_DISPATCH: how long a Short active message takes to a rank that waits inside GASNet, sleeps,
polls now and then, or computes and never polls; how many a second it takes, and what each costs the computation that it
interrupts; sections, locks and idling. Modes take turns; medians count, and the range of all turns stands beside them. The
interrupt's floor, an eventfd that wakes a thread that signals another, is measured in the same jobs."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import report

MODES = ["poll", "interrupt", "watchdog", "thread", "nicproc"]
DRIVERS = ["shm", "dpdk", "verbs"]
NEVER_POLLS, SLEEPS = -1, -2


def words_of(option, known):
    def read(text):
        words = text.split(",")
        if not set(words) <= set(known):
            raise argparse.ArgumentTypeError(f"--{option} takes {', '.join(known)}, not '{text}'")
        return words
    return read


def busy_times(text):
    words = text.split(",")
    if not all(word.isdigit() and int(word) <= 1_000_000 for word in words):
        raise argparse.ArgumentTypeError(f"--busy takes microseconds from 0 to 1000000, separated by commas, not '{text}'")
    return sorted(set(map(int, words)))


def writable(text):
    path = pathlib.Path(text)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"cannot write {path}: name another file")
    return path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build", help="build directory (build)")
    parser.add_argument("--drivers", type=words_of("drivers", DRIVERS), default="shm,dpdk", help="of shm, dpdk and verbs (shm,dpdk)")
    parser.add_argument("--modes", type=words_of("modes", MODES), default=",".join(MODES), help="of " + ", ".join(MODES) + " (all)")
    parser.add_argument("--busy", type=busy_times, default="0,1,10,100,1000,10000,100000",
                        help="microseconds between two polls of the receiver, 0: it waits inside GASNet (0,1,10,100,1000,10000,100000)")
    parser.add_argument("--count", type=int, default=1000, help="messages of each kind in a turn (1000)")
    parser.add_argument("--seconds", type=float, default=1, help="of each kind in a turn, at most, but for 10 messages (1)")
    parser.add_argument("--turns", type=int, default=3, help="jobs of each mode (3)")
    parser.add_argument("--markdown", type=writable, metavar="FILE", help="write the tables to FILE, too")
    parser.add_argument("--json", type=writable, metavar="FILE", help="write every measurement to FILE")
    parser.add_argument("--svg", type=writable, metavar="FILE", help="draw latency against the receiver's busy time (python3-matplotlib)")
    options = parser.parse_args()
    if not 10 <= options.count <= 1_000_000:
        parser.error("--count takes 10 to 1000000")
    if not 0 < options.seconds <= 3600 or options.turns < 1:
        parser.error("--seconds takes more than 0, --turns at least 1")
    return options


def measure(options, driver, mode):
    """The rows of one job."""
    # In poll nobody would answer for one that never polls.
    kinds = options.busy + ([SLEEPS, NEVER_POLLS] if mode != "poll" else [])
    command = [str(options.build / "core/launch/gasnetrun_pinwire"), "-n", "2", str(options.build / "bench/dispatch"),
               str(options.count), str(options.seconds), *map(str, kinds)]
    environment = dict(os.environ, GASNET_DRIVER=driver, GASNET_DISPATCH=mode)
    try:
        job = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    except OSError as bad:
        sys.exit(f"dispatch.py: cannot run {command[0]}: {bad.strerror}; build it with ninja, or name the directory with --build")
    if job.returncode != 0:
        sys.exit(f"dispatch.py: {' '.join(command)} over {driver}, {mode}, ended with {job.returncode}:\n{job.stderr}")
    return [dict(json.loads(line), driver=driver, mode=mode) for line in job.stdout.splitlines()]


def measure_all(options):
    jobs = [(driver, mode) for _ in range(options.turns) for driver in options.drivers for mode in options.modes]
    rows = []
    is_terminal = sys.stderr.isatty()
    for number, (driver, mode) in enumerate(jobs):
        print(("\r\x1b[K" if is_terminal else "") + f"{number + 1} of {len(jobs)}: {driver}, {mode}",
              end="" if is_terminal else "\n", file=sys.stderr, flush=True)
        rows += measure(options, driver, mode)
    print("\r\x1b[K" if is_terminal else "", end="", file=sys.stderr, flush=True)
    return rows


def main():
    options = arguments()
    rows = measure_all(options)
    facts = {"cpus": os.cpu_count(), "turns": options.turns, "count": options.count, "seconds": options.seconds,
             "busy_us": options.busy, "drivers": options.drivers, "modes": options.modes}
    if options.json:
        options.json.write_text(json.dumps(dict(facts, rows=rows), indent=1) + "\n", encoding="utf-8")
    tables = report.markdown(facts, rows)
    if options.markdown:
        options.markdown.write_text(tables, encoding="utf-8")
    print(tables, end="")
    if options.svg:
        missing = report.draw(facts, rows, options.svg)
        if missing:
            print(f"dispatch.py: {missing}", file=sys.stderr)


if __name__ == "__main__":
    main()
