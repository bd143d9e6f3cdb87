"""Rows of nicfw_loop by instructions instead of time, which other work on the machine does not change."""

import re
import shutil

from process import Failed, run

JOB = "instructions"
MESSAGES = (2000, 12000)  # the difference leaves out what a process does once


def countable_rows(builds, scratch, say):
    """The names of the rows that both builds have; none where something is missing."""
    if shutil.which("valgrind") is None:
        say("instructions are not counted: there is no valgrind")
        return []
    try:
        lists = [run([build / "bench/nicfw_loop", "--rows"], folder=scratch).splitlines() for build in builds.values()]
    except Failed:
        say("instructions are not counted: nicfw_loop of one of the builds cannot choose rows")
        return []
    return [row for row in lists[0] if row in lists[1] and row != "primitives"]


def collected(program, messages, row, scratch):
    text = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1", program, messages, row],
               folder=scratch)
    return int(re.search(r"Collected : (\d+)", text).group(1))


def count(row, build, scratch):
    """Instructions for each message."""
    few, many = (collected(build / "bench/nicfw_loop", messages, row, scratch) for messages in MESSAGES)
    if many <= few:
        raise Failed(f"nicfw_loop took {few} instructions for {MESSAGES[0]} messages of {row}, {many} for {MESSAGES[1]}")
    return (many - few) / (MESSAGES[1] - MESSAGES[0])


def count_pairs(rows, builds, scratch, turn):
    """{row: (reference, candidate)}; the builds take turns in being first."""
    order = list(builds) if turn % 2 == 0 else list(builds)[::-1]
    pairs = {}
    for row in rows:
        counts = {side: count(row, builds[side], scratch) for side in order}
        pairs[f"{JOB} {row}"] = tuple(counts[side] for side in builds)
    return pairs
