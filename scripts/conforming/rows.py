"""The rows of the checklists, the cases that name them, and what else is evidence of them."""

import collections
import fnmatch
import functools
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONFORM = ROOT / "tests/conform"
ROWS = [CONFORM / name / "rows.tsv" for name in ("gasnet1", "ex", "vis", "paper")]
OPEN = "open:"  # begins the reason of a row that is not there yet
# A row, or a range of rows, as sources name them: C1-188, C1-188...206, C1_098_108.
NAMED = re.compile(r"(?<![A-Za-z0-9])(C1|GX|EX|PA|VIS|UPC)[-_](\d{3})(?:(?:\.\.\.|_)(\d{3})(?!\d))?")
SOURCES = (".c", ".cc", ".h", ".py", ".sh")

Row = collections.namedtuple("Row", "id tags asks tests reason section")
Case = collections.namedtuple("Case", "name ids")


def read_rows():
    rows, section = [], ""
    for line in (line for path in ROWS for line in path.read_text(encoding="utf-8").splitlines()):
        if line.startswith("## "):
            section = line[3:]
        elif line and not line.startswith("#"):
            name, tags, asks, tests, reason = (line.split("\t") + ["", ""])[:5]
            rows.append(Row(name, tags.split(), asks, [t.strip() for t in tests.split(",") if t.strip()], reason, section))
    return rows


def cases_in(build):
    """Every case of every mode's program, without running any."""
    cases = {}
    for program in sorted(build.glob("tests/conform/conform_*")):
        if program.is_file():
            for line in subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.splitlines():
                name, ids = line.split("\t")[:2]
                cases[name] = Case(name, ids.split())
    return cases


def meson_tests(build):
    return {test["name"] for test in json.loads((build / "meson-info/intro-tests.json").read_text(encoding="utf-8"))}


def matching(patterns, names):
    return sorted({name for pattern in patterns for name in names if fnmatch.fnmatch(name, pattern)})


# ---- evidence ----------------------------------------------------------------------------------------


def ids_named_in(text):
    return {f"{kind}-{number:03}" for kind, first, last in NAMED.findall(text) for number in range(int(first), int(last or first) + 1)}


@functools.cache
def ids_named_below(folder):
    files = (path for path in folder.rglob("*") if path.suffix in SOURCES)
    return {name for path in files for name in ids_named_in(path.read_text(encoding="utf-8", errors="replace"))}


def folders_of(pattern):
    """Where the sources of the tests that a pattern stands for lie."""
    kind, room = (pattern.split("/") + [""])[:2]
    if kind == "check":
        return [ROOT / "tests", ROOT / "scripts"]
    unit = ROOT / "tests" / kind / room.split("_")[0]
    if kind == "unit" and room and unit.is_dir():
        return [unit]
    return [ROOT / "tests" / kind] + ([ROOT / "bench"] if kind == "job" else [])


def is_evidence(pattern, name):
    """A test shows a row if a source of its kind names the row: what a pattern catches besides shows nothing."""
    return any(name in ids_named_below(folder) for folder in folders_of(pattern))


def mistakes(build):
    """Sentences about rows, cases and tests that do not fit together."""
    rows, cases, tests = read_rows(), cases_in(build), meson_tests(build)
    known, shown = {row.id for row in rows}, {i for case in cases.values() for i in case.ids}
    wrong = [f"{case.name} names {i}, which is no row of rows.tsv" for case in cases.values() for i in case.ids if i not in known]
    wrong += [f"{name} stands {count} times in the tables of rows" for name, count in collections.Counter(row.id for row in rows).items() if count > 1]
    for row in rows:
        wrong += [f"{row.id} names {pattern}, which no Meson test matches" for pattern in row.tests if not matching([pattern], tests)]
        if "M" in row.tags and row.id not in shown and not row.reason and not any(is_evidence(pattern, row.id) for pattern in row.tests):
            wrong.append(f"{row.id} must hold, and has neither a case, nor a test whose sources name it, nor a reason: {row.asks}")
    if not cases:
        wrong.append(f"no programs of cases in {build}/tests/conform")
    return wrong, f"{len(rows)} rows, {len(cases)} cases, {len(wrong)} mistakes"
