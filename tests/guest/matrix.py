#!/usr/bin/env python3
"""Every job of tests/job/api for each segment kind, with 2 and 4 ranks, on each device that scripts/guest can give it: one guest for each
device, one table of all. Fails if a job failed or did not run, 77 where no guest can run.

  tests/guest/matrix.py --build build --table docs/JOBS.md          all of it: an hour and more
  tests/guest/matrix.py --devices siw --only 'rma_matrix/.*/2$'     those whose names (rma_matrix/seq/large/2) match"""

import argparse
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from matrix_cells import DEVICES, KINDS, NICS, RANKS, cells, name_of

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED, DIED = 77, 125
HEADING = """\
# Jobs on devices

Written by `{command}`; not edited by hand. Each job of `tests/job/api` in the virtual machine of `scripts/guest`, for each segment kind, by number of ranks. LARGE may pin a sixteenth of its
segments. rxe and siw are RoCE v2 and iWARP in software, under the driver `verbs`; the NICs are emulated by QEMU, under the driver `dpdk`, through vfio-pci, one for each rank. An empty cell was not run.

Linux {kernel}. {passed} passed, {failed} failed, {skipped} skipped.
"""


def machine(device):
    """scripts/guest's words."""
    if device in NICS:
        return ["--nic", f"{device}:{max(RANKS)}", "--huge-pages", "512", "--memory", "3072"]
    return ["--memory", "3072"] + (["--siw"] if device == "siw" else [])


def run_guest(device, options, logs, begun):
    """The guest's status, and why none can run here. `begun`: goes on where an earlier one died."""
    words = ["python3", HERE / "matrix_cells.py", device, options.build.resolve(), options.only, str(options.limit), *(["rest"] if begun else [])]
    with subprocess.Popen([HERE.parents[1] / "scripts/guest", "--vcpus", "5", "--log-dir", logs, "--timeout", str(options.timeout), *machine(device), "--", *words],
                          stderr=subprocess.PIPE, text=True) as guest:
        try:
            said = guest.communicate()[1]
        finally:
            guest.terminate()  # of no effect on one that has ended
    sys.stderr.write(said)
    return guest.returncode, said.strip().removeprefix("guest: ") if guest.returncode == SKIPPED else None


def run_guests(device, options, logs):
    """Why no guest can run. One whose QEMU crashed, as that of Debian 12 does now and then with several e1000e, is followed by another."""
    done = -1
    while len(read_results(logs)[0]) > done:
        begun, done = done >= 0, len(read_results(logs)[0])
        status, no_guest = run_guest(device, options, logs, begun)
        if status != DIED:
            return no_guest
    return None


def read_results(logs):
    """{cell: problem or None}, the kernel."""
    results, kernel = {}, ""
    if (logs / "cells.jsonl").exists():
        for line in (logs / "cells.jsonl").read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            kernel = result.get("kernel", kernel)
            if "cell" in result:
                results[result["cell"]] = result["problem"]
    return results, kernel


class Table:
    def __init__(self, options):
        self.options, self.columns, self.reasons, self.kernels = options, {}, [], set()
        self.counts = {"pass": 0, "FAIL": 0, "skip": 0}

    def add(self, device, results, kernel, no_guest):
        column = self.columns[device] = {}
        self.kernels |= {kernel} - {""}
        for row, ranks, reason in cells(self.options.only):
            name, reason = name_of(row, ranks), reason or no_guest
            if not reason and name not in results and not self.options.run:
                continue  # an empty cell: nobody asked for it yet
            result = "skip" if reason else "pass" if results.get(name, "did not run") is None else "FAIL"
            self.counts[result] += 1
            column[name] = f"skip {self.note(reason)}" if reason else result

    def note(self, reason):
        if reason not in self.reasons:
            self.reasons.append(reason)
        return self.reasons.index(reason) + 1

    def lines(self):
        heads = [f"{device}, {ranks}" for device in self.columns for ranks in RANKS]
        yield "| job | mode | " + " | ".join(heads) + " |"
        yield "|---" * (len(heads) + 2) + "|"
        for kind in KINDS:
            shown = [row for row, ranks, _ in cells(self.options.only) if row.kind == kind]
            if shown:
                yield f"| **{kind.upper()}** |" + " |" * (len(heads) + 1)
            for row in dict.fromkeys(shown):
                results = [self.columns[device].get(name_of(row, ranks), "") for device in self.columns for ranks in RANKS]
                yield f"| {row.program}{' over drivers that refuse and delay' if row.faults else ''} | {row.mode} | " + " | ".join(results) + " |"
        yield ""
        for number, reason in enumerate(self.reasons, 1):
            yield f"skip {number}: {reason}.  "

    def text(self):
        heading = HEADING.format(command="tests/guest/matrix.py", kernel=", ".join(sorted(self.kernels)) or "unknown", passed=self.counts["pass"], failed=self.counts["FAIL"],
                                 skipped=self.counts["skip"])
        return heading + "\n" + "\n".join(self.lines()) + "\n"


def devices(text):
    chosen = text.split(",")
    for device in chosen:
        if device not in DEVICES:
            raise argparse.ArgumentTypeError(f"{device!r} is none of {', '.join(DEVICES)}")
    return chosen


def parse():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build", help="build directory (build)")
    parser.add_argument("--devices", type=devices, default=list(DEVICES), metavar="D,…", help=", ".join(DEVICES))
    parser.add_argument("--only", default="", metavar="REGEX", help="cells whose names match")
    parser.add_argument("--limit", type=int, default=900, metavar="S", help="for each job (900: a busy machine is slow)")
    parser.add_argument("--timeout", type=int, default=7200, metavar="S", help="for each guest (7200)")
    parser.add_argument("--log-dir", type=pathlib.Path, metavar="DIR", help="keeps each guest's logs and results in DIR/DEVICE, beside those of earlier calls")
    parser.add_argument("--run", action=argparse.BooleanOptionalAction, default=True, help="or only the table of the last results in --log-dir")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="writes the table there too")
    return parser.parse_args()


def leave(number_of_signal, _):
    sys.exit(128 + number_of_signal)


def main():
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, leave)
    options = parse()
    re.compile(options.only)
    if not cells(options.only):
        sys.exit(f"matrix: no cell matches {options.only!r}")
    table = Table(options)
    with tempfile.TemporaryDirectory(prefix="pinwire-matrix-") as folder:
        for device in options.devices:
            logs = (options.log_dir or pathlib.Path(folder)) / device
            no_guest = run_guests(device, options, logs) if options.run else None
            table.add(device, *read_results(logs), no_guest)
    print(table.text())
    if options.table:
        options.table.write_text(table.text(), encoding="utf-8")
    if table.counts["FAIL"]:
        return 1
    return 0 if table.counts["pass"] else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
