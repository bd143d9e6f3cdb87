"""The surface of an implementation of GASNet-EX that a client sees: the constants, types, names and system headers that its public
headers bring, as the compiler sees them. scripts/release-tables reads a release with it, release_test.py this tree."""

import pathlib
import re
import subprocess
import tempfile

HEADERS = ["gasnetex.h", "gasnet.h", "gasnet_fwd.h", "gasnet_tools.h", "gasnet_coll.h", "gasnet_ratomic.h", "gasnet_vis.h",
           "gasnet_mk.h"]
INCLUDES = "".join(f"#include <{header}>\n" for header in HEADERS)
# Names that begin so are for clients; those of an implementation begin with gasneti_, gasnetc_ and gasnete_.
PUBLIC = r"\b(?:GASNETT?|GEX|gasnett?|gex)_\w+\b"
# Constants that clients compute with, compare and store. The others describe one implementation.
CONSTANTS = re.compile(r"GEX_\w+|GASNET_(?:OK|(?:ERR|WAIT|BARRIERFLAG|SPEC_VERSION|COLL|SUPPORTS|HAVE|NULL_ARGV|VERSION)\w*)|"
                       r"GASNETT_(?:ATOMIC_\w*(?:ACQ|REL|PRE|POST|MB)|SPEC_VERSION\w*)")
TYPES = re.compile(r"(?:gex|gasnett?)_\w+_t")
# The headers that are included, and what a client defines with each.
KINDS = {f"gasnetex.h {mode}": ("#include <gasnetex.h>\n", f"-DGASNET_{mode}") for mode in ("SEQ", "PARSYNC", "PAR")}
KINDS |= {f"gasnet_tools.h {kind}": ("#include <gasnet_tools.h>\n", f"-DGASNETT_{kind}")
          for kind in ("THREAD_SINGLE", "THREAD_SAFE", "LITE_MODE")}
# Headers that a C library has for programs, in contrast to those for its own headers.
SYSTEM = re.compile(r"/include/(?:[\w-]+-linux-gnu/)?((?:sys/)?(?:\w+)\.h)\b")
NOT_FOR_PROGRAMS = re.compile(r"features|stdc|syslimits|cdefs|alloca|endian|ucontext|select|locale|gasnet|pinwire|portable")


def compiled(words, text, *more):
    return subprocess.run(["gcc", "-x", "c", "-std=gnu11", "-w", *words, "-", *more], input=text, text=True,
                          capture_output=True, check=False)


def preprocessed(words, *more, text=INCLUDES):
    done = compiled(words, text, "-E", *more)
    if done.returncode != 0:
        raise SystemExit(f"the public headers do not compile with {words}\n{done.stderr}")
    return done.stdout


def macros(words):
    """Each macro's name, and whether it takes arguments."""
    lines = re.findall(r"^#define (\w+)(\(?)", preprocessed(words, "-dM"), re.M)
    return {name: bool(bracket) for name, bracket in lines if re.fullmatch(PUBLIC, name)}


def identifiers(words):
    """The names that the headers declare, and those that their inline functions use."""
    return set(re.findall(PUBLIC, preprocessed(words, "-P")))


def every_identifier(words):
    """Also those of an implementation: macros, and whatever is declared or used; comments do not count."""
    return set(re.findall(r"^#define (\w+)", preprocessed(words, "-dM"), re.M)) | set(re.findall(r"\w+", preprocessed(words, "-P")))


def names(words):
    """Also those that the headers define under other conditions, for example in debug builds, and those that they ask for."""
    folders = [pathlib.Path(word[2:]) for word in words if word.startswith("-I")]
    texts = [header.read_text() for folder in folders for header in sorted(folder.glob("*.h"))]
    lines = {line for text in texts for line in re.findall(r"^[ \t]*#[ \t]*(?:define[ \t]+\w+|(?:el)?if.*)", text, re.M)}
    return set(macros(words)) | identifiers(words) | {name for line in lines for name in re.findall(PUBLIC, line)}


def that_compile(words, lines):
    """Returns of {key: line of C} the keys whose line compiles."""
    keys = list(lines)
    text = INCLUDES + "".join(f'#line {at} "line"\n{lines[key]}\n' for at, key in enumerate(keys, 1))
    said = compiled(words, text, "-fsyntax-only", "-fmax-errors=0").stderr
    wrong = {int(at) for at in re.findall(r"^line:(\d+):", said, re.M)}  # errors, and the notes of those inside macros
    return [key for at, key in enumerate(keys, 1) if at not in wrong]


def rows_of(words, body):
    """The output of a program. It is linked without a library, as it uses what the compiler alone knows."""
    text = "#include <stdio.h>\n" + INCLUDES + "int main(void) {\n" + body + "return 0;\n}\n"
    with tempfile.TemporaryDirectory(prefix="pinwire-surface-") as folder:
        program = pathlib.Path(folder, "program")
        done = compiled(words, text, "-Wl,--unresolved-symbols=ignore-all", "-o", str(program))
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        said = subprocess.run([program], text=True, capture_output=True, check=True).stdout
    return {name: " ".join(facts) for name, *facts in (line.split() for line in said.splitlines())}


def constants(words):
    """Each constant's value, bytes, and whether it has a sign."""
    found = {name for name, takes in macros(words).items() if not takes} | identifiers(words)
    lines = {name: f'void pinwire_f_{name}(void) {{ _Static_assert(__builtin_constant_p({name}), ""); '
                   f"(void)((unsigned long long)({name})); }}" for name in sorted(found) if CONSTANTS.fullmatch(name)}
    return rows_of(words, "".join(
        f'printf("{name} %#llx %zu %s\\n", (unsigned long long)({name}), sizeof({name}), '
        f'((__typeof__({name}))-1 < (__typeof__({name}))1) ? "signed" : "unsigned");\n' for name in that_compile(words, lines)))


def types(words):
    """Each type's bytes and kind: a number, signed or unsigned, or opaque."""
    found = sorted(name for name in set(macros(words)) | identifiers(words) if TYPES.fullmatch(name))
    there = that_compile(words, {name: f"struct pinwire_s_{name} {{ {name} x; }};" for name in found})
    numbers = that_compile(words, {name: f"void pinwire_f_{name}(void) {{ {name} x = 1; (void)(x * 2); }}" for name in there})
    kind = {name: f'({name})-1 < ({name})1 ? "signed" : "unsigned"' for name in numbers}
    return rows_of(words, "".join(f'printf("{name} %zu %s\\n", sizeof({name}), {kind.get(name, chr(34) + "opaque" + chr(34))});\n'
                                  for name in there))


def system_headers(words, kind):
    """The system's headers that come with a public one. The mode among `words` is another's."""
    text, mode = KINDS[kind]
    words = [word for word in words if not word.startswith("-DGASNET")] + [mode]
    found = set(SYSTEM.findall(preprocessed(words, "-M", text=text)))
    return {header for header in found if not NOT_FOR_PROGRAMS.search(header)}


def names_in_text(text):
    """Names in prose. One that goes on with *, {, [ or < stands for several, and is none itself."""
    return {name for name, rest in re.findall(rf"({PUBLIC})(.?)", text) if not name.endswith("_") and rest not in list("*{[<")}
