#!/usr/bin/env python3
"""Checks that files which BUILD compiles as one translation unit compile each by itself, too.

Builds for development compile each file of a library by itself, so a file must include all that it uses; where many are
one translation unit (Meson's unity=on), the files before it bring what it forgot. This check has the compiler of BUILD parse
such files one by one. It fails on errors and on warnings.

    check_alone.py BUILD [--of N] [--seed SEED]     with --of, one of N files, which the seed draws
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from check_unity import ROOMS, parsing

ROOT = pathlib.Path(__file__).resolve().parent.parent


def files_in_unity(build):
    """The files that the libraries' generated files include, each with one command that compiles it."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["output"].split("/")[0] not in ROOMS or not re.search(r"-unity\d+\.\w+$", entry["file"]):
            continue
        for name in re.findall(r"#include\s*<(.*)>", (build / entry["file"]).read_text()):
            found.setdefault(os.path.realpath(build / name), entry)
    return found


def parse_seed(word):
    """A number, or "commit": the first digits of its hash; where there is no commit, the day."""
    if word != "commit":
        return int(word)
    asked = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return int(asked.stdout[:8], 16) if asked.returncode == 0 else int(time.time() / 86400)


def is_drawn(file, of, seed):
    """By its name alone, so that a file that is added changes nothing for the others."""
    digest = hashlib.sha256(os.path.basename(file).encode()).digest()
    return int.from_bytes(digest[:4], "big") % of == seed % of


def complaint(file, entry, build):
    run = subprocess.run(parsing(entry, file), cwd=build, capture_output=True, text=True)
    clean = run.returncode == 0 and "warning:" not in run.stderr
    return "" if clean else f"{file}: by itself it does not compile cleanly; does it include all that it uses?\n{run.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--of", type=int, default=1, metavar="N", help="only one of N files (1)")
    parser.add_argument("--seed", type=parse_seed, default=0, help="which: a number, or commit: from its hash (0)")
    args = parser.parse_args()
    if args.of < 1:
        parser.error("--of wants a number of at least 1")
    found = files_in_unity(args.build)
    drawn = sorted(file for file in found if is_drawn(file, args.of, args.seed))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        said = [line for line in workers.map(lambda file: complaint(file, found[file], args.build), drawn) if line]
    for line in said:
        print(line, file=sys.stderr)
    print(f"{len(drawn)} of {len(found)} files that are compiled together, {len(said)} do not compile by themselves")
    return 1 if said or not found else 0


if __name__ == "__main__":
    sys.exit(main())
