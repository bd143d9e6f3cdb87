#!/usr/bin/env python3
"""Compiles clients that use every public name, in the oldest and the newest standard of C and C++ (GX-005) in every mode, segment kind and
kind of build, in the standards between in one mode, with gcc and clang, and minds each warning. Usage: headers_test.py SOURCE_ROOT BUILD_ROOT"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
WORDS = ["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Werror",
         f"-I{SOURCE}/core/api", f"-I{BUILD}/core/api"]
COMPILERS = {"gcc": ("c", "-std=c{}"), "clang": ("c", "-std=c{}"), "g++": ("c++", "-std=c++{}"),
             "clang++": ("c++", "-std=c++{}")}
STANDARDS = {"c": ["99", "11", "17", "2x"], "c++": ["11", "14", "17", "20", "2b"]}
MODES = ["SEQ", "PARSYNC", "PAR"]


def variants(modes):
    """Source and defines."""
    for mode in modes:
        yield "use_gasnet.c", [f"-DGASNET_{mode}"]
        yield "use_gasnetex.c", [f"-DGASNET_{mode}"]
        yield "use_ratomic.c", [f"-DGASNET_{mode}"]
        yield "use_gasnetex.c", [f"-DGASNET_{mode}", "-include", "gasnet.h"]
        yield "use_gasnet_coll.c", [f"-DGASNET_{mode}"]
        yield "use_gasnet_vis.c", [f"-DGASNET_{mode}"]
        yield "use_tools.c", [f"-DGASNET_{mode}", "-include", "gasnet.h"]
    for segment in ("FAST", "LARGE", "EVERYTHING"):
        yield "use_gasnet.c", ["-DGASNET_PAR", f"-DGASNET_SEGMENT_{segment}"]
    for threads in ("-DGASNETT_THREAD_SAFE", "-DGASNETT_THREAD_SINGLE", "-DGASNETT_LITE_MODE", "-D_REENTRANT"):
        yield "use_tools.c", [threads]


def commands(debug):
    for compiler, (language, standard) in COMPILERS.items():
        if not shutil.which(compiler):
            print(f"headers: without {compiler}, which is not installed")
            continue
        standards = STANDARDS[language]
        for i, number in enumerate(standards):
            is_between = number not in (standards[0], standards[-1])
            for source, defines in variants([MODES[i % len(MODES)]] if is_between else MODES):
                for kind in ([[]] if is_between else [[], [debug]]):
                    yield [compiler, "-x", language, standard.format(number), *kind, *WORDS, *defines, str(HERE / source)]


def in_debug_form(folder):
    """The header that the build writes, as a debug build has it; goes before the other."""
    text = (BUILD / "core/api/gasnet_config.h").read_text()
    text = text.replace("PINWIRE_DEBUG_BUILD 0", "PINWIRE_DEBUG_BUILD 1").replace("TOKEN nodebug", "TOKEN debug")
    (folder / "gasnet_config.h").write_text(text)
    return f"-I{folder}"


def refusals(debug):
    """Sources that an optimized and a debug build refuse, and those that they take: complaints about those that err."""
    release = "-I" + str(BUILD / "core/api")
    if "PINWIRE_DEBUG_BUILD 1" in (BUILD / "core/api/gasnet_config.h").read_text():
        print("headers: the refusals of an optimized build are not tested in a debug one")
        release = debug
    cases = [([release, "-DGASNET_DEBUG"], "GASNET_DEBUG is defined, but this is an optimized build")] \
        if release != debug else []
    cases += [([release], ""), ([debug], ""), ([debug, "-DGASNET_DEBUG"], ""),
              ([debug, "-DGASNET_NDEBUG"], "GASNET_NDEBUG is defined, but this is a debug build"),
              ([debug, "-DNDEBUG"], "compile with -O0 and without -DNDEBUG"),
              ([debug, "-O2"], "compile with -O0 and without -DNDEBUG"),
              ([debug, "-O2", "-DGASNETI_ALLOW_OPTIMIZED_DEBUG"], "")]
    if release != debug:
        cases += [([release, "-DGASNET_NDEBUG", "-DNDEBUG", "-O2"], "")]
    for words, sentence in cases:
        for source in ("use_gasnet.c", "use_tools.c"):
            said = failure(["gcc", *words, *WORDS, "-DGASNET_SEQ", str(HERE / source)])
            if bool(said) != bool(sentence) or sentence not in said:
                yield f"{words} with {source}: expected {sentence or 'success'}\n{said}"


def kinds(folder):
    """GASNET_HAVE_MK_CLASS_... are 1 where the vendor's header is found, and else undefined (EX-048)."""
    toolkits = {"CUDA_UVA": "cuda.h", "HIP": "hip/hip_runtime.h", "ZE": "level_zero/ze_api.h"}
    for there, header in toolkits.items():
        (folder / there / header).parent.mkdir(parents=True)
        (folder / there / header).write_text("")
    for there in [None, *toolkits]:
        words = ["gcc", "-E", "-dM", "-x", "c", "-", "-DGASNET_SEQ", "-D__HIP_PLATFORM_AMD__", *WORDS[-2:]]
        words += [f"-I{folder / there}"] if there else []
        macros = preprocessed(words, "#include <gasnetex.h>")
        found = [kind for kind, header in toolkits.items() if preprocessed(words, f"#include <{header}>") is not None]
        for kind in [*toolkits, "MULTIPLE"]:
            wanted = kind in found or (kind == "MULTIPLE" and bool(found))
            if macros is None or (f"#define GASNET_HAVE_MK_CLASS_{kind} 1\n" in macros) != wanted:
                yield f"GASNET_HAVE_MK_CLASS_{kind} with the headers of {there}: expected {wanted}"


def platforms():
    """The newest of several headers that define PLATFORM_... counts, in whatever order they come."""
    words = ["gcc", "-E", "-dM", "-x", "c", "-", "-Werror", *WORDS[-2:]]
    other = "#define _PORTABLE_PLATFORM_H {0}\n#define PLATFORM_HEADER_VERSION {0}\n#define PLATFORM_COMPILER_GNU 77\n"
    for version, winner in ((12, "1"), (25, "77")):
        macros = preprocessed(words, other.format(version) + "#include <portable_platform.h>\n") or ""
        if f"#define PLATFORM_COMPILER_GNU {winner}\n" not in macros:
            yield f"after a portable_platform.h of version {version}: expected PLATFORM_COMPILER_GNU {winner}"


def preprocessed(words, text):
    """The output, or None."""
    done = subprocess.run(words, input=text, text=True, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def failure(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return f"{' '.join(command)}\n{done.stdout}" if done.returncode != 0 else ""


def main():
    with tempfile.TemporaryDirectory(prefix="pinwire-headers-") as folder, \
            concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        debug = in_debug_form(pathlib.Path(folder))
        results = list(pool.map(failure, commands(debug)))
        failures = [text for text in results if text] + list(refusals(debug)) + list(kinds(pathlib.Path(folder))) + list(platforms())
    print("\n".join(failures[:3]))
    print(f"headers: {len(results)} compiled, {len(failures)} not clean")
    sys.exit(1 if failures or not results else 0)


main()
