"""Prints what a comparison found, and says whether anything became worse."""

import json
import math
import statistics

from judge import BETTER, CLEAN, LIMIT, SUSPECT, UNCLEAR, WORSE, judge, judge_counts

PERCENT = round(100 * (LIMIT - 1))


def verdicts(comparison):
    """[(verdict, estimate, row, unit, cost of the reference, cost of the candidate)]"""
    found = []
    for name, first in comparison.first.items():
        again, unit = comparison.again[name], comparison.units[name]
        counts = unit == "instructions"
        verdict, whole = judge_counts(first, again) if counts else judge(first, again, len(comparison.first))
        costs = [statistics.median(side) for side in zip(*(first + again))]
        found.append((verdict, whole, name, unit, *costs))
    return found


def line(verdict, whole, name, unit, before, after):
    between = f"{whole.low:.2f}-{whole.high:.2f}" if math.isfinite(whole.high) else "-"
    return f"{verdict:8}{whole.median:7.3f}  {between:11}{whole.count:4}  {before:10.4g} {after:10.4g} {unit:13}{name}"


def print_all(found):
    print(f"{'':8}{'ratio':>7}  {'between':11}{'n':>4}  {'before':>10} {'now':>10} {'unit':13}row")
    for row in found:
        print(line(*row))
    count = {verdict: sum(row[0] == verdict for row in found) for verdict in (WORSE, BETTER, SUSPECT, UNCLEAR, CLEAN)}
    print(f"\n{len(found)} rows: {count[WORSE]} worse by more than {PERCENT} %, {count[BETTER]} better, {count[CLEAN]} clean, "
          f"{count[UNCLEAR] + count[SUSPECT]} unclear: they scatter too much to exclude {PERCENT} %.")
    if count[SUSPECT]:
        print(f"{count[SUSPECT]} of them look worse and were not measured again: give more --minutes.")
    for row in found:
        if row[0] == WORSE:
            print(f"WORSE: {row[2]}: {100 * (row[1].median - 1):.0f} % more {row[3]} ({row[4]:.4g} -> {row[5]:.4g})")
    return count[WORSE] > 0


def write_json(path, comparison):
    rows = [{"row": name, "unit": comparison.units[name], "first": first, "again": comparison.again[name]}
            for name, first in comparison.first.items()]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
