"""The two builds that are compared. The programs of both are copied to directories of one scratch directory whose names are
equally long: the length of a program's path moves its stack, and a later build does not replace what is being measured."""

import configparser
import hashlib
import json
import pathlib
import shutil
import subprocess

from process import Failed, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["core/launch/gasnetrun_pinwire", "driver/dpdk/switch/pinwire_switch", "bench/flood", "bench/flood_par",
            "bench/nicfw_loop", "bench/dispatch", "bench/silent_peers", "bench/ex/atomics", "bench/ex/coll"]
BUILD_LIMIT_S = 3600
COMPILERS = {"c": "CC", "cpp": "CXX"}  # the variables by which Meson is told


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def commit_of(word):
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    except Failed:
        raise Failed(f"{word} names no commit of this repository") from None


def default_commit():
    """Where the branch left main; on main itself, the commit before."""
    head = commit_of("HEAD")
    try:
        base = git("merge-base", "HEAD", "main")
    except Failed:
        base = head
    return commit_of("HEAD~1") if base == head else base


def build(directory, **how):
    """Builds what a build directory knows of PROGRAMS, and nothing else."""
    known = {line.split(":")[0] for line in run(["ninja", "-C", directory, "-t", "targets", "all"]).splitlines()}
    run(["ninja", "-C", directory, *(name for name in PROGRAMS if name in known)], time_limit_s=BUILD_LIMIT_S, **how)


def options_of(directory):
    """(the options with which a build directory was configured, the environment that chooses its compilers)"""
    stored = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    stored.optionxform = str
    stored.read(directory / "meson-private/cmd_line.txt")
    options = dict(stored["options"]) if "options" in stored else {}
    # Tests have no influence on the programs; other GASNets are not compared.
    options.update(tests="disabled", bench="true", beside="")
    chosen = {}
    for target in json.loads(run(["meson", "introspect", "--targets", directory])):
        for sources in target["target_sources"]:
            chosen.setdefault(COMPILERS.get(sources.get("language")), " ".join(sources.get("compiler", [])))
    return options, {name: chosen[name] for name in COMPILERS.values() if name in chosen}


def copy_programs(source, target):
    """Those of PROGRAMS that there are."""
    for name in PROGRAMS:
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def make_reference(commit, candidate, scratch, say):
    """A directory with the programs of an older commit, built with the options of the candidate's build directory. It is kept
    under that directory, so that the next comparison with this commit needs no build."""
    options, compilers = options_of(candidate)
    key = hashlib.sha256(json.dumps([options, compilers], sort_keys=True).encode()).hexdigest()[:8]
    kept = candidate / "guard" / f"{commit[:12]}-{key}"
    if kept.is_dir():
        return kept
    say(f"building {commit[:12]} in {scratch}: once, {kept} keeps the programs")
    source, directory = scratch / "source", scratch / "source" / "build"
    source.mkdir()
    git("archive", "--format=tar", "-o", str(scratch / "source.tar"), commit)
    shutil.unpack_archive(scratch / "source.tar", source)
    # Debug information names the directory; everything else of an unchanged file is what the compiler cache has.
    environment = {**compilers, "CCACHE_NOHASHDIR": "1"}
    run(["meson", "setup", directory, *(f"-D{name}={value}" for name, value in options.items())], environment=environment,
        folder=source, time_limit_s=BUILD_LIMIT_S)
    build(directory, environment=environment)
    unfinished = kept.with_name(kept.name + ".unfinished")
    try:
        copy_programs(directory, unfinished)
        unfinished.rename(kept)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(source)
    return kept
