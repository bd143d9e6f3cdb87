"""The headers, compiled and not run: what must be refused, and by which sentence. TAP for Meson. Sources that must
compile, in every standard: tests/unit/api."""

import subprocess
import sys

INCLUDE = '#include "gasnet.h"\nint main(void) { return 0; }\n'
MODES = ("SEQ", "PARSYNC", "PAR")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE=1"]
ONE_MODE = "define exactly one of GASNET_SEQ, GASNET_PARSYNC, GASNET_PAR"
ONE_SEGMENT = "define at most one of GASNET_SEGMENT_"


def compile_text(compiler, text, *defines):
    """(whether it compiles, what the compiler says)"""
    language = ["-x", "c++"] if "++" in compiler[-1] else ["-x", "c", "-std=c99"]
    command = [*compiler, *language, *WARNINGS, *headers, *["-D" + d for d in defines], "-fsyntax-only", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def refused(compiler, text, *defines, says):
    compiles, words = compile_text(compiler, text, *defines)
    return not compiles and says in words


def segment_is(compiler, kind):
    """Each choice defines its own constant and no other."""
    others = [k for k in ("FAST", "LARGE", "EVERYTHING") if k != (kind or "FAST")]
    text = INCLUDE + f"#if !defined(GASNET_SEGMENT_{kind or 'FAST'}) || " + " || ".join(f"defined(GASNET_SEGMENT_{k})" for k in others) + "\n#error wrong\n#endif\n"
    return compile_text(compiler, text, "GASNET_SEQ", *([f"GASNET_SEGMENT_{kind}=1"] if kind else []))[0]


def config_strings_differ(compiler):
    text = INCLUDE + 'static const char config[] = GASNET_CONFIG_STRING;\n_Static_assert(sizeof config > 1, "");\n' \
                     'char keep(int i) { return config[i]; }\n'
    outputs = set()
    for mode in MODES:
        done = subprocess.run([*compiler, "-x", "c", *headers, "-D_GNU_SOURCE=1", f"-DGASNET_{mode}", "-S", "-o", "-", "-"],
                              input=text, capture_output=True, text=True)
        outputs.add("".join(line for line in done.stdout.splitlines() if "THREADMODEL" in line or ".string" in line))
    return len(outputs) == len(MODES)


headers, cc, cxx = ["-I", sys.argv[1], "-I", sys.argv[2]], sys.argv[3].split(), sys.argv[4].split()
REPLY_LONG_ASYNC = '#include "gasnet.h"\nint main(void) { return gasnet_AMReplyLongAsync0((gasnet_token_t)0, 0, 0, 0, 0); }\n'
cases = []
for compiler in (cc, cxx):
    name = "cxx" if compiler is cxx else "c"
    cases += [
        (f"{name}.no_mode_is_refused C1-012", refused(compiler, INCLUDE, says=ONE_MODE)),
        (f"{name}.two_modes_are_refused C1-012", refused(compiler, INCLUDE, "GASNET_SEQ", "GASNET_PAR", says=ONE_MODE)),
        (f"{name}.two_segment_kinds_are_refused C1-045", refused(compiler, INCLUDE, "GASNET_SEQ", "GASNET_SEGMENT_FAST", "GASNET_SEGMENT_LARGE", says=ONE_SEGMENT)),
        (f"{name}.no_reply_long_async C1-155", refused(compiler, REPLY_LONG_ASYNC, "GASNET_SEQ", says="gasnet_AMReplyLongAsync0")),
        (f"{name}.segment_choice C1-045", all(segment_is(compiler, kind) for kind in (None, "FAST", "LARGE", "EVERYTHING"))),
    ]
cases.append(("config_strings_of_modes_differ C1-041", config_strings_differ(cc)))

print(f"1..{len(cases)}")
for number, (name, passed) in enumerate(cases, 1):
    print(f"{'ok' if passed else 'not ok'} {number} - headers.{name}")
