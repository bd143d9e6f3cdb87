#!/usr/bin/env python3
"""Runs jobs, one after the other, under the hook of hook.c, which ends a rank whose library allocates in signal context.
Usage: under_hook.py [--bites] HOOK COMMAND [ARGUMENT...] [-- COMMAND [ARGUMENT...]]...

Fails with the first job that does, and if no signal ran its handler under the hook in any of them, as then nothing was shown.
With --bites each job must be ended by the hook, and say so."""

import itertools
import os
import subprocess
import sys
import tempfile

SENTENCE = "no_malloc_in_signals: the library calls "


def commands_of(words):
    for is_end, command in itertools.groupby(words, lambda word: word == "--"):
        if not is_end:
            yield list(command)


class Hook:
    """The environment of jobs under the hook, and the count of the signals that came in all of them."""

    def __init__(self, path, count):
        count.write(bytes(4))
        count.flush()
        self.count = count
        self.environment = dict(os.environ, LD_PRELOAD=path, SIGNAL_COUNT_FILE=count.name)

    def signals(self):
        self.count.seek(0)
        return int.from_bytes(self.count.read(4), sys.byteorder)

    def run(self, command):
        """Why the job failed; None: it did not."""
        code = subprocess.run(command, env=self.environment, check=False).returncode
        return None if code == 0 else f"it left with {code}"

    def run_to_death(self, command):
        job = subprocess.run(command, env=self.environment, check=False, text=True, errors="replace", stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        if job.returncode != 0 and SENTENCE in job.stdout:
            return None
        return f"it left with {job.returncode}, and the hook did not end it:\n{job.stdout}"


def main():
    words = sys.argv[1:]
    bites = words[0] == "--bites"
    path, *words = words[1:] if bites else words
    with tempfile.NamedTemporaryFile(buffering=0) as count:
        hook = Hook(path, count)
        for command in commands_of(words):
            before = hook.signals()
            failure = (hook.run_to_death if bites else hook.run)(command)
            name = " ".join(os.path.basename(word) for word in command)
            if failure is not None:
                print(f"under_hook.py: {name}: {failure}", file=sys.stderr)
                return 1
            print(f"# under_hook.py: {name}: {hook.signals() - before} signals", file=sys.stderr)
        if hook.signals() == 0:
            print("under_hook.py: no signal came, or the hook was not loaded", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
