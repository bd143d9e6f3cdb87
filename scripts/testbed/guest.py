"""A running guest: its log directory, its QEMU, its output, its end."""

import ctypes
import os
import pathlib
import selectors
import shlex
import signal
import subprocess
import sys
import time

from testbed.machine import qemu_words

TIMED_OUT, DIED = 124, 125
LOGS = ("command", "settings", "began", "status", "dmesg", "console", "qemu")
COMMANDS = pathlib.Path(__file__).resolve().parents[2] / "tests/guest/bin"
CONSOLE_TAIL_LINES = 60
# From QEMU's start to the command's, the first time, the second, the third: 8 s where nothing else runs. A boot that hangs does so
# for ever, and of a run of all tests about one does.
BOOT_LIMITS_S = (40, 80, 120)
# The part of the time-out after which the guest says what runs there: a test that hangs is known by what it waits for.
REPORT_AFTER = 0.85
PR_SET_PDEATHSIG = 1
# QEMU ends by these through defects of its own, whatever the guest did.
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT)

SETTINGS = """\
echo >/logs/began
export HOME=/root TERM=dumb LANG=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/guest/bin:{commands}
export GUEST_LOGS=/logs GUEST_INDEX={index} GUEST_COUNT={count}
ulimit -l unlimited; ulimit -c 0
busybox ip link set lo up
echo {huge_pages} >/proc/sys/vm/nr_hugepages
mount -t hugetlbfs -o pagesize=2M hugetlbfs /dev/hugepages
{environment}
cd {folder} || exit
read -r uptime_s _ </proc/uptime; (sleep $(({report_s} > ${{uptime_s%.*}} ? {report_s} - ${{uptime_s%.*}} : 0)); what-runs) &
bash /logs/command
echo $? >/logs/status
"""


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Guest:
    def __init__(self, kernel, log_dir, options, index=1, link=None, label=b""):
        self.log_dir, self.label, self._line_begins = log_dir, label, True
        for name in LOGS:
            (log_dir / name).unlink(missing_ok=True)
        environment = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in options.env)
        (log_dir / "settings").write_text(SETTINGS.format(
            commands=shlex.quote(str(COMMANDS)), index=index, count=2 if link else 1, huge_pages=options.huge_pages, environment=environment,
            folder=shlex.quote(os.getcwd()), report_s=int(REPORT_AFTER * options.timeout)))
        words = options.command
        (log_dir / "command").write_text((words[0] if len(words) == 1 else shlex.join(words)) + "\n")
        self.output, theirs = os.pipe()
        fds = [theirs] + ([link.fileno()] if link else [])
        with open(log_dir / "qemu", "wb") as said:
            # pylint: disable-next=subprocess-popen-preexec-fn,consider-using-with
            self._qemu = subprocess.Popen(
                qemu_words(kernel, log_dir, options, theirs, link.fileno() if link else None, index), pass_fds=fds,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, preexec_fn=_die_with_parent)
        os.close(theirs)
        if link:
            link.close()

    def pump(self):
        """Copies what has arrived; False when QEMU has closed its end."""
        data = os.read(self.output, 1 << 16)
        if self.label and data:
            lines = data.split(b"\n")
            begins = [self._line_begins] + [True] * (len(lines) - 1)
            self._line_begins = lines[-1] == b""
            data = b"\n".join(self.label + line if begin and (line or i + 1 < len(lines)) else line
                              for i, (line, begin) in enumerate(zip(lines, begins)))
        view = memoryview(data)
        while view:
            view = view[os.write(sys.stdout.fileno(), view):]
        return bool(data)

    def has_begun(self):
        return (self.log_dir / "began").exists()

    def end(self):
        """Ends QEMU if it still runs; the command's status, or None if the guest never told it."""
        self._qemu.kill()
        self._qemu.wait()
        try:
            return int((self.log_dir / "status").read_text())
        except (OSError, ValueError):
            return None

    def crash(self):
        """The signal by which QEMU itself crashed, or None. After end()."""
        number = -self._qemu.returncode
        return signal.Signals(number) if number in CRASHES else None

    def last_words(self):
        console = self.log_dir / "console"  # none yet, if QEMU ended as it began
        lines = console.read_text(errors="replace").splitlines()[-CONSOLE_TAIL_LINES:] if console.exists() else []
        return "\n".join((self.log_dir / "qemu").read_text(errors="replace").splitlines() + lines)


class Retry(Exception):
    """A guest did not come to its command, or its emulator crashed in the midst of it: that says nothing of the command."""


def run(guests, timeout_s, boot_limit_s):
    """The status of the first guest that fails, or 0; the others end with it."""
    begin = time.monotonic()
    limit_s = min(boot_limit_s, timeout_s)
    with selectors.DefaultSelector() as selector:
        for guest in guests:
            selector.register(guest.output, selectors.EVENT_READ, guest)
        while selector.get_map():
            ready = selector.select(max(0, begin + limit_s - time.monotonic()))
            if not ready:
                silent = [guest for guest in guests if not guest.has_begun()]
                if silent:
                    raise Retry(f"no boot within {limit_s} s; the console's last lines:\n{silent[0].last_words()}", TIMED_OUT)
                if limit_s < timeout_s:
                    limit_s = timeout_s
                    continue
                print(f"guest: no end after {timeout_s} s (--timeout); the console's last lines:\n{guests[0].last_words()}",
                      file=sys.stderr)
                return TIMED_OUT
            for key, _ in ready:
                guest = key.data
                if guest.pump():
                    continue
                selector.unregister(key.fileobj)
                status = guest.end()
                if status is None and guest.crash() is not None:
                    raise Retry(f"QEMU itself crashed ({guest.crash().name}); the console's last lines:\n{guest.last_words()}", DIED)
                if status is None:
                    print(f"guest: the guest died before the command ended; the console's last lines:\n{guest.last_words()}",
                          file=sys.stderr)
                    return DIED
                if status != 0:
                    return status
    return 0
