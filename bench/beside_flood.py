#!/usr/bin/env python3
"""flood over Pinwire beside flood over GASNet-EX, in turns in one run: medians and spread.

The same program, built over both: configure with `-Dbeside=smp-seq,udp-seq` while PKG_CONFIG_PATH
names an installation of GASNet-EX with those conduits. Shared memory runs beside smp, DPDK (two
processes over vhost and virtio_user) beside udp over loopback."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = ["8", "512", "4K", "64K", "1M"]
OPS = ["am_short", "am_medium", "am_long", "put_blocking", "get_blocking", "put_nb", "put_nbi", "get_nbi"]
RUN_S = 600


def ours(build, driver, program, ranks=2):
    """Command and environment that start a program of bench/."""
    bind = ["--bind"] if ranks <= len(os.sched_getaffinity(0)) else []
    return ([os.path.join(build, "core", "launch", "gasnetrun_pinwire"), "-n", str(ranks), *bind,
             os.path.join(build, "bench", program)], {"GASNET_DRIVER": driver})


def theirs(build, conduit, program, mode, ranks=2):
    program = os.path.join(build, "bench", f"{program}_gasnet_{conduit}-{mode}")
    if conduit == "smp":
        return [program], {"GASNET_PSHM_NODES": str(ranks)}
    # Each rank a supernode of its own: over UDP, not over shared memory.
    return [program, str(ranks)], {"GASNET_SPAWNFN": "L", "GASNET_SUPERNODE_MAXSIZE": "1"}


def figures(start, environment, arguments):
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "rows.json")
        run = subprocess.run([*start, *arguments, "--json", table, "--no-references"], text=True, capture_output=True,
                             env={**os.environ, **environment}, timeout=RUN_S)
        if run.returncode != 0:
            sys.exit(f"beside_flood: {start[0]} ended with code {run.returncode}: {run.stderr[-300:]}")
        with open(table) as rows:
            return {(row["test"], row["op"], row["bytes"]): row for row in json.load(rows)}


def reading(key):
    """Returns how a row is judged: its name, unit, whether more is better, how to read it."""
    test, op, size = key
    if test == "pingpong":
        return "us", False, lambda row: 1e6 / row["msgs_per_s"]
    if size >= 4096:
        return "GB/s", True, lambda row: row["bytes_per_s"] / 1e9
    return "M/s", True, lambda row: row["msgs_per_s"] / 1e6


def text(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def compare(build, driver, conduit, options):
    program = "flood" if options.mode == "seq" else "flood_par"
    arguments = ["--quick", "--sizes", *SIZES, "--ops", *OPS]
    mine, peer = [], []
    for turn in range(options.rounds):
        print(f"\r{driver} beside {conduit}: round {turn + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
        mine.append(figures(*ours(build, driver, program), ["--", *arguments]))  # after those of EAL
        peer.append(figures(*theirs(build, conduit, "flood", options.mode), arguments))
    print("\r\033[K", end="", file=sys.stderr)
    print(f"\n### {driver} beside GASNet-EX {conduit}, {options.mode.upper()}, {options.rounds} turns each\n")
    print("| test | operation | bytes | unit | Pinwire | GASNet-EX | times better |")
    print("|---|---|---|---|---|---|---|")
    for key in mine[0]:
        if any(key not in run for run in peer + mine):
            continue
        unit, more_is_better, read = reading(key)
        left, right = ([read(run[key]) for run in runs] for runs in (mine, peer))
        better = statistics.median(left) / statistics.median(right)
        print(f"| {key[0]} | {key[1]} | {key[2]} | {unit} | {text(left)} | {text(right)} "
              f"| {better if more_is_better else 1 / better:.2f} |")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"), metavar="DIR")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mode", choices=["seq", "par"], default="seq")
    options = parser.parse_args()
    pairs = [(driver, conduit) for driver, conduit in (("shm", "smp"), ("dpdk", "udp"))
             if os.access(os.path.join(options.build, "bench", f"flood_gasnet_{conduit}-{options.mode}"), os.X_OK)]
    if not pairs:
        sys.exit(f"beside_flood: {options.build}/bench has no flood over another GASNet; configure it with "
                 f"-Dbeside=smp-{options.mode},udp-{options.mode} and PKG_CONFIG_PATH set, then run ninja")
    for driver, conduit in pairs:
        compare(options.build, driver, conduit, options)


if __name__ == "__main__":
    main()
