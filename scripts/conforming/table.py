"""The table of rows: docs/CONFORMANCE.md."""

import collections

from .record import ABSENT, FAILED, PASSED, SKIPPED, SPECIFICATIONS
from .rows import CONFORM, OPEN, is_evidence, matching, read_rows

PUBLIC_TESTS = CONFORM / "ex/public_tests.tsv"
DRIVERS, MODES = ("shm", "dpdk", "verbs"), ("seq", "parsync", "par")
DISPATCH_MODES = ("interrupt", "watchdog", "thread", "nicproc")
COLUMNS = [(driver, mode) for driver in DRIVERS for mode in MODES]
PART = "part"
HEADS = " | ".join(f"{driver} {mode}" for driver, mode in COLUMNS)


def worst(results):
    """The result of all that ran; None when nothing did."""
    for result in (FAILED, PASSED, SKIPPED):
        if result in results:
            return result
    return None


class Table:
    def __init__(self, record):
        self.record, self.of_test = record, record.results()
        self.cell = collections.defaultdict(set)  # (id, column): results
        self.cases = collections.defaultdict(set)  # id: names
        self.absent = collections.defaultdict(set)  # (id, column): names of cases that asked nothing in any job
        self.ran = collections.defaultdict(set)  # (id, column): names of cases that did
        self.per_column = collections.defaultdict(collections.Counter)
        self.counts = collections.Counter()  # of rows that must hold
        for job in record.jobs.values():
            if not job.dispatch:
                self._add(job)

    def _add(self, job):
        column = (job.driver, job.mode)
        for name, result in job.results.items():
            for row in self.record.cases[name]:
                self.cases[row].add(name)
                if result == ABSENT:
                    self.absent[row, column].add(name)
                else:
                    self.ran[row, column].add(name)
                    self.cell[row, column].add(result)
            if result != ABSENT:
                self.per_column[column][result] += 1

    def result_in(self, row, column):
        """The text of a cell: a row is not shown whole where one of its cases asks nothing."""
        result = worst(self.cell[row.id, column])
        is_whole = self.absent[row.id, column] <= self.ran[row.id, column]
        return PART if result == PASSED and not is_whole else result

    def results_elsewhere(self, row):
        """For each pattern: (result or None, whether it is evidence). Tests over one driver in one mode count in its column, too."""
        found = {}
        for pattern in row.tests:
            results = {name: self.of_test[name] for name in matching([pattern], self.of_test)}
            found[pattern] = (worst(results.values()), is_evidence(pattern, row.id))
            for name, result in results.items() if found[pattern][1] else ():
                for column in COLUMNS:
                    if set(column) <= set(name.split("/")):
                        self.cell[row.id, column].add(result)
        return found

    def line_of(self, row):
        elsewhere = self.results_elsewhere(row)
        cells = [self.result_in(row, column) for column in COLUMNS]
        shown = worst([worst(self.cell[row.id, column]) for column in COLUMNS] + [result for result, counts in elsewhere.values() if counts])
        if "M" in row.tags:
            self.counts[shown or ("open" if row.reason.startswith(OPEN) else "reason" if row.reason else "not run")] += 1
        words = [f"`{pattern}`: {result or 'not run'}{'' if counts else ' (does not name it)'}" for pattern, (result, counts) in elsewhere.items()]
        cases = ", ".join(f"`{name}`" for name in sorted(self.cases[row.id]))
        return (f"| {row.id} {' '.join(row.tags)} | {row.asks} | " + " | ".join(cell or "" for cell in cells) +
                f" | {cases} | {'; '.join(words + ([row.reason] if row.reason else []))} |")

    def lines(self, command):
        rows, body, section = read_rows(), [], None
        for row in rows:
            if row.section != section:
                section = row.section
                body += ["", f"### {section}", "", f"| row | asks | {HEADS} | cases | elsewhere, or why not |", "|---" * (len(COLUMNS) + 4) + "|"]
            body.append(self.line_of(row))
        return self.heading(command, len(rows)) + body + self.dispatch_modes() + public_tests()

    def heading(self, command, rows):
        counts, runs = self.counts, self.record.runs_in_use()
        merged = ", ".join(f"{tests} of {date} (commit {commit})" for date, commit, tests in runs)
        lines = ["# Conformance with GASNet-1 1.8.1 and GASNet-EX 0.19", "",
                 f"`{command}` writes this document from the results of {len(self.of_test)} Meson tests: {merged}.", "",
                 "Each row is one requirement of the specifications, in a few words; [requirements.md](requirements.md) explains those that sources, "
                 "tests and documents cite. Ids C1 belong to GASNet-1, GX to GASNet-EX, EX to its additions, VIS and UPC to transfers of many pieces, "
                 "PA to GASNet's first paper.", "",
                 "A letter behind the id tells the kind of the row. M: it must hold. U: it is the client's duty. P: it permits something. S: it is a "
                 "suggestion. Q: the text leaves a question open. D: versions differ. N: upstream has not implemented it, or only names it. X: it is "
                 "experimental upstream. E: it is a note for engineers. F: a later text settles it. O: it is open upstream.", "",
                 "A column is a driver and a mode of the library. The cases are in `tests/conform/gasnet1`, `tests/conform/ex` and `tests/conform/upc`, and run in jobs of "
                 "1, 2 and 3 ranks. The word part says that some of the row's cases ask nothing there. A cell is empty if none of them does, or if "
                 "another Meson test shows the row, or none. Another test counts if its sources name the row.", "",
                 f"**{rows} rows; {sum(counts.values())} must hold: {counts[PASSED]} pass, {counts[FAILED]} fail, "
                 f"{counts['not run'] + counts[SKIPPED]} did not run, {counts['reason']} have a reason instead of a test, {counts['open']} are open: "
                 "not there, or not shown by a test that names them.**", "",
                 f"| | {HEADS} |", "|---" * (len(COLUMNS) + 1) + "|"]
        for result, words in ((PASSED, "cases passed"), (FAILED, "cases failed")):
            lines.append(f"| {words} | " + " | ".join(str(self.per_column[column][result]) for column in COLUMNS) + " |")
        return lines

    def dispatch_modes(self):
        """The cases that share a job, once more in each dispatch mode."""
        lines = ["", "### The cases in each dispatch mode", "",
                 "Passed, of the cases that a job of two ranks shares and that ask something of it; an empty cell was not run.", "",
                 f"| cases of | GASNET_DISPATCH | {HEADS} |", "|---" * (len(COLUMNS) + 2) + "|"]
        counted = {(job.specification, job.dispatch, (job.driver, job.mode)): collections.Counter(job.results.values()) for job in self.record.jobs.values()}
        for specification in SPECIFICATIONS:
            for mode in DISPATCH_MODES:
                counts = [counted.get((specification, mode, column)) for column in COLUMNS]
                lines.append(f"| {specification} | {mode} | " + " | ".join(f"{c[PASSED]} of {c[PASSED] + c[FAILED]}" if c else "" for c in counts) + " |")
        return lines


def public_tests():
    """GASNet-EX's own test programs, which are built and run outside this project: what was seen is kept by hand."""
    lines = ["", "### GASNet-EX's own tests", ""]
    for line in PUBLIC_TESTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lines.append(line[2:])
            continue
        cells = line.split("\t")
        lines.append("| " + " | ".join(cells) + " |")
        if cells[0] == "program":
            lines.insert(-1, "")
            lines.append("|---" * len(cells) + "|")
    return lines
