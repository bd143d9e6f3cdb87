"""Where mutants are built and run: a copy of the sources in a scratch directory with a Meson build of its own, of which nothing stays."""

import collections
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

Ended = collections.namedtuple("Ended", "status out cpu_s")  # status: exit status, or one of the words below
TOO_LONG, STUCK = "used up its CPU time", "sleeps for ever"

TICK_S, LOOK_S = 0.05, 0.5
IDLE_LIMIT_S, IDLE_PART = 120, 0.003  # so long without that part of a core: what waits in vain may wake up now and then
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BUILD_LIMIT_S = 3600
PREPARE_JOBS = 2  # a mutant changes one file, mostly
OPTIONS = ["-Dbuildtype=plain", "-Doptimization=1", "-Ddebug=false", "-Dchecks=true"]


def session_cpu(session):
    """CPU seconds and the processes of a session, those included whose parents have gone."""
    ticks, pids = 0, []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = pathlib.Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
            if fields[0] != "Z":
                pids.append(int(entry))
    return ticks / TICKS_PER_S, pids


def kill_session(process):
    """Everything that the process has started; the process itself is reaped."""
    while pids := session_cpu(process.pid)[1]:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        reap(process)
        time.sleep(TICK_S)
    while process.returncode is None:
        reap(process)


def kill_everything_with(assignment):
    """All processes whose environment has it: those, too, that have made a session of their own."""
    found = True
    while found:  # one may fork while /proc is read
        found = False
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and assignment.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
                    found = True
            except OSError:
                continue  # it ended meanwhile, or is another user's


def reap(process):
    """CPU seconds of a process that has ended, and of its children; None: it runs."""
    if process.returncode is not None:
        return 0.0
    pid, status, used = os.wait4(process.pid, os.WNOHANG)
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


class Workshop:
    """A context manager: the scratch directory goes with it, and with it whatever still runs there."""

    def __init__(self, root):
        self.root = root
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pinwire-mutants-"))
        self.sources, self.build, self.tmp = self.folder / "sources", self.folder / "build", self.folder / "tmp"
        self.originals, self.idle_limit_s = {}, IDLE_LIMIT_S

    def __enter__(self):
        try:
            self.tmp.mkdir()
            shutil.copytree(self.root, self.sources, ignore=self._ignored, symlinks=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ignored(self, folder, names):
        is_root = pathlib.Path(folder) == self.root
        return [name for name in names if name == "__pycache__" or (is_root and (name.startswith((".", "build")) or name == "shared"))]

    def run(self, command, cpu_limit_s, environment=()):
        """Runs a command in a session of its own until it ends, uses up its CPU time, or sleeps for too long."""
        env = dict(os.environ, TMPDIR=str(self.tmp), **dict(environment))
        with open(self.folder / "out", "w+", encoding="utf-8", errors="replace") as out:
            process = subprocess.Popen(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            try:
                status, cpu_s = self._watch(process, cpu_limit_s)
            finally:
                kill_session(process)
                kill_everything_with(f"TMPDIR={self.tmp}")
            out.seek(0)
            return Ended(status, out.read(), cpu_s)

    def _watch(self, process, cpu_limit_s):
        used_s, marked_s, since, next_look = 0.0, 0.0, time.monotonic(), 0.0
        while True:
            ended_s = reap(process)
            if ended_s is not None:
                return process.returncode, max(ended_s, used_s)
            if time.monotonic() > next_look:  # it reads all of /proc
                now_s, _ = session_cpu(process.pid)
                used_s = max(used_s, now_s)
                if used_s - marked_s > IDLE_PART * (time.monotonic() - since):
                    marked_s, since = used_s, time.monotonic()
                next_look = time.monotonic() + LOOK_S
            if used_s > cpu_limit_s:
                return TOO_LONG, used_s
            if time.monotonic() - since > self.idle_limit_s:
                return STUCK, used_s
            time.sleep(TICK_S)

    def configure(self):
        return self.run(["meson", "setup", str(self.build), str(self.sources), *OPTIONS], BUILD_LIMIT_S)

    def make(self, targets, is_mutant=False):
        """The object of a mutant is of no use to the compiler's cache."""
        return self.run(["ninja", "-C", str(self.build), "-j", "1" if is_mutant else str(PREPARE_JOBS), *sorted(set(targets))], BUILD_LIMIT_S,
                        {"CCACHE_READONLY": "1"} if is_mutant else {})

    def original(self, file):
        if file not in self.originals:
            self.originals[file] = (self.sources / file).read_text(encoding="utf-8")
        return self.originals[file]

    def apply(self, mutant):
        (self.sources / mutant.file).write_text(mutant.applied_to(self.original(mutant.file)), encoding="utf-8")

    def restore(self, file):
        (self.sources / file).write_text(self.original(file), encoding="utf-8")
