#!/usr/bin/env python3
"""Installs, and builds and runs clients outside the source tree as other people's build systems do.
Usage: dropin_test.py BUILD_DIRECTORY PROGRAM_OF_THE_BUILD DRIVERS LIBDIR [unittest arguments]
DRIVERS: shm or shm,dpdk; LIBDIR: below the prefix"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD, BUILT_PROGRAM = map(os.path.abspath, sys.argv[1:3])
DRIVERS = sys.argv[3].split(",")
LIBDIR = sys.argv[4]
MODES = ["seq", "parsync", "par"]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
STANDARD = {"c": "-std=c99", "cc": "-std=c++17"}
PUBLIC = re.compile(r"(gasnet|gasnetc|gasneti|gasnett|gex|pinwire)_\w+")
COMPILERS = {"gcc": "g++", "clang": "clang++"}
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("GASNET_", "PKG_CONFIG", "MAKE"))}
TIME_LIMIT_S = 120
work = prefix = None


def run(command, **environment):
    return subprocess.run([str(word) for word in command], cwd=work, env={**ENVIRONMENT, **environment}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIME_LIMIT_S)


def output_of(command, **environment):
    done = run(command, **environment)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def compilers():
    found = [name for name in COMPILERS if shutil.which(name) and shutil.which(COMPILERS[name])]
    for name in set(COMPILERS) - set(found):
        print(f"dropin: without {name}, which is not installed", file=sys.stderr)
    return found


def linkers():
    """The linkers that -fuse-ld= takes here: they differ in what they let fall and in what they mind."""
    return [name for name in ("bfd", "gold", "lld") if shutil.which("ld." + name)]


def archive(mode):
    return prefix / f"{LIBDIR}/libgasnet-pinwire-{mode}.a"


def pkg_config(mode, *arguments, at=None, package="gasnet-pinwire"):
    """Its output as a shell reads it."""
    return shlex.split(output_of(["pkg-config", *arguments, f"{package}-{mode}"],
                                 PKG_CONFIG_PATH=f"{at or prefix}/{LIBDIR}/pkgconfig"))


def dpdk_is_inside():
    """It is, where the system has DPDK's archives; else a client links its shared libraries."""
    return "dpdk" in DRIVERS and "-lrte_eal" not in pkg_config("seq", "--static", "--libs")


def build(language, name, compiler, words, linker=None, source="client"):
    """One client from compile and link words, linked by the compiler of its language."""
    source = work / f"{source}.{language}"
    driver = compiler if language == "c" else COMPILERS[compiler]
    output_of([driver, STANDARD[language], *WARNINGS, source, "-o", work / name, *words,
               *([f"-fuse-ld={linker}", "-Wl,--gc-sections"] if linker else [])])
    return work / name


def setUpModule():
    global work, prefix
    work = pathlib.Path(tempfile.mkdtemp(prefix="pinwire-dropin-test-"))
    unittest.addModuleCleanup(shutil.rmtree, work)
    output_of(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", work / "root"])
    header, = (work / "root").glob("**/include/gasnet.h")
    prefix = header.parent.parent
    for name in ("client.c", "client.cc", "headers.c", "opcode.c", "tools.c", "tools.cc", "Makefile"):
        shutil.copy(HERE / name, work)


def variables_of(fragment, names):
    """Their values as make reads them."""
    (work / "echo.mk").write_text(f"include {fragment}\necho:\n" + "".join(f"\t@echo '{name}=$({name})'\n" for name in names))
    return dict(line.split("=", 1) for line in output_of(["make", "-s", "-f", "echo.mk", "echo"]).splitlines())


def rows(name):
    """A table of the release of GASNet-EX (scripts/release-tables)."""
    lines = (HERE.parents[1] / "unit/api/release" / name).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


class Dropin(unittest.TestCase):
    def expect_job(self, program, driver="shm", ranks=2, launcher=None):
        said = output_of([launcher or prefix / "bin/gasnetrun_pinwire", "-n", ranks, program], GASNET_DRIVER=driver)
        self.assertEqual(sorted(re.findall(r"client: rank (\d) of (\d): ok", said)),
                         [(str(rank), str(ranks)) for rank in range(ranks)], said)

    def test_files_lie_where_clients_look(self):
        names = ["include/bupc_memcpy.h", "include/gasnet.h", "include/gasnet_tools.h", "include/gasnet_config.h",
                 "include/gasnet_portable_platform.h", "bin/gasnetrun_pinwire"]
        for kind in ("seq", "par"):
            names += [f"{LIBDIR}/libgasnet_tools-{kind}.a", f"{LIBDIR}/pkgconfig/gasnet_tools-{kind}.pc",
                      f"include/gasnet_tools-{kind}.mak"]
        names += ["bin/pinwire_switch"] if "dpdk" in DRIVERS else []
        names += ["bin/flood"] if pathlib.Path(BUILD, "bench/flood").exists() else []
        for mode in MODES:
            names += [f"{LIBDIR}/libpinwire-upc-{mode}.a", f"{LIBDIR}/pkgconfig/pinwire-upc-{mode}.pc"]
            names += [f"{LIBDIR}/libgasnet-pinwire-{mode}.a", f"{LIBDIR}/pkgconfig/gasnet-pinwire-{mode}.pc",
                      f"include/pinwire-conduit/pinwire-{mode}.mak"]
        self.assertEqual([name for name in names if not (prefix / name).exists()], [])

    def test_only_the_api_is_visible(self):
        told = {name.group() for header in (prefix / "include").glob("*.h")
                for name in PUBLIC.finditer(header.read_text())}
        for mode in MODES:
            defined = output_of(["nm", "-g", "--defined-only", "--format=posix", archive(mode)])
            names = {line.split()[0] for line in defined.splitlines() if " " in line}
            self.assertIn("gasnet_attach", names)
            # The mode that objects are compiled for is in a name that the preprocessor puts together.
            self.assertEqual({name for name in names - told if "_compiled_for_" not in name}, set())
            needed = output_of(["nm", "-u", "--format=posix", archive(mode)]).splitlines()
            inner = r"(_Z|rte_|ibv_|mlx|numa_)\S* U" if dpdk_is_inside() else r"_Z\S* U"
            self.assertEqual([line for line in needed if re.match(inner, line)], [])

    def test_pkg_config(self):
        for compiler in compilers():
            for language in STANDARD:
                words = pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs")
                self.expect_job(build(language, "program", compiler, words))

    def test_the_hello_of_the_readme(self):
        readme = (HERE.parents[2] / "README.md").read_text(encoding="utf-8")
        (work / "hello.c").write_text(re.search(r"^```c\n(.*?)^```$", readme, re.M | re.S)[1], encoding="utf-8")
        words = pkg_config("par", "--define-prefix", "--static", "--cflags", "--libs")
        for compiler in compilers():
            program = build("c", "hello", compiler, words, source="hello")
            for driver in DRIVERS:
                said = output_of([prefix / "bin/gasnetrun_pinwire", "-n", 2, program], GASNET_DRIVER=driver)
                self.assertEqual(sorted(said.splitlines()), ["rank 0 of 2: 42", "rank 1 of 2: 42"])

    def test_make_fragment(self):
        for compiler in compilers():
            output_of(["make", "-B", f"PREFIX={prefix}", "MODE=parsync", f"GASNET_CC={compiler}",
                       f"GASNET_LD={compiler}", f"GASNET_CXX={COMPILERS[compiler]}",
                       "WARNINGS=" + " ".join(WARNINGS)])
            self.expect_job(work / "c_make")
            self.expect_job(work / "cc_make")

    def test_link_line_of_plain_words(self):
        """As Realm's: what make says, of which only -I -D -L -l words stay; on every driver."""
        (work / "words.mk").write_text(
            f"include {prefix}/include/pinwire-conduit/pinwire-par.mak\n"
            "words:\n\t@echo $(GASNET_CXXCPPFLAGS) $(GASNET_CXXFLAGS) $(GASNET_LDFLAGS) $(GASNET_LIBS)\n")
        words = [word for word in output_of(["make", "-s", "-f", "words.mk", "words"]).split()
                 if re.match("-[IDLl].", word)]
        self.assertIn("-lgasnet-pinwire-par", words)
        for compiler in compilers():
            for language in STANDARD:
                self.expect_job(build(language, "program", compiler, words))
        for linker in linkers():
            program = build("cc", "program", compilers()[0], words, linker)
            self.expect_job(program)
        for driver in DRIVERS:
            self.expect_job(program, driver)
            self.expect_job(program, driver, ranks=3)  # over DPDK: through the switch beside the launcher

    def test_same_drivers_as_in_the_build_tree(self):
        """Each PMD's registration, a constructor, is in a client."""
        if not dpdk_is_inside():
            self.skipTest("this build has no DPDK, or no archives of it")
        def registrations(program):
            return set(re.findall(r"\b\w*initfn_\w+", output_of(["nm", program])))
        program = build("c", "program", compilers()[0],
                        pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs"))
        self.assertEqual(registrations(program), registrations(BUILT_PROGRAM))
        self.assertTrue(any("virtio_user" in name for name in registrations(program)))

    def test_tools_without_a_job(self):
        (work / "tools.mk").write_text(
            f"include {prefix}/include/gasnet_tools-$(KIND).mak\n"
            "tools_make: tools.c\n"
            "\t$(GASNETTOOLS_CC) $(GASNETTOOLS_CPPFLAGS) $(GASNETTOOLS_CFLAGS) -c tools.c -o tools.o\n"
            "\t$(GASNETTOOLS_LD) $(GASNETTOOLS_LDFLAGS) -o tools_make tools.o $(GASNETTOOLS_LIBS)\n")
        for kind in ("seq", "par"):
            for compiler in compilers():
                for language in STANDARD:
                    words = pkg_config(kind, "--define-prefix", "--cflags", "--libs", package="gasnet_tools")
                    said = output_of([build(language, "tools", compiler, words, source="tools")])
                    self.assertRegex(said, rf"^tools: {kind.upper()} [0-9.]+: ok\n$")
            output_of(["make", "-B", "-f", "tools.mk", f"KIND={kind}", "MANUAL_CFLAGS=" + " ".join(WARNINGS)])
            self.assertIn(f"tools: {kind.upper()} ", output_of([work / "tools_make"]))
        wrong = [word.replace("_tools-par", "_tools-seq") for word in words]
        done = run([compilers()[0], work / "tools.c", "-o", work / "tools", *wrong])
        self.assertIn("pinwire_tools_compiled_for_threads_", done.stdout)

    def test_mixed_modes_do_not_link(self):
        words = pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs")
        mixed = ["-DGASNET_PAR" if word == "-DGASNET_SEQ" else word for word in words]
        self.assertNotEqual(mixed, words)
        done = run([compilers()[0], work / "client.c", "-o", work / "mixed", *mixed])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("pinwire_compiled_for_PAR_", done.stdout)

    def test_objects_of_several_modes_do_not_link(self):
        """Also one that calls nothing of GASNet; nor do objects of another build or release."""
        (work / "idle.c").write_text('#include "gasnet.h"\nint idle = 1;\n')
        compile_words, link_words = (pkg_config("seq", "--define-prefix", "--static", which)
                                     for which in ("--cflags", "--libs"))
        config = (prefix / "include/gasnet_config.h").read_text()
        (work / "older").mkdir(exist_ok=True)
        (work / "older/gasnet_config.h").write_text(config.replace("_PATCH 0", "_PATCH 9").replace("_0\n", "_9\n"))
        for compiler in compilers():
            for language, driver in (("c", compiler), ("c++", COMPILERS[compiler])):
                for words, named in (
                        ([word.replace("GASNET_SEQ", "GASNET_PAR") for word in compile_words], "pinwire_compiled_for_PAR_"),
                        (["-include", work / "older/gasnet_config.h", *compile_words], "pinwire_compiled_for_SEQ_"),
                        (compile_words, None)):
                    output_of([driver, "-x", language, "-c", work / "idle.c", "-o", work / "idle.o", *words])
                    done = run([compiler, *compile_words, work / "client.c", work / "idle.o", "-o", work / "mixed",
                                *link_words])
                    self.assertEqual(done.returncode == 0, named is None, done.stdout)
                    self.assertIn(named or "", done.stdout)

    def test_segment_kinds_do_not_mix_in_a_program(self):
        (work / "idle.c").write_text('#include "gasnet.h"\nint idle = 1;\n')
        words = pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs")
        output_of([compilers()[0], "-c", "-DGASNET_SEGMENT_LARGE", work / "idle.c", "-o", work / "idle.o", *pkg_config("seq", "--define-prefix", "--cflags")])
        output_of([compilers()[0], work / "client.c", work / "idle.o", "-o", work / "mixed", *words])
        done = run([work / "mixed"])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, "gasnet_init failed: objects of this program were compiled for "
                                      "RELEASE=.*SEGMENT=FAST.* and for RELEASE=.*SEGMENT=LARGE.*; compile all alike")

    def test_modes_do_not_mix_in_a_job(self):
        for mode in ("seq", "par"):
            build("c", "client_" + mode, compilers()[0],
                  pkg_config(mode, "--define-prefix", "--static", "--cflags", "--libs"))
        (work / "either").write_text('#!/bin/sh\nif [ "$GASNET_JOB_RANK" = 1 ]; then exec ./client_par; fi\nexec ./client_seq\n')
        (work / "either").chmod(0o755)
        done = run([prefix / "bin/gasnetrun_pinwire", "-n", 2, work / "either"], GASNET_DRIVER="shm")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "rank [01] was compiled for RELEASE=.*THREADMODEL=(SEQ|PAR).*, this rank for "
                                      "RELEASE=.*THREADMODEL=(SEQ|PAR).*; compile and link all ranks alike")

    def test_identification_strings(self):
        """Launchers and test scripts look for them in the program, however it was linked."""
        for mode in MODES:
            words = pkg_config(mode, "--define-prefix", "--static", "--cflags", "--libs")
            for linker in linkers():
                program = build("c", "idents", compilers()[0],
                                [*words, "-ffunction-sections", "-fdata-sections"], linker)
                said = output_of(["strings", "-a", program])
                for ident in ("ConduitName: PINWIRE", f"ThreadModel: GASNET_{mode.upper()}", "APIVersion: 1", "EXAPIVersion: 0.19",
                              "Segment: GASNET_SEGMENT_FAST", "FORKSpawner: 1", "CoreLibraryName: PINWIRE",
                              f"ToolsThreadModel: {mode.upper()}"):
                    self.assertIn(f"$GASNet{ident} $", said)
                self.assertRegex(said, r"\$GASNetConfig: \(libgasnet.a\) RELEASE=\S*,SPEC=0.19,\S*THREADMODEL="
                                       rf"{mode.upper()},SEGMENT=FAST,\S* \$")

    def test_what_configure_scripts_look_for(self):
        """As Realm's FindGASNet, Nanos++'s and others: fragments by a pattern, the release, a header, a symbol."""
        fragments = sorted(path.name for path in (prefix / "include").glob("*-conduit/*.mak") if path.name.startswith("pinwire-"))
        self.assertEqual(fragments, [f"pinwire-{mode}.mak" for mode in sorted(MODES)])
        config = (prefix / "include/gasnet_config.h").read_text()
        for line in ("GASNET_RELEASE_VERSION_MAJOR \\d+", "GASNET_RELEASE_VERSION_MINOR \\d+", "GASNET_RELEASE_VERSION_PATCH \\d+",
                     "GASNETI_RELEASE_VERSION [0-9.]+", "GASNETI_EX_SPEC_VERSION_MAJOR 0", "GASNETI_EX_SPEC_VERSION_MINOR 19",
                     "GASNETI_SPEC_VERSION_MAJOR 1", "GASNETI_TOOLS_SPEC_VERSION_MAJOR 1", "GASNETI_TOOLS_SPEC_VERSION_MINOR 20",
                     'GASNETI_BUILD_ID ".+"', "GASNETI_CONFIGURE_ARGS \"'--prefix=.*'\"", "SIZEOF_INT 4", "SIZEOF_VOID_P 8"):
            self.assertRegex(config, rf"(?m)^#define {line}$")
        words = pkg_config("par", "--define-prefix", "--static", "--cflags", "--libs")
        (work / "probe.c").write_text('#include "gasnet_core.h"\n'
                                      "int main(void) { return gasnetc_AMPoll != gasnet_AMPoll ? 0 : 1; }\n")
        output_of([compilers()[0], work / "probe.c", "-o", work / "probe", *words])

    def test_a_tool_without_headers_finds_the_rank(self):
        """As HPCToolkit's, which is linked into a program: no rank, which is negative, before there is a job."""
        words = pkg_config("par", "--define-prefix", "--static", "--libs")
        (work / "tool.c").write_text("extern int gasneti_mynode, gasneti_nodes, gasnet_attach(void);\n"
                                     "int main(void) { return gasneti_mynode == -1 && gasneti_nodes == 0 ? 0 : gasnet_attach(); }\n")
        output_of([compilers()[0], work / "tool.c", "-o", work / "tool", *words])
        output_of([work / "tool"])

    def left_out(self, table):
        return [pattern for where, pattern, _ in rows("left_out.tsv") if where == table]

    def test_files_of_the_release_are_there(self):
        """But its headers, which unit/api_release looks at."""
        names = [name.replace("CONDUIT", "pinwire").replace("lib/", f"{LIBDIR}/", 1) for name, *_ in rows("files.tsv")
                 if not name.endswith(".h")]
        missing = {name for name in names if not (prefix / name).exists()}
        left_out = self.left_out("installed")
        self.assertEqual({name for name in missing if not any(re.fullmatch(one, name) for one in left_out)}, set())
        self.assertTrue(all(any(re.fullmatch(one, name) for name in missing) for one in left_out), left_out)

    def test_variables_of_the_release_are_set(self):
        """CMake's lists of options break on an empty one; and scripts run realpath on compilers."""
        wanted = {}
        for key, state in rows("variables.tsv"):
            path, name = key.replace("CONDUIT", "pinwire").replace("lib/", f"{LIBDIR}/", 1).split()
            if not any(re.fullmatch(one, name) for one in self.left_out("variables")):
                wanted.setdefault(path, {})[name] = state
        may_be_empty = {name for names in wanted.values() for name, state in names.items() if state == "empty"}
        for path, names in wanted.items():
            if path.endswith(".mak"):
                values = variables_of(prefix / path, names)
            else:
                package = pathlib.Path(path).stem
                values = {name: output_of(["pkg-config", "--define-prefix", f"--variable={name}", package],
                                          PKG_CONFIG_PATH=f"{prefix}/{LIBDIR}/pkgconfig").strip() for name in names}
            self.assertEqual({name for name, value in values.items() if not value.strip()} - may_be_empty, set(), path)
            for name, value in values.items():
                if re.fullmatch("GASNET(TOOLS)?_(CC|CXX|LD)", name):
                    self.assertTrue(os.path.isabs(value) and os.access(value, os.X_OK), f"{path}: {name} is {value}")

    def test_a_program_is_small(self):
        """Without debugging information of ours, and without what it does not use."""
        words = pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs")
        if "-O0" in words or re.search('GASNETI_BUILD_ID ".*, debug"', (prefix / "include/gasnet_config.h").read_text()):
            self.skipTest("this build keeps its debugging information")
        self.assertIn("-Wl,--gc-sections", words)
        self.assertIn("-Wl,--gc-sections", pkg_config("seq", "--libs", package="gasnet_tools"))
        bytes_max = 12_000_000 if dpdk_is_inside() else 6_000_000
        self.assertLess(build("c", "program", compilers()[0], words).stat().st_size, bytes_max)

    def test_what_the_build_is_told_to_leave_out(self):
        """-Ddpdk_drivers, with those that join processes of a host in any case; and -Dconduit_alias is heard."""
        if not dpdk_is_inside():
            self.skipTest("this build has no DPDK, or no archives of it")
        source = HERE.parents[2]
        setup = ["meson", "setup", work / "chosen", source, "-Dtests=disabled", "-Dbench=false", "-Dconduit_alias=ofi"]
        self.assertIn("no driver net_none", run([*setup, "-Ddpdk_drivers=net_none"]).stdout)
        shutil.rmtree(work / "chosen")
        output_of([*setup, "-Ddpdk_drivers=net_ice,net_memif"])
        linked = re.findall(r"librte_(net_\w+|common_\w+)\.a", (work / "chosen/build.ninja").read_text())
        self.assertEqual(set(linked), {"net_vhost", "net_virtio", "net_ice", "net_memif", "common_iavf"})
        steps = (work / "chosen/meson-private/install.dat").read_bytes()
        self.assertTrue(b"scripts/installation/alias" in steps and b"ofi" in steps)

    def test_under_the_name_of_another_conduit(self):
        """For clients that know a list of conduits (-Dconduit_alias)."""
        tree = work / "aliased"
        shutil.copytree(prefix, tree, symlinks=True)
        alias = HERE.parents[2] / "scripts/installation/alias"
        output_of([alias, "ofi", tree, LIBDIR, "include"])
        (work / "aliased.c").write_text('#include "client.c"\n#if !(GASNET_CONDUIT_OFI && GASNET_CONDUIT_PINWIRE)\n#error\n#endif\n')
        for mode in MODES:
            words = pkg_config(mode, "--define-prefix", "--static", "--cflags", "--libs", at=tree, package="gasnet-ofi")
            self.assertIn(f"-lgasnet-ofi-{mode}", words)
            fragment = tree / f"include/ofi-conduit/ofi-{mode}.mak"
            made = variables_of(fragment, ["GASNET_CPPFLAGS", "GASNET_CFLAGS", "GASNET_LDFLAGS", "GASNET_LIBS"])
            for line in (words, " ".join(made.values()).split()):
                self.assertIn(f"-I{tree}/include/ofi-conduit", line)
                self.expect_job(build("c", "program", compilers()[0], line, source="aliased"), launcher=tree / "bin/gasnetrun_ofi")
        self.assertTrue((tree / "include/ofi-conduit/gasnet_core.h").exists())
        for name in ("pinwire", "", "a/b", "OFI"):
            self.assertIn("is no other conduit's name", run([alias, name, tree, LIBDIR, "include"]).stdout)

    def test_fragments_behind_symbolic_links(self):
        """Links to the fragment, to its directory and to the prefix: what it names is the installed tree."""
        (work / "links").mkdir()
        (work / "links/prefix").symlink_to(prefix)
        (work / "links/conduit").symlink_to(prefix / "include/pinwire-conduit")
        (work / "links/fragment.mak").symlink_to(prefix / "include/pinwire-conduit/pinwire-par.mak")
        (work / "links/tools.mak").symlink_to(prefix / "include/gasnet_tools-par.mak")
        for fragment in ("prefix/include/pinwire-conduit/pinwire-par.mak", "conduit/pinwire-par.mak", "fragment.mak", "tools.mak"):
            self.assertEqual(variables_of(work / "links" / fragment, ["GASNET_PREFIX"]), {"GASNET_PREFIX": os.path.realpath(prefix)})

    def test_headers_bring_what_real_clients_take_from_them(self):
        for header, mode, package in (("gasnetex.h", "seq", "gasnet-pinwire"), ("gasnetex.h", "par", "gasnet-pinwire"),
                                      ("gasnet.h", "parsync", "gasnet-pinwire"), ("gasnet_tools.h", "seq", "gasnet_tools"),
                                      ("gasnet_tools.h", "par", "gasnet_tools")):
            words = pkg_config(mode, "--define-prefix", "--static", "--cflags", "--libs", package=package)
            for compiler in compilers():
                shutil.copy(work / "headers.c", work / "headers.cc")
                for language in STANDARD:
                    program = build(language, "headers", compiler, [f"-DHEADER=<{header}>", *words], source="headers")
                    self.assertEqual(output_of([program]), "headers: ok\n")

    def test_an_operation_that_the_compiler_does_not_know(self):
        """Where the peer's memory is mapped it is done at once, also in a client without optimization and in a traced job."""
        words = pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs")
        for level in ("-O0", "-O2"):
            program = build("c", "opcode", compilers()[0], [*words, level], source="opcode")
            for settings in ({}, {"GASNET_TRACEFILE": work / "trace.%", "GASNET_TRACEMASK": "GPRX"}):
                said = output_of([prefix / "bin/gasnetrun_pinwire", "-n", 2, program], GASNET_DRIVER="shm",
                                 **{name: str(value) for name, value in settings.items()})
                self.assertEqual(len(re.findall("client: rank . of 2: ok", said)), 2, said)

    def test_a_client_object_has_no_config_of_the_library(self):
        """A compiler driver that reads objects' identification strings refuses a second `$GASNetConfig`."""
        words = pkg_config("par", "--define-prefix", "--cflags")
        for segment, named in ((None, False), ("LARGE", True)):
            output_of([compilers()[0], "-c", work / "client.c", "-o", work / "client.o", *words,
                       *([f"-DGASNET_SEGMENT_{segment}"] if segment else [])])
            said = output_of(["strings", "-a", work / "client.o"])
            self.assertNotIn("$GASNetConfig", said)
            self.assertEqual("$GASNetSegment: GASNET_SEGMENT_LARGE $" in said, named, said)

    def test_parsers_that_only_substitute_variables(self):
        """As Chapel's, which has no pkg-config: KEY=VALUE and KEY: VALUE lines, ${KEY} replaced."""
        for mode in MODES:
            known = {}
            for line in (prefix / f"{LIBDIR}/pkgconfig/gasnet-pinwire-{mode}.pc").read_text().splitlines():
                key, mark, value = re.match(r"([\w.]*)\s*([=:]?)\s*(.*)", line).groups()
                if mark:
                    known[key] = re.sub(r"\$\{(\w+)\}", lambda name: known[name[1]], value)
            self.assertEqual(known["Cflags"].split(), pkg_config(mode, "--cflags", "--keep-system-cflags"))
            self.assertEqual(known["Libs"].split(), pkg_config(mode, "--libs", "--static", "--keep-system-libs"))

    def test_prefix_with_a_space(self):
        """pkg-config quotes it. make splits file names at spaces: there the fragments cannot lie."""
        spaced = work / "a prefix"
        spaced.symlink_to(prefix)
        words = pkg_config("seq", "--define-prefix", "--static", "--cflags", "--libs", at=spaced)
        self.assertIn(f"-I{spaced}/include", words)
        self.expect_job(build("c", "program", compilers()[0], words))


if __name__ == "__main__":
    if "/" in LIBDIR:
        print(f"skipped: moved trees are tested with a libdir one level below the prefix, not {LIBDIR}: -Dlibdir=lib")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
