#!/usr/bin/env python3
"""Checks that files which BUILD compiles as one translation unit compile each by itself, too.

Builds for development compile each file of a library by itself, so a file must include all that it uses; where many are
one translation unit (Meson's unity=on), the files before it bring what it forgot. This check has the compiler of BUILD parse
such files one by one. It fails on errors and on warnings.

    check_alone.py BUILD [--since COMMIT] [--at-most N]     with --since, those alone that differ from that commit of BUILD's sources; all where there is none
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

from check_unity import ROOMS, errors_of


def files_in_unity(build):
    """The files that the libraries' generated files include, each with one command that compiles it."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["output"].split("/")[0] not in ROOMS or not re.search(r"-unity\d+\.\w+$", entry["file"]):
            continue
        for name in re.findall(r"#include\s*<(.*)>", (build / entry["file"]).read_text()):
            found.setdefault(os.path.realpath(build / name), entry)
    return found


def changed_since(commit, build):
    """The files that differ from what they were; None: there is no such commit."""
    git = ["git", "-C", str(build)]
    top = subprocess.run([*git, "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    asked = subprocess.run([*git, "diff", "--name-only", commit, "--"], capture_output=True, text=True, check=False)
    if top.returncode != 0 or asked.returncode != 0:
        return None
    return {os.path.realpath(os.path.join(top.stdout.strip(), name)) for name in asked.stdout.splitlines()}


def complaint(file, entry, build):
    found = errors_of(entry, file, build)
    return f"{file}: by itself it does not compile cleanly; does it include all that it uses?\n{found}" if found else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--since", metavar="COMMIT", help="only files that differ from it")
    parser.add_argument("--at-most", type=int, metavar="N", help="no more than N of them")
    args = parser.parse_args()
    found = files_in_unity(args.build)
    changed = changed_since(args.since, args.build) if args.since else None
    drawn = sorted(file for file in found if changed is None or file in changed)
    if args.at_most and len(drawn) > args.at_most:
        drawn = drawn[:: -(-len(drawn) // args.at_most)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        said = [line for line in workers.map(lambda file: complaint(file, found[file], args.build), drawn) if line]
    for line in said:
        print(line, file=sys.stderr)
    print(f"{len(drawn)} of {len(found)} files that are compiled together, {len(said)} do not compile by themselves")
    return 1 if said or not found else 0


if __name__ == "__main__":
    sys.exit(main())
