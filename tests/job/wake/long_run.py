#!/usr/bin/env python3
"""Arm/sleep cycles (races.cc) by the billion: jobs one after the other, each with a seed of its own, until so many cycles have
run in all. The list of jobs that have run is kept in a file after each job, so that a run that was ended is carried on by the same
command. Ends with 1 at the first lost wake-up, and says with which seed."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

FIELDS = ("cycles", "found", "woken", "asleep", "seconds")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", required=True, help="gasnetrun_pinwire; -: the program needs none")
    parser.add_argument("--program", required=True, help="wake_races; without a launcher verbs_races, the verbs driver over a fake network")
    parser.add_argument("--file", required=True, type=pathlib.Path, help="the count: made, or carried on")
    parser.add_argument("--driver", default="shm", help="GASNET_DRIVER (shm); a file holds those of one")
    parser.add_argument("--cycles", type=int, default=10**9, help="in all (10^9)")
    parser.add_argument("--job", type=int, default=10**7, help="cycles of one job (10^7)")
    parser.add_argument("--sleep-one-in", type=int, default=256, help="of the cycles that wait, about one in so many sleeps (256)")
    options = parser.parse_args()
    if min(options.cycles, options.job, options.sleep_one_in) < 1:
        parser.error("--cycles, --job and --sleep-one-in take at least 1")
    return options


def load(options):
    if not options.file.exists():
        return dict({field: 0 for field in FIELDS}, driver=options.driver, jobs=0)
    try:
        done = json.loads(options.file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as bad:
        sys.exit(f"long_run.py: cannot read {options.file}: {bad}; name another file")
    if done.get("driver") != options.driver:
        sys.exit(f"long_run.py: {options.file} counts cycles over {done.get('driver')}, not {options.driver}: name another file")
    return done


def store(path, done):
    """Whole, or not at all."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(done) + "\n", encoding="utf-8")
    os.replace(beside, path)


def run_job(options, cycles, seed):
    launched = [] if options.launcher == "-" else [options.launcher, "-n", "2"]
    command = [*launched, options.program, str(cycles), str(seed), str(options.sleep_one_in)]
    job = subprocess.run(command, env=dict(os.environ, GASNET_DRIVER=options.driver), text=True, capture_output=True, check=False)
    if job.returncode != 0:
        sys.exit(f"long_run.py: {' '.join(command)} over {options.driver} ended with {job.returncode}:\n{job.stdout}{job.stderr}")
    return json.loads(job.stdout)


def main():
    options = arguments()
    done = load(options)
    while done["cycles"] < options.cycles:
        ran = run_job(options, min(options.job, options.cycles - done["cycles"]), done["jobs"] + 1)
        for field in FIELDS:
            done[field] += ran[field]
        done["jobs"] += 1
        store(options.file, done)
    rate = done["cycles"] / done["seconds"] if done["seconds"] else 0
    print(f"{done['cycles']} cycles over {done['driver']} in {done['jobs']} jobs, {done['seconds']:.0f} s ({rate:.0f}/s): {done['found']} found a message "
          f"after arming, {done['woken']} were woken, {done['asleep']} of them asleep; none was lost")


if __name__ == "__main__":
    main()
