"""Checks that includes point downward only (the rooms of the README's picture, among them the core
API below the extended one: C1-309), that units include each other in no new cycles, and that nicfw
depends on nothing that has a job, an environment, a thread or a clock of its own. Prints each
violation; exit status 1 if there is one.

    check_layers.py [ROOT]    of the sources there; those around this script otherwise"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Bottom to top. A file may include its own room and rooms of lower rows.
ROWS = (
    ("core/base",),
    ("core/base/files", "core/base/memory", "core/base/threads"),
    ("core/base/descriptors",),
    ("core/debug", "core/topo", "core/trace", "driver", "driver/rdma"),
    ("driver/shm", "driver/verbs/device", "nicfw/port"),
    ("nicfw/wire",),
    ("nicfw/memory", "nicfw/pool"),
    ("nicfw/flow",),
    ("nicfw/operation", "nicfw/peer", "nicfw/receive"),
    ("nicfw/lane",),
    ("nicfw",),
    ("driver/verbs/peer",),
    ("driver/verbs/receive",),
    ("driver/verbs/lane",),
    ("driver/verbs/connect",),
    ("driver/verbs",),
    ("driver/dpdk/eal", "driver/dpdk/fabric", "driver/dpdk/ip"),
    ("driver/dpdk/port",),
    ("driver/dpdk", "driver/dpdk/switch", "core/config", "tests/support"),  # of the tests a port in memory, which benches use, too
    ("core/bootstrap", "core/tools"),
    ("core",),
    ("core/launch/loop", "pin/kernel"),
    ("core/launch/process", "core/launch/streams", "pin"),
    ("core/launch/hosts", "core/launch/options"),
    ("core/launch/network", "core/launch/remote", "core/launch/sweep"),
    ("core/launch/plan",),
    ("core/launch/agent", "core/launch/job"),
    ("core/launch",),
    ("segment",),
    ("am/message", "am/wake"),
    ("am/path",),
    ("am/handlers",),
    ("am/poll",),
    ("am/wait",),
    ("am/interrupts", "am/send"),
    ("am/on_demand",),
    ("am/long",),
    ("am",),
    ("extended/state",),
    ("extended/drivers",),
    ("extended/segments",),
    ("extended/rma",),
    ("extended/atomics", "extended/barrier", "extended/checks"),
    ("extended/coll/member", "extended/vis"),
    ("extended/coll/operation",),
    ("extended/coll/messages",),
    ("extended/coll/progress",),
    ("extended/coll/algorithms",),
    ("extended/team",),
    ("extended/job",),
    ("extended/api",),
    ("extended/api/ex", "extended/api/gasnet1"),
    ("extended",),
    ("core/api",),
    ("extended/upc",),  # a client: it calls what is public
    ("bench/flood/numbers",),
    ("bench/flood/words",),
    ("bench/flood/plan",),
    ("bench/flood/host",),
    ("bench/flood/loops",),
    ("bench/flood/roles",),
    ("bench",),
    ("tests",),
)
LAYERS = {room: layer for layer, row in enumerate(ROWS) for room in row}
# Units of these folders still include each other in cycles, of so many units at most. No other ones do.
CYCLES_MAX = {
    "core/config": 2,
    "core/trace": 3,
    "tests/sim": 2,
    "tests/sim/am": 2,
    "tests/support/verbs": 2,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
# Headers that nicfw may not include: the simulator must own time, threads, randomness and the environment.
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


def violations(root, path):
    name = path.relative_to(root).as_posix()
    room = room_of(name)
    if room is None:
        return
    for mark, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if room.split("/")[0] == "nicfw" and NICFW_FORBIDDEN.fullmatch(f"<{target}>"):
            yield f"{name} includes <{target}>, which a deterministic simulator cannot own"
        if mark == "<":
            continue
        to = room_of(target)
        if to is None or to == room or (name, to) in ALLOWED:
            continue
        if LAYERS[to] >= LAYERS[room]:
            yield f"{name} ({room}) includes {target} ({to}), which is not below it"


def units_of(root, paths):
    """A unit is a header and the source of its name. For each, the units whose headers it includes."""
    stems = {path.relative_to(root).with_suffix("").as_posix(): set() for path in paths if path.suffix != ".c"}
    for path in paths:
        unit = path.relative_to(root).with_suffix("")
        for mark, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if mark == "<":
                continue
            for other in (pathlib.Path(target).with_suffix(""), unit.parent / pathlib.Path(target).with_suffix("")):
                if other.as_posix() in stems and other != unit:
                    stems.get(unit.as_posix(), set()).add(other.as_posix())
                    break
    return stems


def cycles(units):
    """Sets of units that include each other, straight or by way of others."""
    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for other in units[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        return seen

    reach = {unit: reached(unit) for unit in units}
    found = {frozenset(other for other in reach[unit] if unit in reach[other]) for unit in units if unit in reach[unit]}
    return sorted(sorted(one) for one in found)


def main(root):
    paths = [path for suffix in ("h", "cc", "c") for path in sorted(root.rglob(f"*.{suffix}"))
             if not any(part.startswith(("build", ".")) for part in path.relative_to(root).parts)]
    found = [line for path in paths for line in violations(root, path)]
    for cycle in cycles(units_of(root, paths)):
        rooms = {unit.rpartition("/")[0] for unit in cycle}
        if len(cycle) > max(CYCLES_MAX.get(room, 0) for room in rooms):
            found.append(f"these units include each other: {' '.join(cycle)}")
    for line in found:
        print(line)
    print(f"{len(found)} violations of the layers")
    sys.exit(1 if found else 0)


main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
