#!/usr/bin/env python3
"""scripts/guest itself. Usage: self_test.py GUEST [unittest arguments]"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GUEST = sys.argv[1]
TIME_LIMIT_S = 200
BOOTED = "booted"


def processes_of(folder):
    """Those whose TMPDIR it is."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"TMPDIR={folder}\0" in (entry / "environ").read_text(errors="replace"):
                found.append((entry / "cmdline").read_text(errors="replace")[:40])
        except OSError:
            pass  # ended meanwhile
    return found


class GuestCase(unittest.TestCase):
    """Each case has a TMPDIR of its own, where nothing may stay, no more than a process."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()

    def start(self, *words, **environment):
        return subprocess.Popen([GUEST, *words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=str(self.tmp), **environment))

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"no end after {TIME_LIMIT_S} s\n{process.communicate()}") from None
        self.assertEqual(processes_of(self.tmp), [], err)
        return process.returncode, out, err

    def guest(self, *words, **environment):
        answer = self.finish(self.start(*words, **environment))
        self.assertEqual(list(self.tmp.iterdir()), [])
        return answer


class Command(GuestCase):
    def test_what_comes_back(self):
        logs, witness = self.folder / "logs", self.folder / "witness"
        script = f"""pwd; echo "to stderr: $WORD" >&2; echo "$1"
            echo changed >{witness} && cat {witness}; head -c 300000 /dev/zero | tr '\\0' x; echo
            echo kept >$GUEST_LOGS/result; uname -sm; exit 7"""
        code, out, err = self.guest("--log-dir", str(logs), "--env", "WORD=two 'words'", "--env", "EMPTY=", "--",
                                    "bash", "-c", script, "name", "a $b")
        self.assertEqual(code, 7, err)
        self.assertEqual(out.splitlines(), [os.getcwd(), "to stderr: two 'words'", "a $b", "changed", "x" * 300000, "Linux x86_64"])
        self.assertFalse(witness.exists())
        self.assertEqual((logs / "result").read_text(), "kept\n")
        self.assertIn("Linux version", (logs / "dmesg").read_text())
        self.assertTrue((logs / "console").exists())

    def test_huge_pages_and_processors(self):
        code, out, err = self.guest("--vcpus", "3", "--huge-pages", "20", "--memory", "512", "--",
                                    "nproc; grep HugePages_Free /proc/meminfo; ls /sys/class/net")
        self.assertEqual(code, 0, err)
        self.assertEqual([line.split()[-1] for line in out.splitlines()], ["3", "20", "lo"])

    def test_time_out(self):
        """A test that hangs is reported before."""
        code, out, err = self.guest("--timeout", "40", "--", f"echo {BOOTED}; sleep 1000")
        self.assertEqual(code, 124, out)
        self.assertIn("--timeout", err)
        self.assertRegex(out, "process [0-9]+: sleep 1000\n  thread .*nanosleep")

    def test_no_boot(self):
        """In which no guest can: tried again, and no process of any try stays."""
        code, out, err = self.guest("--timeout", "1", "--", f"echo {BOOTED}")
        self.assertEqual((code, out), (124, ""))
        self.assertEqual(err.count("no boot within 1 s"), 3)

    def test_death(self):
        code, out, err = self.guest("--", f"echo {BOOTED}; echo c >/proc/sysrq-trigger; sleep 1000")
        self.assertEqual((code, out), (125, f"{BOOTED}\n"))
        self.assertIn("Kernel panic", err)

    def test_pair(self):
        """Both are heard; the first that fails ends the other."""
        code, out, err = self.guest("--pair", "--log-dir", str(self.folder), "--", f"""echo {BOOTED} $GUEST_INDEX
            [ $GUEST_INDEX = 1 ] && exec sleep 1000
            modprobe virtio_net; ip link set eth0 up; ip addr add 10.9.0.2/24 dev eth0; cat /sys/class/net/eth0/address; exit 9""")
        self.assertEqual(code, 9, err)
        self.assertEqual([line for line in out.splitlines() if line.startswith("[2]")],
                         [f"[2] {BOOTED} 2", "[2] 52:54:00:00:01:02"])
        self.assertTrue((self.folder / "1/console").exists() and (self.folder / "2/dmesg").exists())


class Signals(GuestCase):
    def ended_by(self, number):
        process = self.start("--", f"echo {BOOTED}; sleep 1000")
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), f"{BOOTED}\n")
        process.send_signal(number)
        return process

    def test_interrupted_and_terminated(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code, _, err = self.finish(self.ended_by(number))
            self.assertEqual(code, 128 + number, err)
            self.assertEqual(list(self.tmp.iterdir()), [])

    def test_killed(self):
        """Then QEMU dies too, though nobody is left to wait for it."""
        process = self.ended_by(signal.SIGKILL)
        process.communicate(timeout=TIME_LIMIT_S)
        limit = time.monotonic() + TIME_LIMIT_S
        while processes_of(self.tmp) and time.monotonic() < limit:
            time.sleep(0.02)
        self.assertEqual(processes_of(self.tmp), [])


class DpdkRanks(unittest.TestCase):
    """The verdict of dpdk_ranks.sh on the statistics that a job leaves, without a guest."""

    def judge(self, bodies, statistics):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            for name, lines in {"vfio-up": "echo 0000:00:04.0", "job": f"for rank in 0 1; do printf '{statistics}' > \"$GUEST_LOGS/stats-$rank\"; done"}.items():
                (place / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
                (place / name).chmod(0o755)
            script = pathlib.Path(__file__).with_name("dpdk_ranks.sh")
            return subprocess.run([script, bodies, place / "job", "program"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", GUEST_LOGS=folder))

    def test_a_statistic_that_is_missing_is_no_proof(self):
        sent, attached = "C dpdk.frames_sent 9\\n", "C dpdk.port_tx_attached_frames {}\\n"
        for bodies, count, is_good in (("in_place", 7, True), ("in_place", 0, False), ("in_place", None, False), ("copied", 0, True),
                                       ("copied", 7, False), ("copied", None, False), ("elsewhere", 7, False)):
            judged = self.judge(bodies, sent + ("" if count is None else attached.format(count)))
            self.assertEqual(judged.returncode == 0, is_good, f"{bodies}, {count}: {judged.stdout}")


class Refusals(GuestCase):
    def test_arguments(self):
        for words, about in (([], "command"), (["--"], "command"), (["--vcpus", "0", "--", "true"], "--vcpus"),
                             (["--memory", "much", "--", "true"], "--memory"), (["--nic", "ne2k", "--", "true"], "e1000e"),
                             (["--nic", "e1000e:0", "--", "true"], "--nic"), (["--env", "WORD", "--", "true"], "NAME=VALUE"),
                             (["--prepare", "--", "true"], "--prepare"), (["--nonsense", "--", "true"], "--nonsense"),
                             (["--log-dir", "/proc/here", "--", "true"], "--log-dir")):
            code, out, err = self.guest(*words)
            self.assertEqual((code, out), (126, ""), words)
            self.assertIn(about, err)

    def tools(self, **scripts):
        """A PATH of links to every tool of the real one, but for `scripts`."""
        folder = self.folder / "bin"
        folder.mkdir()
        for place in os.get_exec_path():
            for tool in pathlib.Path(place).glob("*"):
                if not (folder / tool.name).is_symlink():
                    (folder / tool.name).symlink_to(tool)
        for name, text in scripts.items():
            path = folder / name.replace("_", "-")
            path.unlink(missing_ok=True)
            if text:
                path.write_text(f"#!/bin/sh\n{text}\n")
                path.chmod(0o755)
        return str(folder)

    def test_no_emulator(self):
        path = self.tools()
        (pathlib.Path(path) / "qemu-system-x86_64").unlink()
        code, _, err = self.guest("--", "true", PATH=path)
        self.assertEqual(code, 77)
        self.assertIn("install qemu-system-x86", err)

    def emulator(self, text):
        """A PATH with this in place of the emulator."""
        path = self.tools()
        place = pathlib.Path(path) / "qemu-system-x86_64"
        real = place.resolve()
        place.unlink()
        place.write_text(f"#!/bin/sh\n{text}\n".replace("REAL", str(real)))
        place.chmod(0o755)
        return path

    def test_an_emulator_that_crashes_once(self):
        """Its defect is not the command's."""
        mark = self.folder / "crashed"
        path = self.emulator(f'[ -e {mark} ] || {{ : >{mark}; kill -SEGV $$; }}; exec REAL "$@"')
        code, out, err = self.guest("--", f"echo {BOOTED}", PATH=path)
        self.assertEqual((code, out), (0, f"{BOOTED}\n"), err)
        self.assertEqual(err.count("QEMU itself crashed (SIGSEGV)"), 1)

    def test_an_emulator_that_always_crashes(self):
        code, out, err = self.guest("--", f"echo {BOOTED}", PATH=self.emulator("kill -ABRT $$"))
        self.assertEqual((code, out), (125, ""))
        self.assertEqual(err.count("QEMU itself crashed (SIGABRT)"), 3)

    def test_no_kernel_package(self):
        path = self.tools(apt_get="echo no mirror; exit 100", apt_cache="echo '  Depends: linux-image-1.2-amd64'")
        code, _, err = self.guest("--cache", str(self.folder / "cache"), "--", "true", PATH=path)
        self.assertEqual(code, 77)
        self.assertIn("no mirror", err)
        self.assertEqual([entry.name for entry in (self.folder / "cache").iterdir()], ["lock"])

    def test_cache_that_cannot_be_written(self):
        code, _, err = self.guest("--cache", "/proc/cache", "--", "true")
        self.assertEqual(code, 77)
        self.assertIn("--cache", err)


if __name__ == "__main__":
    probe = subprocess.run([GUEST, "--prepare"], check=False)
    if probe.returncode != 0:
        sys.exit(probe.returncode)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
