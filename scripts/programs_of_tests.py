"""Prints the ninja targets that the named tests of a Meson build need: programs_of_tests.py BUILD NAME..."""

import json
import os
import subprocess
import sys


def facts(build, what):
    out = subprocess.run(["meson", "introspect", what, build], stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(out)


def main():
    build, names = sys.argv[1], set(sys.argv[2:])
    needed = {target for test in facts(build, "--tests") if test["name"] in names for target in test["depends"]}
    for target in facts(build, "--targets"):
        if target["id"] in needed:
            for path in target["filename"]:
                print(os.path.relpath(path, os.path.abspath(build)))


if __name__ == "__main__":
    main()
