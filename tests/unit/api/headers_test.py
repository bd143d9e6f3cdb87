#!/usr/bin/env python3
"""Compiles clients that use every public name, in every standard, mode and segment kind, with gcc and clang, and
minds each warning. Usage: headers_test.py SOURCE_ROOT BUILD_ROOT [DEFINE...]; DEFINE: what the build's kind asks for"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
WORDS = ["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Werror",
         f"-I{SOURCE}/core/api", f"-I{BUILD}/core/api", *sys.argv[3:]]
COMPILERS = {"gcc": ("c", "-std=c{}"), "clang": ("c", "-std=c{}"), "g++": ("c++", "-std=c++{}"),
             "clang++": ("c++", "-std=c++{}")}
STANDARDS = {"c": ["99", "11", "17", "2x"], "c++": ["11", "14", "17", "20", "2b"]}
MODES = ["SEQ", "PARSYNC", "PAR"]


def variants():
    """Source and defines; each is compiled in each standard."""
    for mode in MODES:
        yield "use_gasnet.c", [f"-DGASNET_{mode}"]
        yield "use_tools.c", [f"-DGASNET_{mode}", "-include", "gasnet.h"]
    for segment in ("FAST", "LARGE", "EVERYTHING"):
        yield "use_gasnet.c", ["-DGASNET_PAR", f"-DGASNET_SEGMENT_{segment}"]
    for threads in ("-DGASNETT_THREAD_SAFE", "-DGASNETT_THREAD_SINGLE", "-DGASNETT_LITE_MODE", "-D_REENTRANT"):
        yield "use_tools.c", [threads]


def commands():
    for compiler, (language, standard) in COMPILERS.items():
        if not shutil.which(compiler):
            print(f"headers: without {compiler}, which is not installed")
            continue
        for number in STANDARDS[language]:
            for source, defines in variants():
                yield [compiler, "-x", language, standard.format(number), *WORDS, *defines, str(HERE / source)]


def failure(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return f"{' '.join(command)}\n{done.stdout}" if done.returncode != 0 else ""


def main():
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        results = list(pool.map(failure, commands()))
    failures = [text for text in results if text]
    print("\n".join(failures[:3]))
    print(f"headers: {len(results)} compiled, {len(failures)} not clean")
    sys.exit(1 if failures or not results else 0)


main()
