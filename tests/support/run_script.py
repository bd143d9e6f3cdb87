"""For tests of scripts that run jobs."""

import os
import signal
import subprocess


def run_script(words, time_limit_s, **more):
    """(exit status, output, errors) of a script in a session of its own, which ends with it if it takes too long."""
    with subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more) as job:
        try:
            out, err = job.communicate(timeout=time_limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGTERM)  # the launcher ends its ranks
            raise
        return job.returncode, out, err
