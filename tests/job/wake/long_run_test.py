#!/usr/bin/env python3
"""long_run.py carries on where it was left; a slice of what it runs for an hour.
Usage: long_run_test.py LAUNCHER PROGRAM DRIVER CYCLES"""

import json
import pathlib
import subprocess
import sys
import tempfile

LAUNCHER, PROGRAM, DRIVER, CYCLES = sys.argv[1:4] + [int(sys.argv[4])]
LONG_RUN = pathlib.Path(__file__).with_name("long_run.py")


def run(path, cycles, driver=DRIVER):
    return subprocess.run([sys.executable, LONG_RUN, "--launcher", LAUNCHER, "--program", PROGRAM, "--driver", driver, "--file", path,
                           "--cycles", str(cycles), "--job", str(CYCLES // 2), "--sleep-one-in", "16"], text=True, capture_output=True, check=False)


def expect(holds, *what):
    if not holds:
        sys.exit(" ".join(map(str, what)))


with tempfile.TemporaryDirectory() as folder:
    count = pathlib.Path(folder) / "count"
    first = run(count, CYCLES // 2)
    expect(first.returncode == 0, first.stderr)
    before = json.loads(count.read_text(encoding="utf-8"))
    second = run(count, CYCLES)
    expect(second.returncode == 0, second.stderr)
    after = json.loads(count.read_text(encoding="utf-8"))
    print(second.stdout, end="")
    expect(CYCLES // 2 <= before["cycles"] < after["cycles"] and after["cycles"] >= CYCLES, before, after)
    expect(0 < before["jobs"] < after["jobs"], before, after)
    expect(after["found"] + after["woken"] == after["cycles"], after)
    expect(after["found"] > 0 and 0 < after["asleep"] < after["woken"], "one kind of cycle did not occur:", after)
    other = run(count, 2 * CYCLES, "verbs" if DRIVER == "shm" else "shm")
    expect(other.returncode == 1 and "name another file" in other.stderr, "another driver's count was taken:", other.stderr)
    expect(json.loads(count.read_text(encoding="utf-8")) == after, "it was changed")
