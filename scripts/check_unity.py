#!/usr/bin/env python3
"""Checks that each library, and each program of the library's folders, compiles as one translation unit.

scripts/install builds with Meson's unity=on, which compiles many files of a library as one: most of the time of a
build goes into headers. Names in anonymous namespaces then meet. This check puts all files of a library together, so
that it holds however Meson divides them, and has the compiler of BUILD parse them. It fails on errors and on warnings.

    check_unity.py BUILD
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict

ROOMS = ("am", "core", "driver", "extended", "nicfw", "pin", "segment")
OF_OUTPUT = ("-o", "-MF", "-MQ")  # options with a word that names what the compiler writes


def targets(build):
    """The compile commands of C++ files by target, without targets whose files are all in another one."""
    found = defaultdict(list)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        target = entry["output"].split(".p/")[0]
        if target.split("/")[0] in ROOMS and entry["file"].endswith(".cc"):
            found[target].append(entry)
    files = {target: {entry["file"] for entry in entries} for target, entries in found.items()}
    for target in sorted(found):
        if not any(files[target] < files[other] or (files[target] == files[other] and target < other) for other in files):
            yield target, found[target]


def parsing(entry, source):
    """The command of `entry`, to parse `source` in place of its file."""
    words, left = [], iter(shlex.split(entry["command"]))
    for word in left:
        if word in OF_OUTPUT:
            next(left)
        elif word not in ("-c", "-MD", entry["file"]) and pathlib.Path(word).name != "ccache":
            words.append(word)
    return [*words, "-fsyntax-only", "-fdiagnostics-color=never", source]


def errors_of(entry, source, build):
    """The compiler's words on `source`, parsed as the file of `entry` is compiled; empty: no error and no warning."""
    run = subprocess.run(parsing(entry, source), cwd=build, capture_output=True, text=True)
    return run.stderr if run.returncode != 0 or "warning:" in run.stderr else ""


def complaints(target, entries, folder, build):
    source = pathlib.Path(folder) / (target.replace("/", "_") + ".cc")
    source.write_text("".join(f'#include "{os.path.abspath(build / entry["file"])}"\n' for entry in entries))
    found = errors_of(entries[0], str(source), build)
    return [f"{target}: as one translation unit it does not compile cleanly:", found] if found else []


def main():
    build = pathlib.Path(sys.argv[1])
    count, said = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for target, entries in targets(build):
            count += 1
            said += complaints(target, entries, folder, build)
    for line in said:
        print(line, file=sys.stderr)
    print(f"{count} libraries and programs, {len(said) // 2} do not compile as one translation unit")
    return 1 if said or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
