#!/usr/bin/env python3
"""Pinwire over verbs beside perftest (ib_write_bw and its kin) on the same RDMA device, in turns in one run: medians and spread.
The speed of a machine wanders, and that of a guest more so; what counts is the share within a turn, whose two measurements follow
each other at once, in one order and the next time in the other: the median of those shares, and their middle half.

Both ends run on this machine; where there is no device, a soft one serves in a guest:
  scripts/guest --vcpus 3 --timeout 900 -- 'rxe-up && bench/beside_perftest.py --device rxe0 --gid 1 --address 10.9.0.1 --cpus 0,1'
"share" is Pinwire's figure as a part of perftest's: of bandwidths and rates more is better, of times less."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("ib_write_bw", "ib_read_bw", "ib_write_lat", "ib_send_lat")
PORT = 18515
LISTENS_S_MAX = 20
RUN_S_MAX = 300
PERFTEST_TRIES = 3
MIB = 1 << 20
# rxe (Linux 6.1) reads a wrong address when it repeats a read twice; a starved device must not give it cause.
QP_TIMEOUT = "20"


class Row:
    """name, unit; perftest's program, bytes, and column of its last line; flood's test, operation, and figure of its row; the bound."""

    def __init__(self, name, unit, program, size, column, test, operation, figure, bound):
        self.name, self.unit, self.program, self.size, self.column = name, unit, program, size, column
        self.test, self.operation, self.figure, self.bound = test, operation, figure, bound


def mib_per_s(row):
    return row["bytes_per_s"] / MIB


ROWS = [
    Row("put, 64 KiB", "MiB/s", "ib_write_bw", 65536, 3, "flood", "put_nb", mib_per_s, ">= 0.95"),
    Row("put, 1 MiB", "MiB/s", "ib_write_bw", MIB, 3, "flood", "put_nb", mib_per_s, ">= 0.95"),
    Row("get, 64 KiB", "MiB/s", "ib_read_bw", 65536, 3, "flood", "get_nb", mib_per_s, ">= 0.95"),
    Row("get, 1 MiB", "MiB/s", "ib_read_bw", MIB, 3, "flood", "get_nb", mib_per_s, ">= 0.95"),
    # perftest's latencies are halves of a round trip, as of two such writes; a blocking put is one, acknowledged.
    Row("put, 8 B: until done, beside a round trip", "us", "ib_write_lat", 8, 4, "pingpong", "put_blocking", lambda row: row["p50_us"], "<= 1.10"),
    Row("Short AM, half a round trip", "us", "ib_send_lat", 8, 4, "pingpong", "am_short", lambda row: row["p50_us"] / 2, "<= 1.15"),
    Row("8-byte puts", "M/s", "ib_write_bw", 8, 4, "flood", "put_nb", lambda row: row["msgs_per_s"] / 1e6, ">= 0.80"),
]


def bound(options, end):
    """Words that keep an end's process on its CPU."""
    return ["taskset", "-c", options.cpus[end]] if options.cpus else []


def perftest(options, row):
    iterations = options.iterations if row.size <= 4096 else max(options.iterations // 8, 20)
    words = [row.program, "-d", options.device, "-F", "-p", str(PORT), "-s", str(row.size), "-n", str(iterations), "-u", QP_TIMEOUT]
    if options.gid is not None:
        words += ["-x", str(options.gid)]
    server = subprocess.Popen(bound(options, 0) + words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + LISTENS_S_MAX
        while True:
            client = subprocess.run([*bound(options, 1), *words, options.address], text=True, capture_output=True, timeout=RUN_S_MAX, check=False)
            figures = re.findall(rf"^\s*{row.size}\s+\d+\s.*$", client.stdout, re.M)
            if client.returncode == 0 and figures:
                break
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"beside_perftest: {' '.join(words)} {options.address} ended with {client.returncode}:\n{client.stdout}{client.stderr}")
            time.sleep(0.2)
        server.wait(RUN_S_MAX)
        value = float(figures[-1].split()[row.column])
        return value * 2 if row.program == "ib_write_lat" else value
    finally:
        server.kill()
        server.wait()


def perftest_again(options, row):
    """It says 0 now and then, where a guest's clock jumps."""
    for _ in range(PERFTEST_TRIES):
        value = perftest(options, row)
        if value > 0:
            return value
    sys.exit(f"beside_perftest: {row.program} says 0, {PERFTEST_TRIES} times")


def flood(options, row, folder):
    path = pathlib.Path(folder) / "flood.json"
    size = 0 if row.operation == "am_short" else row.size
    binding = ["taskset", "-c", ",".join(options.cpus)] if options.cpus else []
    command = [*binding, options.build / "core/launch/gasnetrun_pinwire", "-n", "2", *(["--bind"] if options.cpus else []), options.build / "bench/flood", "--", "--tests", row.test, "--ops", row.operation,
               "--sizes", str(size), "--iterations", str(options.iterations), "--loop-ms", str(options.loop_ms), "--repetitions", "3",
               "--no-references", "--json", path]
    environment = dict(os.environ, GASNET_DRIVER="verbs", GASNET_VERBS_DEVICE=options.device, GASNET_QP_TIMEOUT=QP_TIMEOUT)
    run = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=RUN_S_MAX, check=False)
    if run.returncode != 0:
        sys.exit(f"beside_perftest: {' '.join(map(str, command))} ended with {run.returncode}:\n{run.stderr}")
    return row.figure(json.loads(path.read_text(encoding="utf-8"))[-1])


def cell(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def middle_half(values):
    if len(values) < 4:
        return min(values), max(values)
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def report(ours, theirs):
    print("\n| | unit | Pinwire | perftest | share within a turn | asked |\n|---|---|---|---|---|---|")
    for row in ROWS:
        if not ours[row.name]:
            continue
        shares = [our / their for our, their in zip(ours[row.name], theirs[row.name])]
        low, high = middle_half(shares)
        print(f"| {row.name} | {row.unit} | {cell(ours[row.name])} | {cell(theirs[row.name])}, {row.program} | {statistics.median(shares):.2f} ({low:.2f}-{high:.2f}) | {row.bound} |")


def measure(options, row, folder, turn):
    """Ours and theirs, the first of them the other one each turn."""
    if turn % 2:
        our = flood(options, row, folder)
        return our, perftest_again(options, row)
    their = perftest_again(options, row)
    return flood(options, row, folder), their


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", required=True, help="its name, as ibv_devices prints it")
    parser.add_argument("--gid", type=int, help="index of the GID that perftest uses; RoCE needs one")
    parser.add_argument("--address", default="127.0.0.1", help="of this machine, for perftest's TCP connection (127.0.0.1)")
    parser.add_argument("--build", type=pathlib.Path, default="build", help="build directory (build)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each (3)")
    parser.add_argument("--iterations", type=int, default=1000, help="operations of a loop; of large ones fewer (1000)")
    parser.add_argument("--loop-ms", type=int, default=300, help="time limit of flood's loops above 8 bytes (300)")
    parser.add_argument("--cpus", type=lambda text: text.split(","), metavar="A,B", help="one for each of the two processes, of both programs alike")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name begins so")
    options = parser.parse_args()
    rows = [row for row in ROWS if row.name.startswith(options.only)]
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        sys.exit(f"beside_perftest: there is no {missing[0]} here; install Debian's package perftest")
    ours, theirs = {row.name: [] for row in ROWS}, {row.name: [] for row in ROWS}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds):
            for row in rows:
                our, their = measure(options, row, folder, turn)
                ours[row.name].append(our)
                theirs[row.name].append(their)
                print(f"turn {turn + 1}, {row.name}: {ours[row.name][-1]:.3g} beside {theirs[row.name][-1]:.3g} {row.unit}", file=sys.stderr, flush=True)
    report(ours, theirs)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
