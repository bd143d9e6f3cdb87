#!/usr/bin/env python3
"""Prints figures of the sources by room, to compare with those of other trees: functions, assertions, #if, units, files.

    scripts/tree_figures.py            each room, and all of the sources without tests and bench
    scripts/tree_figures.py DIR...     those folders, of any tree in C or C++; each with what is below it
    scripts/tree_figures.py --help     prints this

A function is what clang-format closes with a brace as far to the right as it began; a unit is a .h and a .cc of one name. An assertion
is a call of check(), dcheck(), assert() or static_assert()."""

import collections
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("am", "core", "driver", "extended", "nicfw", "pin", "segment", "bench", "tests")
LIBRARY = ("am", "core", "driver", "extended", "nicfw", "pin", "segment")
GOALS = {"am": 20, "extended": 20, "driver/verbs": 20, "driver/shm": 35, "nicfw": 35, "pin": 35}  # assertions in 1,000 lines
SUFFIXES = (".c", ".cc", ".cpp", ".h", ".hpp")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ASSERTION = re.compile(r"\b(?:d?check|assert|static_assert|D?CHECK|ASSERT)\(")
NO_FUNCTION = re.compile(r"\s*(?:if|for|while|switch|do|else|try|catch|namespace|class|struct|union|enum|extern|return|using|case|default)\b")
OPENING = re.compile(r"\)[\w\s&]*(?:->[^{]*)?(?::[^{]*)?\{(.*)$")

Figures = collections.namedtuple("Figures", "lines functions assertions conditionals units most_files")
COLUMNS = ("room", "lines", "function: median", "p90", "max", "assertions per kLOC", "goal", "#if per kLOC", "unit: median", "most files in a folder")


def function_lengths(text):
    """Lines of each function's body and its head."""
    lines = text.splitlines()
    begun = None  # (indentation, line)
    for number, line in enumerate(lines):
        indentation = len(line) - len(line.lstrip())
        if begun and line.startswith("}", begun[0]) and indentation == begun[0]:
            yield number - begun[1] + 1
            begun = None
        elif begun is None and not NO_FUNCTION.match(line) and (opening := OPENING.search(line)):
            if opening.group(1).rstrip().endswith("}"):
                yield 1
            elif not opening.group(1).strip():
                begun = indentation, number


def figures_of(folder):
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES}
    units, folders = collections.Counter(), collections.Counter()
    functions, assertions, conditionals, lines = [], 0, 0, 0
    for path, text in texts.items():
        code = COMMENT.sub("", text)
        count = len(text.splitlines())
        lines += count
        units[path.with_suffix("")] += count
        folders[path.parent] += 1
        functions += function_lengths(text)
        assertions += len(ASSERTION.findall(code))
        conditionals += len(re.findall(r"^\s*#\s*if", code, re.M))
    return Figures(lines, functions, assertions, conditionals, list(units.values()), max(folders.values(), default=0))


def together(parts):
    """The figures of several folders as if they were one."""
    return Figures(sum(p.lines for p in parts), [f for p in parts for f in p.functions], sum(p.assertions for p in parts),
                   sum(p.conditionals for p in parts), [u for p in parts for u in p.units], max(p.most_files for p in parts))


def row(name, figures):
    thousands = max(figures.lines, 1) / 1000
    lengths = sorted(figures.functions) or [0]
    cells = (name, figures.lines, f"{statistics.median(lengths):.0f}", lengths[int(0.9 * (len(lengths) - 1))], lengths[-1],
             f"{figures.assertions / thousands:.1f}", GOALS.get(name, ""), f"{figures.conditionals / thousands:.1f}",
             f"{statistics.median(figures.units or [0]):.0f}", figures.most_files)
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    missing = [name for name in sys.argv[1:] if not pathlib.Path(name).is_dir()]
    if missing:
        print(f"tree_figures.py: {missing[0]} is no folder; --help says what the script takes", file=sys.stderr)
        return 2
    rows = [(name, figures_of(pathlib.Path(name))) for name in sys.argv[1:]]
    if not rows:
        by_room = {name: figures_of(ROOT / name) for name in sorted({*ROOMS, *GOALS})}
        rows = [*by_room.items(), ("the library", together([by_room[name] for name in LIBRARY]))]
    print("| " + " | ".join(COLUMNS) + " |\n|---" + "|--:" * (len(COLUMNS) - 1) + "|")
    print("\n".join(row(name, figures) for name, figures in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
