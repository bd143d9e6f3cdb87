"""The jobs of a comparison, and how what they print becomes rows: {name: cost}, where less is better. Each job takes about a
second, so that those of the two builds that are compared run close to each other, under the same neighbours."""

import json
import os
import re
from dataclasses import dataclass, field, replace

from process import Failed, run

KNOWN_MODES = {"seq": "flood", "par": "flood_par"}
AM = ["am_short", "am_medium", "am_long"]
RMA = ["put_blocking", "get_blocking", "put_nb", "put_nbi", "get_nbi"]
SIZE_WORDS = {8: "8", 65536: "64K", 1048576: "1M"}


@dataclass
class Job:
    name: str  # the first words of its rows' names
    program: str
    arguments: list
    read: object  # (text printed, path of the JSON file) -> {name without the job's: cost}
    unit: str = "ns"
    ranks: int = 1
    environment: dict = field(default_factory=dict)

    def narrow(self, names):
        """The same job for some of its rows only, or itself if it cannot choose."""
        if not self.program.startswith("bench/flood"):
            return self
        words = [name[len(self.name) + 1:].split() for name in names]  # test, operation, bytes
        tests, operations = sorted({word[0] for word in words}), sorted({word[1] for word in words})
        sizes = sorted({int(word[2]) or 8 for word in words})
        return replace(self, arguments=flood_arguments(tests, operations, sizes))


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def read_flood(_text, path):
    with open(path, encoding="utf-8") as rows:
        return {f"{row['test']} {row['op']} {row['bytes']}": 1e9 / row["msgs_per_s"] for row in json.load(rows)}


def read_ex(text, _path):
    """Costs of bench/ex: times as they are, rates as the time of one."""
    cost = {"us": lambda value: 1e3 * value, "ns": float, "M/s": lambda value: 1e3 / value}
    return {f"{row['operation']} {row['bytes']}": cost[row["unit"]](row["value"])
            for row in json_lines(text) if row.get("unit") in cost}


def read_dispatch(text, _path):
    return {f"{row['what']} {row['busy_us']}": 1e3 * row["median_us"] for row in json_lines(text) if row["what"] == "round_trip"}


def read_silent(text, _path):
    return {f"put_8 {row['phase']}, times that alone": row["times"] for row in json_lines(text) if row["what"] == "ratio"}


def read_loop(text, _path):
    rows = re.findall(r"^(\S.*?) +[\d.]+ M/s +([\d.]+) ns/message", text, re.M)
    rows += re.findall(r"^(put flood of \d+).* ([\d.]+) ns/put", text, re.M)
    rows += re.findall(r"^(receive, .*?) +[\d.]+ Gb/s.* ([\d.]+) ns/frame", text, re.M)
    return {name: float(cost) for name, cost in rows}


def flood_arguments(tests, operations, sizes):
    iterations = "50000" if "put_nbi" in operations else "20000"
    return ["--", "--quick", "--no-references", "--iterations", iterations, "--repetitions", "7", "--loop-ms", "10", "--tests", *tests,
            "--ops", *operations, "--sizes", *(SIZE_WORDS.get(size, str(size)) for size in sizes), "--json", "{json}"]


def jobs_of(driver):
    driven = {"ranks": 2, "environment": {"GASNET_DRIVER": driver}}
    for mode, program in KNOWN_MODES.items():
        yield Job(f"{driver} {mode} am", f"bench/{program}", flood_arguments(["pingpong", "flood"], AM, [8, 65536]), read_flood, **driven)
        sizes = [8, 65536, 1048576] if mode == "seq" else [8]
        yield Job(f"{driver} {mode} rma", f"bench/{program}", flood_arguments(["flood"], RMA, sizes), read_flood, **driven)
    yield Job(f"{driver} atomics", "bench/ex/atomics", ["--seconds", "0.005"], read_ex, **driven)
    yield Job(f"{driver} coll", "bench/ex/coll", ["--seconds", "0.005"], read_ex, **driven)
    yield Job(f"{driver} interrupt", "bench/dispatch", ["100", "0.1", "0", "-1"], read_dispatch, ranks=2,
              environment={"GASNET_DRIVER": driver, "GASNET_DISPATCH": "interrupt"})


def all_jobs():
    yield from jobs_of("shm")
    yield from jobs_of("dpdk")
    yield Job("dpdk silent", "bench/silent_peers", [], read_silent, unit="times", ranks=5, environment={"GASNET_DRIVER": "dpdk"})
    yield Job("nicfw", "bench/nicfw_loop", ["100000"], read_loop)


def run_job(job, build, scratch):
    """Its rows, by whole names."""
    path = scratch / "rows.json"
    command = [build / job.program, *(word.format(json=path) for word in job.arguments)]
    cores = sorted(os.sched_getaffinity(0))
    if job.ranks > 1:
        bind = ["--bind"] if job.ranks <= len(cores) else []
        command = [build / "core/launch/gasnetrun_pinwire", "-n", job.ranks, *bind, *command]
    text = run(command, environment=job.environment, cores=cores[-1:] if job.ranks == 1 else None, folder=scratch)
    rows = {f"{job.name} {name}": cost for name, cost in job.read(text, path).items()}
    if not rows or not all(cost > 0 for cost in rows.values()):
        raise Failed(f"{job.program} printed no rows, or costs of nothing: {text[-500:]}")
    return rows
