"""Runs programs that are gone, with all that they started, when this program is interrupted."""

import os
import signal
import subprocess

GRACE_S = 10  # a launcher ends its ranks within this time


class Failed(Exception):
    """A program did not do what it was started for; the text is a sentence for the user."""


class Stopped(KeyboardInterrupt):
    """SIGTERM came: like SIGINT, with another exit status."""


def stop(number, _frame):
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)  # the first one is obeyed; a second must not interrupt that
    raise Stopped if number == signal.SIGTERM else KeyboardInterrupt


SIGNALS = [signal.SIGINT, signal.SIGTERM]


def install_handlers():
    for number in SIGNALS:
        signal.signal(number, stop)


def in_child(cores):
    """Between fork and exec, where signals are still blocked."""
    if cores:
        os.sched_setaffinity(0, cores)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def end(process):
    """First the launcher, which ends its ranks; whatever is left of its session afterwards is killed. A further signal waits."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    process.terminate()
    try:
        process.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def run(command, *, environment=None, time_limit_s=120, cores=None, folder=None):
    """The standard output of a command that ends well. It runs in a session of its own, so that Ctrl-C reaches this program
    alone, which then ends the command in order."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process = subprocess.Popen(list(map(str, command)), env={**os.environ, **(environment or {})}, text=True, cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True, preexec_fn=lambda: in_child(cores))
    except OSError as bad:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        raise Failed(f"cannot start {command[0]}: {bad.strerror}") from None
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        out, err = process.communicate(timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        end(process)
        raise Failed(f"{' '.join(map(str, command))} did not end within {time_limit_s} s") from None
    except BaseException:
        end(process)
        raise
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {process.returncode}: {(err.strip() or out.strip())[-2000:]}")
    return out
