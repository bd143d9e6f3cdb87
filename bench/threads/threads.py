#!/usr/bin/env python3
"""How Short active messages and 8-byte puts scale with threads (PAR), beside as many ranks of one thread each.

N threads: one rank sends with N threads to another, which waits with N. N ranks: N ranks send to N others. The rate
is that of all senders together. Ctrl-C ends the job that runs and prints what there is."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

OPERATIONS = {"am_short": "Short AM", "put_nbi_8": "8-byte put"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build", help="build directory (build)")
    parser.add_argument("--threads", default="1,2,4,8,16", help="numbers of threads, and of ranks (1,2,4,8,16)")
    parser.add_argument("--drivers", default="shm,dpdk", help="of shm and dpdk (both)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement (0.5)")
    parser.add_argument("--turns", type=int, default=3, help="measurements of which the median counts (3)")
    parser.add_argument("--json", type=pathlib.Path, help="write every measurement to this file")
    options = parser.parse_args()
    try:
        options.threads = [int(word) for word in options.threads.split(",")]
    except ValueError:
        parser.error(f"--threads takes numbers, separated by commas, not '{options.threads}'")
    options.drivers = options.drivers.split(",")
    if not all(1 <= count <= 64 for count in options.threads):
        parser.error("--threads takes numbers from 1 to 64")
    if not set(options.drivers) <= {"shm", "dpdk"}:
        parser.error(f"--drivers takes shm and dpdk, not '{','.join(options.drivers)}'")
    if options.turns < 1 or not 0 < options.seconds <= 3600:
        parser.error("--turns takes at least 1, --seconds more than 0")
    return options


def measure(options, driver, ranks, threads):
    """The rows of one job. Raises KeyboardInterrupt only after the job has ended."""
    command = [options.build / "core/launch/gasnetrun_pinwire", "-n", str(ranks),
               options.build / "bench/threads", "--threads", str(threads), "--seconds", str(options.seconds)]
    # In a session of its own: Ctrl-C is for this program, which passes it on as SIGTERM; it waits until there is somebody to tell.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    job = subprocess.Popen(command, env=dict(os.environ, GASNET_DRIVER=driver), text=True, start_new_session=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT]))
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        out, err = job.communicate()
    except KeyboardInterrupt:
        job.send_signal(signal.SIGTERM)
        job.communicate()
        raise
    if job.returncode != 0:
        sys.exit(f"threads.py: {' '.join(map(str, command))} over {driver} ended with {job.returncode}:\n{err}")
    return [json.loads(line) for line in out.splitlines()]


def measure_all(options, rows):
    kinds = [(2, count) for count in options.threads] + [(2 * count, 1) for count in options.threads if count > 1]
    jobs = [(driver, *kind) for _ in range(options.turns) for driver in options.drivers for kind in kinds]
    for number, (driver, ranks, threads) in enumerate(jobs):
        print(f"\r\x1b[K{number + 1} of {len(jobs)}: {driver}, {ranks} ranks of {threads} threads" if sys.stderr.isatty()
              else f"{number + 1} of {len(jobs)}: {driver}, {ranks} ranks of {threads} threads\n",
              end="", file=sys.stderr, flush=True)
        rows += measure(options, driver, ranks, threads)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)


def rate(rows, driver, operation, ranks, threads):
    rates = sorted(row["msgs_per_s"] for row in rows
                   if (row["driver"], row["op"], row["ranks"], row["threads"]) == (driver, operation, ranks, threads))
    return rates[len(rates) // 2] if rates else None


def cell(value, reference):
    if value is None:
        return f"{'-':>18}"
    share = f"{value / reference:5.2f} x" if reference else ""
    return f"{value / 1e6:10.3f}{share:>8}"


def table(rows, options):
    for driver in options.drivers:
        for operation, title in OPERATIONS.items():
            one = rate(rows, driver, operation, 2, 1)
            print(f"\n{title} over {driver}, millions a second, all senders together (1 thread: 1.00 x)")
            print(f"  {'N':>3}{'N threads':>18}{'N ranks':>18}")
            for count in options.threads:
                print(f"  {count:3}{cell(rate(rows, driver, operation, 2, count), one)}"
                      f"{cell(rate(rows, driver, operation, 2 * count, 1), one)}")


def main():
    options = arguments()
    rows, code = [], 0
    try:
        measure_all(options, rows)
    except KeyboardInterrupt:
        print("\nthreads.py: stopped; what there is so far:", file=sys.stderr)
        code = 130
    table(rows, options)
    if options.json:
        options.json.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
