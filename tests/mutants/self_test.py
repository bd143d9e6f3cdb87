#!/usr/bin/env python3
"""scripts/mutants itself. Usage: self_test.py SCRIPT [unittest arguments]"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
MUTANTS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(MUTANTS.parent))

from mutation import generate, table  # noqa: E402  pylint: disable=wrong-import-position
from mutation.workshop import STUCK, TOO_LONG, Workshop, session_cpu  # noqa: E402  pylint: disable=wrong-import-position

SOURCE = """#include <algorithm>  // a < b
int least(int a, int b) {
  /* a < b */ if (a < b) return std::min(a, 7);
  const char* text = "a < b";
  first(text);
  if (int c = 2; c == b) second();
  static_assert(sizeof(int) == 4);
  return a + 1;
}
"""
PROJECT = {
    "meson.build": "project('two', 'cpp')\nexecutable('grow', 'grow.cc')\n",
    "meson_options.txt": "option('bench', type: 'boolean')\noption('checks', type: 'boolean')\n",
    "grow.cc": "int main(int words, char**) {\n  int grown = 0;\n  for (int i = 0; i < 3; ++i) grown += 2;\n  int unused = 0;\n  unused += 5;\n  if (words > 5) return 3;\n  return grown == 6 ? 0 : 1;\n}\n",
    "tests/mutants/coverage.toml": "[run.grow]\ntarget = 'grow'\ncheap = true\n[[covers]]\nfiles = ['grow.cc']\nruns = ['grow']\n[generate]\nfiles = ['grow.cc']\n",
}
GROW_LESS = "[[mutant]]\nname = 'less'\nfile = 'grow.cc'\nbefore = 'i < 3'\nafter = 'i < 2'\nbreaks = 'It grows less.'\n"


def row(name, before, after):
    return f"[[mutant]]\nname = '{name}'\nfile = 'grow.cc'\nbefore = '{before}'\nafter = '{after}'\nbreaks = 'Something.'\n"


class Generator(unittest.TestCase):
    def changes(self, change):
        return [(generate.line_number(SOURCE, s.at), s.before) for s in generate.sites_of(SOURCE) if s.change == change]

    def test_comments_strings_and_assertions_are_not_code(self):
        self.assertEqual(self.changes("< -> <="), [(3, "<")])
        self.assertEqual(self.changes("== -> !="), [(6, "==")])

    def test_each_kind_of_change_finds_its_places(self):
        self.assertEqual(self.changes("min -> max"), [(3, "min")])
        self.assertEqual(self.changes("7 -> 8"), [(3, "7")])
        self.assertEqual(self.changes("+ -> -"), [(8, "+")])
        self.assertEqual(self.changes("negated"), [(3, "a < b"), (6, "c == b")])
        self.assertEqual(self.changes("dropped"), [(5, "first(text);"), (6, "second();")])

    def test_first_values_of_members_are_left_alone_and_tuned_numbers_become_four_times_as_great(self):
        source = "struct alignas(8) Lane {\n  int left_ = 11;\n  bool sent_ =\n      false;\n  static constexpr int kPolls = 64, kFew = 3;\n  int count() {\n    int found = 12;\n    return found;\n  }\n};\n"
        changes = sorted(site.change for site in generate.sites_of(source))
        self.assertEqual(changes, ["12 -> 13", "3 -> 4", "64 -> 256", "8 -> 9"])

    def test_a_seed_chooses_the_same_places_again(self):
        first, again, other = (generate.shuffled_sites(SOURCE, seed, "a.cc") for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(sorted(s.at for s in first), sorted(s.at for s in other))

    def test_lines_take_turns(self):
        lines = [generate.line_number(SOURCE, s.at) for s in generate.shuffled_sites(SOURCE, 3, "a.cc")]
        several = len(set(lines))
        self.assertEqual(len(set(lines[:several])), several)

    def test_a_mutant_differs_in_its_place_alone(self):
        for site in generate.sites_of(SOURCE):
            mutant = generate.mutant_of(SOURCE, "a.cc", site).applied_to(SOURCE)
            self.assertEqual(mutant[: site.at], SOURCE[: site.at])
            self.assertEqual(mutant[site.at + len(site.after) :], SOURCE[site.at + len(site.before) :])
            self.assertNotEqual(mutant, SOURCE)


class WorkshopCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name) / "root"
        self.tmp = pathlib.Path(holder.name) / "tmp"
        self.tmp.mkdir()
        for name, text in PROJECT.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def start(self, *words):
        return subprocess.Popen([MUTANTS, "--root", str(self.root), *words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=dict(os.environ, TMPDIR=str(self.tmp)))

    def mutants(self, *words):
        before = self.files()
        process = self.start(*words)
        out = process.communicate()[0]
        self.assertEqual(list(self.tmp.iterdir()), [], "a scratch directory stayed")
        self.assertEqual(self.files(), before, "the sources were touched")
        return process.returncode, out

    def files(self):
        return {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}


class Verdicts(WorkshopCase):
    def test_killed_survived_and_hanging_mutants(self):
        self.write("tests/mutants/a.toml", GROW_LESS + row("unseen", "words > 5", "words > 6") + row("same", "unused += 5", "unused -= 5") + row("hangs", "i < 3; ++i", "i < 3; --grown"))
        status, out = self.mutants("--kind", "written")
        self.assertEqual(status, 1, out)
        self.assertIn("killed less: grow", out)
        self.assertIn("killed hangs: grow", out)
        self.assertIn("used up its CPU time", out)
        self.assertIn("SURVIVED unseen: ran grow", out)
        self.assertIn("SURVIVED same: every program is the same with it", out)
        self.assertIn("survivor: unseen in grow.cc: Something.", out)

    def test_a_job_runs_by_its_command_in_its_environment(self):
        job = "target = 'grow'\nby = ['sh', '-c', '{target} && [ \"$PROGRAM\" = \"{target}\" ] && [ \"$0\" = {build} ] && test -f {sources}/$1', '{build}']\n"
        self.write("tests/mutants/coverage.toml", PROJECT["tests/mutants/coverage.toml"].replace(
            "target = 'grow'\n", job + "args = ['grow.cc']\nneeds = ['all']\nenv = {PROGRAM = '{target}'}\n"))
        self.write("tests/mutants/a.toml", GROW_LESS)
        status, out = self.mutants("--kind", "written")
        self.assertEqual(status, 0, out)
        self.assertIn("without a mutant: grow passes", out)

    def test_every_mutant_killed_is_a_success(self):
        self.write("tests/mutants/a.toml", GROW_LESS)
        status, out = self.mutants("--kind", "written", "--seed", "5")
        self.assertEqual(status, 0, out)
        self.assertIn("written mutants: 1 killed, 0 survived", out)
        self.assertIn("seed 5: 0 survivors", out)

    def test_generated_mutants_that_do_not_compile_are_counted_and_replaced(self):
        self.write("grow.cc", PROJECT["grow.cc"].replace("grown += 2;", "grown += 2;\n  constexpr int kOne = 1 / (2 - 1);\n  grown -= kOne - 1;"))
        status, out = self.mutants("--kind", "generated", "--seed", "4", "--lines", "1")
        self.assertIn(status, (0, 1), out)
        self.assertRegex(out, r"generated mutants: [1-9]\d* killed, .* [1-9]\d* same code, [1-9]\d* does not compile")

    def test_a_mutant_that_names_its_killers_is_killed_by_each_of_them(self):
        runs = "[run.again]\ntarget = 'grow'\n[run.blind]\ntarget = 'grow'\nby = ['true']\n"
        self.write("tests/mutants/coverage.toml", (runs + PROJECT["tests/mutants/coverage.toml"]).replace("runs = ['grow']", "runs = ['grow', 'again', 'blind']"))
        self.write("tests/mutants/a.toml", GROW_LESS + "killers = ['grow', 'again']\n")
        status, out = self.mutants("--kind", "written")
        self.assertEqual(status, 0, out)
        self.assertRegex(out, "killed less: grow: .*; again: ")
        self.write("tests/mutants/a.toml", GROW_LESS + "killers = ['grow', 'blind']\n")
        status, out = self.mutants("--kind", "written")
        self.assertEqual(status, 1, out)
        self.assertIn("SURVIVED less: blind alone does not kill it", out)

    def test_an_equivalent_has_a_reason_and_is_not_run(self):
        self.write("tests/mutants/a.toml", row("same", "unused += 5", "unused += 6") + "equivalent = 'Nothing reads it.'\n" + GROW_LESS)
        status, out = self.mutants("--kind", "written")
        self.assertEqual(status, 0, out)
        self.assertIn("equivalent same: Nothing reads it.", out)


class Slices(WorkshopCase):
    def test_a_slice_has_written_and_generated_mutants_and_can_be_made_again(self):
        self.write("tests/mutants/a.toml", GROW_LESS)
        status, out = self.mutants("--slice", "6", "--seed", "7")
        self.assertEqual(status, 0, out)
        self.assertIn("again: scripts/mutants --slice 6 --seed 7", out)
        self.assertIn("killed less", out)
        self.assertRegex(out, r"killed grow.cc:\d+: ")
        names = [line.split(":")[0] for line in out.splitlines() if "grow.cc:" in line]
        self.assertEqual(names, [line.split(":")[0] for line in self.mutants("--slice", "6", "--seed", "7")[1].splitlines() if "grow.cc:" in line])

    def test_another_mutant_changes_nothing_else_of_a_slice(self):
        def drawn():
            lines = self.mutants("--slice", "6", "--seed", "7")[1].splitlines()
            return [line.split(":")[0].split(" ", 1)[1] for line in lines if re.match("killed|same code|SURVIVED", line)]

        self.write("tests/mutants/a.toml", GROW_LESS)
        before = drawn()
        self.write("tests/mutants/a.toml", GROW_LESS + row("more", "i < 3", "i < 4"))
        self.assertEqual([name for name in drawn() if name != "more"], before)

    def test_a_slice_fails_with_a_written_survivor(self):
        self.write("tests/mutants/a.toml", row("unseen", "words > 5", "words > 6"))
        status, out = self.mutants("--slice", "8", "--seed", "7")
        self.assertEqual(status, 1, out)

    def test_a_slice_ends_when_its_time_is_up(self):
        self.write("tests/mutants/a.toml", GROW_LESS)
        status, out = self.mutants("--slice", "6", "--seconds", "0")
        self.assertIn("the time is up: ", out)
        self.assertIn(status, (0, 1), out)

    def test_the_seed_of_a_commit_is_a_number(self):
        self.write("tests/mutants/a.toml", GROW_LESS)
        out = self.mutants("--slice", "2", "--seed", "commit", "--seconds", "0")[1]
        self.assertRegex(out, r"again: scripts/mutants --slice 2 --seed \d+")


class Failures(WorkshopCase):
    def test_a_pattern_that_applies_no_more(self):
        for before in ("i < 4", "grown"):
            self.write("tests/mutants/a.toml", row("gone", before, "x"))
            for words in (["--check"], ["--kind", "written"], ["--slice"]):
                status, out = self.mutants(*words)
                self.assertEqual(status, 1, out)
                self.assertIn("gone: its pattern stands", out)

    def test_killers_that_do_not_cover_the_file_or_stand_twice(self):
        for killers in ("'grow', 'shrink'", "'grow', 'grow'"):
            self.write("tests/mutants/a.toml", GROW_LESS + f"killers = [{killers}]\n")
            status, out = self.mutants("--check")
            self.assertEqual(status, 1, out)
            self.assertIn("is no run of its own that covers grow.cc", out)

    def test_an_equivalent_whose_line_is_gone(self):
        self.write("tests/mutants/a.toml", "[[equivalent]]\nfile = 'grow.cc'\nline = 'shrink();'\nchange = 'dropped'\nreason = 'None.'\n")
        status, out = self.mutants("--check")
        self.assertEqual(status, 1, out)
        self.assertIn("an equivalent's line is not in grow.cc", out)

    def test_tests_that_fail_without_a_mutant(self):
        self.write("grow.cc", PROJECT["grow.cc"].replace("grown == 6", "grown == 7"))
        self.write("tests/mutants/a.toml", GROW_LESS)
        status, out = self.mutants("--kind", "written")
        self.assertEqual(status, 1, out)
        self.assertIn("fails without a mutant", out)

    def test_an_interrupt_leaves_nothing(self):
        self.write("tests/mutants/a.toml", row("hangs", "i < 3; ++i", "i < 3; --grown"))
        process = self.start("--kind", "written")
        while not any("without a mutant" in line for line in iter(process.stdout.readline, "")):
            self.assertIsNone(process.poll())
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out = process.communicate()[0]
        self.assertEqual(process.returncode, 130, out)
        self.assertEqual(list(self.tmp.iterdir()), [])
        for entry in pathlib.Path("/proc").iterdir():
            try:
                is_ours = entry.name.isdigit() and f"TMPDIR={self.tmp}" in (entry / "environ").read_text(errors="replace")
            except OSError:
                continue
            self.assertFalse(is_ours, entry)


class Limits(WorkshopCase):
    def test_time_limits_count_what_children_use(self):
        with Workshop(self.root) as workshop:
            ended = workshop.run(["sh", "-c", "sh -c 'while :; do :; done' & sleep 1000"], 1)
        self.assertEqual(ended.status, TOO_LONG)

    def test_a_program_that_only_sleeps_is_stuck(self):
        with Workshop(self.root) as workshop:
            workshop.idle_limit_s = 0.5
            ended = workshop.run(["sleep", "1000"], 1)
        self.assertEqual(ended.status, STUCK)

    def test_a_program_that_wakes_up_to_wait_on_is_stuck(self):
        with Workshop(self.root) as workshop:
            workshop.idle_limit_s = 6
            ended = workshop.run([sys.executable, "-c", "import time\nwhile True: time.sleep(0.2)"], 100)
        self.assertEqual(ended.status, STUCK)

    def test_what_a_program_leaves_running_is_ended(self):
        with Workshop(self.root) as workshop:
            ended = workshop.run(["sh", "-c", "sleep 1000 & echo $$"], 10)
        self.assertEqual(ended.status, 0)
        self.assertEqual(session_cpu(int(ended.out))[1], [])

    def test_what_leaves_its_session_is_ended_too(self):
        with Workshop(self.root) as workshop:
            ended = workshop.run(["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!; sleep 0.2"], 10)
            time.sleep(0.2)
        self.assertFalse(pathlib.Path("/proc", ended.out.strip(), "exe").exists(), "it runs on")

    def test_restoring_brings_the_original_back(self):
        site = generate.sites_of(PROJECT["grow.cc"])[0]
        with Workshop(self.root) as workshop:
            mutant = generate.mutant_of(workshop.original("grow.cc"), "grow.cc", site)
            workshop.apply(mutant)
            self.assertNotEqual((workshop.sources / "grow.cc").read_text(encoding="utf-8"), PROJECT["grow.cc"])
            workshop.restore("grow.cc")
            self.assertEqual((workshop.sources / "grow.cc").read_text(encoding="utf-8"), PROJECT["grow.cc"])

    def test_a_written_mutant_needs_its_place_once(self):
        with self.assertRaises(table.TableError):
            table.offset_of("a a", {"name": "n", "file": "f", "before": "a", "after": "b"})
        self.assertEqual(table.offset_of("b a", {"name": "n", "file": "f", "before": "a", "after": "b"}), 2)


if __name__ == "__main__":
    unittest.main()
