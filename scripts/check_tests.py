"""Checks that the unit tests mirror the sources: the tests of a folder F lie in tests/unit/F, those of tests/support/F in
tests/unit/support/F, and a test that has a unit's name and includes its header lies in that unit's folder. Each unit that has code is
run by something: a unit test of its name or one that includes its header, or a run of tests/mutants/coverage.toml, which names the
unit tests, jobs and conformance cases that a mutant of the unit must fail. Prints each violation; exit status 1 if there is one.

    check_tests.py [ROOT]             of the tree there; of the one around this script otherwise
    check_tests.py --list [PATTERN]   which tests run each unit"""

import collections
import fnmatch
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("am", "bench", "core", "driver", "extended", "nicfw", "pin", "segment")
UNIT_TESTS = "tests/unit/"
SUPPORT = "support"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# Unit tests of public headers, which are one interface, not units.
WITHOUT_UNITS = ("tests/unit/api",)
# "units": what runs them, though neither a unit test nor a mutant does.
RUN_OTHERWISE = {
    "bench/*": "job/flood*, job/ex_bench/*, job/threads_bench/* and job/dispatch_bench/*",
    "core/base/breach": "job/usage",
    "core/base/files/number_file": "unit/launch, by way of oom_kills",
    "core/base/memory/mapped_copy": "job/peer_memory",
    "core/base/threads/library_thread": "job/blocked/*",
    "core/bootstrap/job_key": "job/namespaces",
    "core/bootstrap/pmix/*": "job/launch_pmix, job/slurm, job/kill_matrix/mpirun",
    "core/bootstrap/singleton": "job/dropin",
    "core/debug/*": "job/environment",
    "core/engine/open_board": "job/no_allocation/*",
    "core/job/host": "job/namespaces",
    "core/launch/gasnetrun_pinwire": "every job",
    "core/launch/plan/local_plan": "every job",
    "core/launch/streams/log_to_sink": "job/launch_words",
    "core/launch/plan/machine": "job/environment",
    "core/launch/network/netlink": "job/launch_net",
    "core/launch/hosts/outbox": "unit/launch, by way of rank_socket",
    "core/launch/plan/remote_plan": "job/launch_ssh",
    "core/launch/network/test_network": "job/launch_bare_network",
    "core/launch/options/words": "job/launch_words",
    "core/tools/release": "conform/gasnet1/*",
    "core/trace/*": "job/environment",
    "driver/dpdk/switch/*": "every job over dpdk",
    "driver/rdma/providers_*": "guest/verbs*",
    "segment/kinds/*": "job/kinds/*",
}


def units_of(root):
    """The names of the units of each folder, and the units that have code."""
    names, with_code = collections.defaultdict(set), set()
    for folder in (*FOLDERS, "tests/support"):
        for path in sorted((root / folder).rglob("*.[hc]*")):
            if path.suffix in (".h", ".c", ".cc"):
                unit = path.relative_to(root).with_suffix("")
                names[unit.parent.as_posix()].add(unit.name)
                if path.suffix == ".cc" and folder != "tests/support":
                    with_code.add(unit.as_posix())
    return names, with_code


def folder_of(test):
    """The folder that a unit test mirrors."""
    folder = test.parent.as_posix().removeprefix(UNIT_TESTS)
    return f"tests/{folder}" if folder.split("/")[0] == SUPPORT else folder


def unit_of(stem, names):
    """The unit that a test of that name is about: the longest name that it begins with."""
    return max((name for name in names if stem == name or stem.startswith(name + "_")), key=len, default=None)


def included_by(root, tests):
    """The headers that each test includes."""
    return {test: set(INCLUDE.findall((root / test).read_text(encoding="utf-8"))) for test in tests}


def misplaced(root, headers, names):
    for test, included in headers.items():
        folder, stem = folder_of(test), test.stem.removesuffix("_test")
        if not (root / folder).is_dir() and test.parent.as_posix() not in WITHOUT_UNITS:
            yield f"{test}: there is no folder {folder}"
        for home in sorted(other for other in names if stem in names[other] and f"{other}/{stem}.h" in included):
            if stem not in names.get(folder, ()):
                yield f"{test}: the unit is {home}/{stem}, so its test lies in {UNIT_TESTS}{home.removeprefix('tests/')}"


def runs_of(unit, covers):
    """The runs that a mutant of the unit must fail."""
    files = (f"{unit}.cc", f"{unit}.h")
    return [run for cover in covers if any(fnmatch.fnmatch(file, pattern) for file in files for pattern in cover["files"])
            for run in cover["runs"]]


def tests_of(root, headers, names, with_code):
    """Units to what runs them."""
    by_unit = collections.defaultdict(set)
    for test, included in headers.items():
        folder = folder_of(test)
        if unit := unit_of(test.stem.removesuffix("_test"), names.get(folder, ())):
            by_unit[f"{folder}/{unit}"].add(test.as_posix())
        for header in included:
            by_unit[header.removesuffix(".h")].add(test.as_posix())
    covers = tomllib.loads((root / "tests/mutants/coverage.toml").read_text(encoding="utf-8"))["covers"]
    run_by = {unit: sorted(by_unit[unit]) + [f"run.{run}" for run in runs_of(unit, covers)] for unit in with_code}
    for unit, found in run_by.items():
        found += [why for pattern, why in RUN_OTHERWISE.items() if not found and fnmatch.fnmatch(unit, pattern)]
    return run_by


def main():
    words = sys.argv[1:]
    listed = words[:1] == ["--list"]
    root = ROOT if listed or not words else pathlib.Path(words[0])
    names, with_code = units_of(root)
    headers = included_by(root, [path.relative_to(root) for path in sorted((root / UNIT_TESTS).rglob("*_test.cc"))])
    run_by = tests_of(root, headers, names, with_code)
    if listed:
        for unit in sorted(fnmatch.filter(run_by, words[1] if len(words) > 1 else "*")):
            print(f"{unit}: {', '.join(run_by[unit]) or 'nothing'}")
        return 0
    wrong = list(misplaced(root, headers, names)) + [f"{unit}: no unit test has its name, and no run of tests/mutants/coverage.toml covers it"
                                                    for unit in sorted(run_by) if not run_by[unit]]
    print("\n".join([*wrong, f"{len(headers)} unit tests, {len(run_by)} units, {len(wrong)} violations"]))
    return 1 if wrong else 0


sys.exit(main())
