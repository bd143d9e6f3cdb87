"""The cells of the matrix: every job of tests/job/api, in its modes, for each segment kind, with 2 and 4 ranks, and what each
needs on each device. Called in a guest, runs those of one device, or the rest of them: matrix_cells.py DEVICE BUILD PATTERN LIMIT-S [rest]."""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

RANKS = (2, 4)
KINDS = ("fast", "large", "everything")
RDMA = {"rxe": "rxe-up", "siw": "siw-up"}
NICS = ("e1000e", "vmxnet3", "virtio-net-pci")
DEVICES = (*RDMA, *NICS)
TAIL_LINES = 40

# A row is a program in a mode for a kind; `faults` are those of GASNET_FAULTS, in the drivers under it.
Row = collections.namedtuple("Row", "program mode kind faults")
# segment_kib: of which LARGE may pin a sixteenth. words: its arguments, fewer rounds than on the host, whose CPU is not emulated.
Program = collections.namedtuple("Program", "modes segment_kib words kinds", defaults=[[], KINDS])
PROGRAMS = {
    "am_matrix": Program(("seq", "parsync", "par"), 4096, ["8"]),
    "barrier_matrix": Program(("seq", "parsync", "par"), 4),
    "rma_matrix": Program(("seq", "parsync", "par"), 8192, ["4096"]),
    "storm": Program(("seq", "parsync", "par"), 1024),
    "threads": Program(("par",), 1024),
    "random_traffic": Program(("seq", "par"), 20992, ["200", "4096"]),
    "fork": Program(("seq",), 4096, ["1"]),
    "uneven": Program(("seq",), 8192),
    "remap": Program(("par",), 0, ["6"]),
    "no_allocation": Program(("seq", "par"), 65536),
    # GASNet-EX
    "ex": Program(("seq", "parsync", "par"), 4096, kinds=("fast", "large")),
    "endpoints": Program(("seq", "par"), 4096, kinds=("fast", "large")),
    "vis": Program(("seq", "par"), 4096, kinds=("fast", "large")),
    "atomics": Program(("seq", "par"), 4096),
    "atomics_contend": Program(("par",), 4096),
    "coll": Program(("seq", "par"), 4096, kinds=("fast",)),
    "teams": Program(("seq", "par"), 4096, kinds=("fast",)),
    "np": Program(("seq", "par"), 4096, kinds=("fast",)),
}


def why_not(row):
    """Why the program does not exist."""
    if row.kind != "fast" and row.program == "no_allocation":
        return "what pins on demand allocates, in libibverbs and the kernel"
    if row.kind != "everything" and row.program == "remap":
        return "memory that comes and goes is no segment"
    if row.kind == "everything" and row.program == "uneven":
        return "there are no segments"
    return None


def rows():
    made = [Row(name, mode, kind, "") for name, program in PROGRAMS.items() for kind in program.kinds for mode in program.modes
            if mode != "parsync" or kind == "fast"]
    made += [Row(name, "par", kind, "refuse=0.2,delay=0.2") for name in ("am_matrix", "rma_matrix") for kind in ("fast", "everything")]
    return made


def name_of(row, ranks):
    return "/".join([row.program, row.mode, row.kind] + (["faulty"] if row.faults else []) + [str(ranks)])


def executable(row):
    words = [row.program, "faulty"] if row.faults else [row.program, row.mode]
    return "_".join(words + ([row.kind] if row.kind != "fast" else []))


def cells(pattern):
    """(row, ranks, why not) of every cell whose name the pattern is found in."""
    return [(row, ranks, why_not(row)) for row in rows() for ranks in RANKS if re.search(pattern, name_of(row, ranks))]


def environment(row, device, nics):
    words = {"GASNET_NETWORKDEPTH": "2" if row.program == "storm" else "256", "GASNET_BACKTRACE": "no"}
    if device in RDMA:
        # rxe of Linux 6.1 reads from a wrong address when it repeats a read twice, so it must have no reason to.
        words |= {"GASNET_DRIVER": "verbs", "GASNET_QP_TIMEOUT": "20"}
    else:
        words |= {"GASNET_DRIVER": "dpdk", "GASNET_DPDK_PCI": nics}
    if row.kind == "large":
        words["GASNET_PIN_BUDGET"] = f"{max(PROGRAMS[row.program].segment_kib // 16, 4)}K"
    if row.faults:
        words["GASNET_FAULTS"] = row.faults
    return dict(os.environ, **words)


def run(command, words, limit_s):
    """None, or what went wrong."""
    # pylint: disable-next=consider-using-with
    job = subprocess.Popen(command, env=words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said, _ = job.communicate(timeout=limit_s)
        problem = f"left with {job.returncode}" if job.returncode != 0 else None
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGTERM)
        said, _ = job.communicate()
        problem = f"no end after {limit_s} s"
    if problem:
        print("\n".join(said.splitlines()[-TAIL_LINES:]), flush=True)
    return problem


def main(device, build, pattern, limit_s, rest=None):
    up = subprocess.run([RDMA.get(device, "vfio-up")], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    failures, path = 0, pathlib.Path(os.environ["GUEST_LOGS"]) / "cells.jsonl"
    done = {json.loads(line).get("cell") for line in path.read_text(encoding="utf-8").splitlines()} if rest else set()
    with open(path, "a", encoding="utf-8") as results:
        results.write(json.dumps({"kernel": os.uname().release}) + "\n")
        for row, ranks, reason in cells(pattern):
            if reason or name_of(row, ranks) in done:
                continue
            begin = time.monotonic()
            command = [f"{build}/core/launch/gasnetrun_pinwire", "-n", str(ranks), f"{build}/tests/job/api/{executable(row)}", *PROGRAMS[row.program].words]
            problem = run(command, environment(row, device, up), limit_s)
            failures += problem is not None
            results.write(json.dumps({"cell": name_of(row, ranks), "problem": problem}) + "\n")
            results.flush()
            print(f"{device}: {name_of(row, ranks)}: {problem or 'ok'} ({time.monotonic() - begin:.1f} s)", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], int(sys.argv[4]), *sys.argv[5:]))
