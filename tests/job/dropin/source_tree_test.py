#!/usr/bin/env python3
"""Configures, makes and installs a source tree of scripts/install --source-tree, as clients do that build GASNet by
themselves, and runs a client that was built with what it yields.
Usage: source_tree_test.py BUILD_DIRECTORY DRIVERS [unittest arguments]"""

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
INSTALL = HERE.parents[2] / "scripts/install"
BUILD = os.path.abspath(sys.argv[1])
DRIVERS = sys.argv[2].split(",")
MODES = ["seq", "parsync", "par"]
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("GASNET_", "PKG_CONFIG", "MAKE")) and name not in ("CC", "CXX", "CFLAGS", "CXXFLAGS", "DESTDIR")}
TIME_LIMIT_S = 120
work = installed = tree = None


def run(command, at=None, **environment):
    return subprocess.run([str(word) for word in command], cwd=at or work, env={**ENVIRONMENT, **environment}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT_S)


def output_of(command, at=None, **environment):
    done = run(command, at, **environment)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def setUpModule():
    """The tree: two other conduits' names, written into a directory whose name has a space."""
    global work, installed, tree
    work = pathlib.Path(tempfile.mkdtemp(prefix="pinwire-source-tree-test-"))
    unittest.addModuleCleanup(lambda: (output_of(["chmod", "-R", "u+w", work]), shutil.rmtree(work)))
    output_of(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", work / "root"])
    header, = (work / "root").glob("**/include/gasnet.h")
    installed = header.parent.parent
    tree = work / "GASNet-tree"
    output_of([INSTALL, "--from", installed, "--as", "udp", "--as", "ofi", "--source-tree", tree])
    shutil.rmtree(work / "root")  # the tree needs it no more
    shutil.copy(HERE / "client.c", work)


def is_debug():
    return (tree / "library/debug").exists()


class SourceTree(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=work))

    def configured(self, *options, source=None, at="build", **environment):
        """A build directory of its own."""
        build = self.directory / at
        build.mkdir()
        self.said = output_of([(source or tree) / "configure", f"--prefix={self.directory / 'prefix'}", *options], build, **environment)
        return build

    def refused(self, *options):
        done = run([tree / "configure", *options], self.directory)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "^configure: error: ")
        self.assertEqual(list(self.directory.iterdir()), [])
        return done.stdout

    def expect_job(self, prefix, words, launcher="gasnetrun_udp", count=("-n", "2")):
        program = self.directory / "program"
        output_of([shutil.which("cc"), work / "client.c", "-o", program, *words])
        for driver in DRIVERS:
            said = output_of([prefix / "bin" / launcher, *count, program], GASNET_DRIVER=driver)
            self.assertEqual(sorted(re.findall(r"client: rank (\d) of (\d): ok", said)), [("0", "2"), ("1", "2")], said)

    def words_of_fragment(self, fragment):
        (self.directory / "echo.mk").write_text(
            f"include {fragment}\necho:\n\t@echo $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) $(GASNET_LDFLAGS) $(GASNET_LIBS)\n"
            "compilers:\n\t@echo $(GASNET_CC); echo $(GASNET_CXX)\n")
        return output_of(["make", "-s", "-f", self.directory / "echo.mk", "echo"]).split()

    def words_of_package(self, prefix, package):
        return shlex.split(output_of(["pkg-config", "--static", "--cflags", "--libs", package], PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig"))

    def test_configure_make_install_and_use(self):
        """As Legion's and Chapel's makefiles: a build directory inside the prefix, make all, make install."""
        build = self.configured("--with-cflags=-fPIC", "--enable-par", "--disable-seq", "--disable-parsync", "--enable-pthreads",
                                "--disable-auto-conduit-detect", "--enable-udp", "--enable-pshm", "--enable-mpi-compat")
        self.assertIn("--enable-mpi-compat", self.said)
        output_of(["make", "-j2", "all"], build)
        output_of(["make", "install"], build)
        prefix = self.directory / "prefix"
        self.assertEqual([path.name for path in (prefix / "include").glob("*-conduit/*.mak")], ["udp-par.mak"])
        self.assertEqual(sorted(path.name for path in (prefix / "lib").glob("libgasnet-*")), ["libgasnet-udp-par.a"])
        words = self.words_of_fragment(prefix / "include/udp-conduit/udp-par.mak")
        self.assertIn("-fPIC", words)
        self.assertIn(f"-L{prefix}/lib", words)
        self.expect_job(prefix, words)
        self.expect_job(prefix, self.words_of_package(prefix, "gasnet-udp-par"), "amudprun", ("-np", "2"))
        for name in ("LICENSE", "README"):
            self.assertTrue((prefix / "share/doc/GASNet" / {"LICENSE": "license.txt"}.get(name, name)).stat().st_size)

    def test_use_from_the_build_directory(self):
        """As UPC++'s makefiles: one conduit and mode at a time, the fragment of the build, `make install prefix=`."""
        build = self.configured("--disable-parsync", "--enable-seq", "--enable-par", "--disable-segment-everything")
        self.assertRegex((build / "gasnet_config.h").read_text(), r"(?m)^#define GASNETI_CONFIGURE_ARGS \"'--prefix=.*'--disable-parsync'")
        output_of(["make", "-C", "ofi-conduit", "seq", "MANUAL_CFLAGS=-O1"], build)
        self.assertTrue((build / "ofi-conduit/libgasnet-ofi-seq.a").is_file())
        self.assertFalse((build / "ofi-conduit/libgasnet-ofi-par.a").exists())
        output_of(["make", "-C", "other/amudp", "amudprun"], build)
        self.assertTrue(os.access(build / "other/amudp/amudprun", os.X_OK))
        output_of(["make", "-C", "other"], build)
        self.assertEqual(output_of(["make", "-s", "echovar", "VARNAME=CONDUITS"], build), "CONDUITS='ofi pinwire udp'\n")
        self.expect_job(tree / "library" / os.listdir(tree / "library")[0], self.words_of_fragment(build / "ofi-conduit/ofi-seq.mak"))
        done = run(["make", "-C", "ofi-conduit", "parsync"], build)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not configured for parsync, only for: seq par; configure it again with --enable-parsync", done.stdout)
        output_of(["make", "install", f"prefix={self.directory / 'other'}", f"DESTDIR={self.directory / 'stage'}"], build)
        package = self.directory / "stage" / str(self.directory / "other")[1:] / "lib/pkgconfig/gasnet-ofi-seq.pc"
        self.assertIn(f"\nprefix={self.directory / 'other'}\n", package.read_text())
        self.assertFalse((self.directory / "prefix").exists())
        output_of(["make", "clean"], build)
        self.assertFalse((build / "ofi-conduit/libgasnet-ofi-seq.a").is_symlink())

    def test_compilers_and_flags_reach_the_client(self):
        real = shutil.which("cc")
        (self.directory / "mycc").symlink_to(real)
        build = self.configured("CC=mycc -pipe", f"--with-cxx={self.directory / 'mycc'}", "LDFLAGS=-Wl,-z,now", "--enable-segment-large",
                                CFLAGS="-DFROM_THE_ENVIRONMENT", PATH=f"{self.directory}:{ENVIRONMENT['PATH']}")
        output_of(["make", "install"], build)
        prefix = self.directory / "prefix"
        fragment = prefix / "include/pinwire-conduit/pinwire-seq.mak"
        words = self.words_of_fragment(fragment)
        self.assertTrue({"-DFROM_THE_ENVIRONMENT", "-Wl,-z,now", "-DGASNET_SEGMENT_LARGE"} <= set(words), words)
        self.assertEqual(words.count("-DGASNET_SEGMENT_LARGE"), 1)
        compilers = output_of(["make", "-s", "-f", self.directory / "echo.mk", "compilers"]).splitlines()
        self.assertEqual(compilers, [f"{self.directory / 'mycc'} -pipe", str(self.directory / "mycc")])
        self.expect_job(prefix, words, "gasnetrun_pinwire")
        self.assertIn("$GASNetSegment: GASNET_SEGMENT_LARGE $", output_of(["strings", "-a", self.directory / "program"]))

    def test_paths_with_spaces_and_a_tree_that_cannot_be_written(self):
        source = self.directory / "a source tree"
        shutil.copytree(tree, source, symlinks=True)
        output_of(["chmod", "-R", "a-w", source])
        # Root may write there all the same.
        state = lambda: sorted((path, path.lstat().st_mtime_ns, path.lstat().st_size) for path in source.rglob("*"))
        before = state()
        build = self.configured(f"--prefix={self.directory / 'a prefix'}", source=source, at="a build")
        for _ in range(2):  # installing again over what is there
            output_of(["make", "install"], build)
        prefix = self.directory / "a prefix"
        words = self.words_of_package(prefix, "gasnet-ofi-parsync")
        self.assertIn(f"-I{prefix}/include", words)
        self.expect_job(prefix, words, "gasnetrun_ofi")
        self.assertEqual(state(), before)

    def test_installing_other_conduits_over_those_of_before(self):
        """The first conduit has the library and the others links to it: a second installation writes through none."""
        prefix = self.directory / "prefix"
        output_of(["make", "install"], self.configured(at="all"))
        output_of(["make", "install"], self.configured("--disable-auto-conduit-detect", "--enable-udp", at="one"))
        self.assertFalse((prefix / "lib/libgasnet-udp-seq.a").is_symlink())
        for package in ("gasnet-udp-seq", "gasnet-pinwire-seq"):
            self.expect_job(prefix, self.words_of_package(prefix, package))

    def test_configuring_once_more(self):
        flags = r"-DTEXT=\"a\b\" -Wl,-rpath,\\$$ORIGIN"
        build = self.configured("--enable-udp", "--disable-auto-conduit-detect", "--disable-par", LDFLAGS=flags, CFLAGS="-DFROM_THE_ENVIRONMENT")
        self.assertIn(flags, (build / "settings.sh").read_text())
        before = {path: path.read_text() for path in build.rglob("*.mak")}
        shutil.rmtree(build / "udp-conduit")
        output_of([build / "config.status", "--recheck"])
        self.assertEqual({path: path.read_text() for path in build.rglob("*.mak")}, before)
        output_of(["make", "distclean"], build)
        self.assertEqual(list(build.iterdir()), [])

    def test_in_the_source_directory(self):
        """As Caffeine's script."""
        source = self.directory / "source"
        shutil.copytree(tree, source, symlinks=True)
        output_of(["./Bootstrap"], source)
        output_of(["./configure", "--prefix", self.directory / "prefix", "--enable-ofi", "--with-cc=cc"], source)
        output_of(["make"], source)
        output_of(["make", "install"], source)
        prefix = self.directory / "prefix"
        self.expect_job(prefix, self.words_of_package(prefix, "gasnet-ofi-par"), "gasnetrun_ofi")

    def test_options_that_cannot_be_satisfied(self):
        self.assertIn("this tree has no conduit ibv, it has ofi pinwire udp: leave out --enable-ibv and use one of those, or make a "
                      "tree with scripts/install --as ibv --source-tree", self.refused("--enable-ibv"))
        self.assertIn("enable one of these threading modes", self.refused(*(f"--disable-{mode}" for mode in MODES)))
        self.assertIn("all conduits of this tree are left out", self.refused("--disable-auto-conduit-detect"))
        self.assertIn("unrecognized option: '-Z'", self.refused("-Z"))
        self.assertIn("give an absolute path", self.refused("--prefix=here"))
        self.assertIn("make cannot handle the path /a$b", self.refused("--prefix=/a$b"))
        self.assertIn("choose another --prefix", self.refused("--prefix=/p", "--libdir=/elsewhere"))
        self.assertIn("all goes into /p", self.refused("--prefix=/p", "--exec-prefix=/elsewhere"))
        self.assertIn("not for --host=pdp11-dec", self.refused("--host=pdp11-dec"))
        self.assertIn("there is no compiler none", self.refused("CC=none"))
        self.assertIn("missing argument to --prefix", self.refused("--prefix"))
        wanted, has = ("--disable-debug", "holds a debug build alone") if is_debug() else ("--enable-debug", "holds no debug build")
        self.assertIn(has, self.refused(wanted))

    def test_options_that_change_nothing_are_named_once(self):
        self.configured("--enable-udp", "--disable-ibv", "--enable-smp=probe", "--without-mpicc", "--enable-kind-cuda-uva")
        self.assertEqual(self.said.count("WARNING"), 1)
        self.assertIn("configure: WARNING: unrecognized options, which change nothing here: --without-mpicc, --enable-kind-cuda-uva\n", self.said)
        self.assertIn("--enable-CONDUIT", output_of([tree / "configure", "--help"]))
        self.assertIn((tree / "VERSION").read_text().strip(), output_of([tree / "configure", "--version"]))

    def test_a_tree_may_hold_a_debug_build_too(self):
        """Both of a UPC++: gasnet.opt and gasnet.debug of one source tree. Here the second is the first one with another header."""
        other, define = ("release", ("1", "0")) if is_debug() else ("debug", ("0", "1"))
        source = self.directory / "both"
        shutil.copytree(tree, source, symlinks=True)
        first = next((source / "library").iterdir())
        twin = self.directory / "twin"
        shutil.copytree(first, twin, symlinks=True)
        config = twin / "include/gasnet_config.h"
        config.write_text(config.read_text().replace(f"PINWIRE_DEBUG_BUILD {define[0]}", f"PINWIRE_DEBUG_BUILD {define[1]}"))
        output_of([INSTALL, "--from", twin, "--source-tree", source])
        self.assertEqual(sorted(os.listdir(source / "library")), ["debug", "release"])
        for option, kind in (("--enable-debug", "debug"), ("--disable-debug", "release"), ("--enable-udp", "release")):
            shutil.rmtree(self.directory / "build", ignore_errors=True)
            build = self.configured(option, source=source)
            self.assertIn(f"{source}/library/{kind}", (build / "udp-conduit/udp-par.mak").read_text())
        self.assertTrue((source / f"library/{other}/lib/libgasnet-pinwire-par.a").exists())

    def test_what_the_install_script_refuses(self):
        full = self.directory / "full"
        full.mkdir()
        (full / "file").touch()
        twin = other_kind = next((tree / "library").iterdir())
        debug = [] if is_debug() else ["--debug"]
        for arguments, said in ((["--as", "pinwire"], "'pinwire' is no other conduit's name"), (["--as", "A b"], "is no other conduit's name"),
                                (["--from", full, "--source-tree", self.directory / "t"], "there is no Pinwire under"),
                                (["--from", full, "--as", "udp"], "there is no Pinwire under"), (["--from", full], "there is no Pinwire under"),
                                (["--debug"], "wants a prefix of its own"), (["--as", ""], "is no other conduit's name"),
                                (["--prefix", ""], "wants a directory"), (["--prefix", other_kind, *debug], "holds a build of the other kind"),
                                (["--from", twin, "--source-tree", full], "is neither empty nor such a tree"),
                                (["--from", twin, "--debug"], "with --from nothing is built"), (["--prefix"], "--prefix wants a value"),
                                (["here"], "unknown argument here")):
            done = run([INSTALL, *arguments])
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn(said, done.stdout)
        done = run([INSTALL, "--prefix", full, "--source-tree", self.directory / "t"], DESTDIR="/stage")
        self.assertIn("leave out DESTDIR", done.stdout)
        self.assertEqual(os.listdir(full), ["file"])

    def test_what_else_lies_in_the_prefix_is_not_handed_out(self):
        prefix = self.directory / "shared prefix"
        shutil.copytree(next((tree / "library").iterdir()), prefix, symlinks=True)
        (prefix / "include/png.h").touch()
        shutil.copytree(prefix / "include/udp-conduit", prefix / "include/ibv-conduit")
        output_of([INSTALL, "--from", prefix, "--source-tree", self.directory / "t"])
        names = {path.name for path in (self.directory / "t").rglob("*")}
        self.assertFalse({"png.h", "ibv-conduit"} & names)
        self.assertTrue({"gasnetex.h", "portable_inttypes.h", "ofi-conduit", "gasnet_tools-seq.pc"} <= names)

    def test_the_build_says_what_it_has_and_what_is_left_out(self):
        log = (pathlib.Path(BUILD) / "meson-logs/meson-log.txt").read_text()
        for part in ("shm", "verbs", "dpdk", "gasnetrun_pinwire", "mpirun, srun (libpmix is opened at run time)", "bench/flood", "tests"):
            self.assertRegex(log, rf"\n +{re.escape(part)} *: (yes|left out: )", part)

    def test_what_the_install_script_asks_of_meson(self):
        """Building takes too long for a test: a meson that says what it was asked stands for it."""
        (self.directory / "bin").mkdir()
        for name, body in (("meson", 'for word; do printf "<%s>" "$word"; done; echo'), ("dpkg-query", "printf installed")):
            (self.directory / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
            (self.directory / "bin" / name).chmod(0o755)
        said = output_of([INSTALL, "--prefix", "/a b", "--as", "ofi", "--as=udp,ibv", "--debug", "--build", self.directory / "b", "-Dverbs=disabled"],
                         PATH=f"{self.directory}/bin:{ENVIRONMENT['PATH']}")
        self.assertEqual(said.splitlines()[-6:], [
            f"<setup><{self.directory}/b><{INSTALL.parent.parent}><--prefix></a b><-Dtests=disabled><-Dbench=false><-Dunity=on><-Dunity_size=30>"
            "<-Dgasnet_debug=true><-Dconduit_alias=ofi,udp,ibv><-Dverbs=disabled><-Ddebug=true>", f"<install><--quiet><-C><{self.directory}/b>", "",
            "export PKG_CONFIG_PATH=/a b/lib/pkgconfig", "cc hello.c -o hello $(pkg-config --static --cflags --libs gasnet-pinwire-par)",
            "/a b/bin/gasnetrun_pinwire -n 2 ./hello"])
        (self.directory / "bin/dpkg-query").write_text("#!/bin/sh\ncase $* in *libibverbs-dev*|*libdpdk*|*dpdk-dev*) ;; *) printf installed ;; esac\n")
        (self.directory / "bin/apt-get").write_text("#!/bin/sh\nexit 1\n")
        (self.directory / "bin/apt-get").chmod(0o755)
        said = output_of([INSTALL, "--prefix", "/a b", "--build", self.directory / "b", "-Ddpdk=disabled"], PATH=f"{self.directory}/bin:{ENVIRONMENT['PATH']}")
        self.assertIn("install: goes on without verbs", said)
        self.assertNotIn("goes on without dpdk", said)
        self.assertIn("<install>", said)
        self.assertIn("--source-tree: writes DIR", output_of([INSTALL, "--help"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
