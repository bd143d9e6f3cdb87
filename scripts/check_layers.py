"""Checks that includes point downward only (the rooms of the README's picture, among them the core
API below the extended one: C1-309), and that nicfw depends on nothing that has a job, an environment, a
thread or a clock of its own. Prints each violation; exit status 1 if there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Bottom to top. A file may include its own room and rooms of a lower number.
LAYERS = {
    "core/base": 0,
    "core/debug": 1,
    "core/topo": 1,
    "core/trace": 1,
    "driver": 1,
    "driver/rdma": 1,
    "driver/shm": 2,
    "driver/verbs": 2,
    "nicfw": 2,
    "driver/dpdk": 3,
    "core/config": 3,
    "core/bootstrap": 4,
    "core/tools": 4,
    "core": 5,
    "core/launch": 6,
    "pin": 6,
    "segment": 7,
    "am": 8,
    "extended": 9,
    "core/api": 10,
    "bench": 11,
    "tests/support": 3,  # a port in memory, for tests and benches
    "tests": 12,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
# What nicfw may not have: the simulator must own time, threads, randomness and the environment.
NICFW_FORBIDDEN = re.compile(
    r"<(thread|chrono|random|mutex|condition_variable|unistd\.h|time\.h|ctime|sys/.*|pthread\.h)>")
# The one look upward: internals see the public C types that they implement.
ALLOWED = {("core/api_types.h", "core/api"), ("core/tools/api.h", "core/api")}


def room_of(path):
    """The room with the longest name that holds this path, or None."""
    best = None
    for room in LAYERS:
        if path.startswith(room + "/") and (best is None or len(room) > len(best)):
            best = room
    return best


def violations(path):
    name = path.relative_to(ROOT).as_posix()
    room = room_of(name)
    if room is None:
        return
    for mark, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if room == "nicfw" and NICFW_FORBIDDEN.fullmatch(f"<{target}>"):
            yield f"{name} includes <{target}>, which a deterministic simulator cannot own"
        if mark == "<":
            continue
        to = room_of(target)
        if to is None or to == room or (name, to) in ALLOWED:
            continue
        if LAYERS[to] >= LAYERS[room]:
            yield f"{name} ({room}) includes {target} ({to}), which is not below it"


def main():
    found = []
    for suffix in ("h", "cc", "c"):
        for path in sorted(ROOT.rglob(f"*.{suffix}")):
            if not any(part.startswith(("build", ".")) for part in path.relative_to(ROOT).parts):
                found += violations(path)
    for line in found:
        print(line)
    print(f"{len(found)} violations of the layers")
    sys.exit(1 if found else 0)


main()
