"""For tests of scripts that draw with matplotlib, where it is installed."""

import os
import pathlib
import subprocess

SVG = "{http://www.w3.org/2000/svg}"
PLOTTING_PYTHON = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "plotting-python"


def has_matplotlib():
    return subprocess.run([PLOTTING_PYTHON], capture_output=True, check=False).returncode == 0


def without_matplotlib(folder):
    """An environment in which matplotlib cannot be imported."""
    (pathlib.Path(folder) / "matplotlib.py").write_text("raise ImportError('hidden by the test')\n", encoding="utf-8")
    return dict(os.environ, PYTHONPATH=str(folder))
