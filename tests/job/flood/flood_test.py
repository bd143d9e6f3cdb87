#!/usr/bin/env python3
"""bench/flood in real jobs. Usage: flood_test.py LAUNCHER FLOOD DRIVER [unittest arguments]"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LAUNCHER, FLOOD, DRIVER = sys.argv[1:4]
TIME_LIMIT_S = 60
KEYS = ["driver", "test", "op", "bytes", "depth", "p50_us", "p99_us", "p999_us", "msgs_per_s",
        "bytes_per_s", "packets_per_s", "cpu_s"]
TIME, RATE, BANDWIDTH = r"[\d.]+ (n|u|m|)s", r"[\d.]+ [kMG]?/s", r"[\d.]+ [kMGT]?B/s"
KEY_FIGURES = [f"Short AM, round trip +{TIME}", f"Short AMs, rate +{RATE}", f"Medium AMs of 512 B, rate +{RATE}",
               f"Long AMs of 1 MiB, bandwidth +{BANDWIDTH}", f"blocking put of 8 B, time +{TIME}",
               f"blocking get of 8 B, time +{TIME}", f"overlapped puts of 8 B, rate +{RATE}",
               f"overlapped gets of 8 B, rate +{RATE}", f"overlapped puts of 1 MiB, bandwidth +{BANDWIDTH}",
               f"overlapped gets of 1 MiB, bandwidth +{BANDWIDTH}"]
PUTS_AND_GETS = ["put_blocking", "get_blocking", "put_nb", "get_nb", "put_nbi", "get_nbi"]
SHORT_LOOPS = ["--iterations=50", "--repetitions=1", "--loop-ms=1", "--no-references", "--yield=always"]


def start(arguments, ranks=2, eal=(), launched=True, dispatch=None, **options):
    command = [LAUNCHER, "-n", str(ranks)] if launched else []
    environment = dict(os.environ, GASNET_DRIVER=DRIVER)
    if dispatch:
        environment["GASNET_DISPATCH"] = dispatch
    return subprocess.Popen(
        command + [FLOOD, *eal, "--", *arguments], env=environment, text=True,
        stdin=options.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, **options)


def finish(process, words=None):
    try:
        out, err = process.communicate(words, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        raise AssertionError(f"no end after {TIME_LIMIT_S} s\n{out}\n{err}")
    return process.returncode, out, err


def end(process):
    """After a failed test nothing may stay."""
    if process.poll() is None:
        process.terminate()
    for stream in (process.stdout, process.stderr):
        stream.close()
    process.wait()


def wait_for(stream, words):
    """Reads lines until one has the words in it."""
    for line in stream:
        if words in line:
            return
    raise AssertionError(f"'{words}' was never said")


def children_named(name, parent):
    """Processes; Debian's smallest installation has no pgrep."""
    found = []
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{folder}/stat") as facts:
                command, _, rest = facts.read().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has ended
        if command.startswith(name) and int(rest.split()[1]) == parent:
            found.append(int(folder))
    return found


def run(arguments, **options):
    return finish(start(arguments, **options))


def prompt(lines, arguments=("--yield=always",), **options):
    process = start(["-i", *arguments], stdin=subprocess.PIPE, **options)
    return finish(process, "".join(line + "\n" for line in lines))


def setUpModule():
    code, out, err = run(["--sizes=8", "--ops=put_blocking", *SHORT_LOOPS])
    if code != 0 and "this build has no DPDK" in err:
        raise unittest.SkipTest(err.strip())


class Tables(unittest.TestCase):
    def rows_of(self, arguments, **options):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "out.json")
            code, out, err = run([*SHORT_LOOPS, "--json", path, *arguments], **options)
            self.assertEqual(code, 0, out + err)
            with open(path) as file:
                rows = json.load(file)
            self.assertEqual(os.listdir(directory), ["out.json"])
        return rows, out

    def test_every_operation_gives_a_row_with_exactly_the_agreed_keys(self):
        rows, out = self.rows_of(["--sizes=1,8,4096,1M"])
        for row in rows:
            self.assertEqual(list(row), KEYS)
            self.assertEqual(row["driver"], DRIVER)
            self.assertGreater(row["msgs_per_s"], 0, row)
            self.assertAlmostEqual(row["bytes_per_s"], row["msgs_per_s"] * row["bytes"],
                                   delta=1e-6 * row["bytes_per_s"] + 1e-6)
            self.assertLessEqual(row["p50_us"], row["p99_us"], row)
            self.assertLessEqual(row["p99_us"], row["p999_us"], row)
            self.assertGreater(row["cpu_s"], 0, row)
        names = [(row["test"], row["op"], row["bytes"]) for row in rows]
        self.assertEqual(len(names), len(set(names)))
        for test in ("pingpong", "flood"):
            self.assertIn((test, "am_short", 0), names)
            self.assertIn((test, "am_medium", 8), names)
            for bytes_each in (1, 8, 4096, 1 << 20):
                for op in PUTS_AND_GETS + ["am_long"]:
                    self.assertIn((test, op, bytes_each), names)
        self.assertIn("Round-trip latency and inverse throughput", out)
        self.assertIn("dispatch poll, network depth", out)

    def test_the_tables_name_the_dispatch_mode(self):
        for mode in ("interrupt", "watchdog", "thread", "nicproc"):
            rows, out = self.rows_of(["--sizes=8", "--ops=am_short,am_medium,am_long,put_nb"],
                                     ranks=4 if DRIVER == "shm" else 2, dispatch=mode)
            self.assertEqual(len(rows), 8)
            self.assertIn(f"dispatch {mode}, network depth", out)

    def test_packets_are_those_of_the_network(self):
        rows, _ = self.rows_of(["--sizes=4096", "--ops=put_nb,am_short"])
        for row in rows:
            if DRIVER == "shm":
                self.assertEqual(row["packets_per_s"], 0, row)
            else:
                self.assertGreater(row["packets_per_s"], 0, row)

    def test_references_are_measured_in_the_same_run(self):
        code, out, err = run(["--sizes=8,1M", "--ops=put_blocking,am_short", "--iterations=50",
                              "--repetitions=1", "--loop-ms=1", "--yield=always"])
        self.assertEqual(code, 0, out + err)
        self.assertRegex(out, r"barrier of 2 ranks +[\d.]+ [num]s ")
        if DRIVER == "shm":
            self.assertRegex(out, r"memcpy of 1 MiB in one process +[\d.]+ [MG]B/s ")

    def test_references_go_into_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "references.json")
            code, out, err = run(["--sizes=1M", "--ops=put_nb", "--iterations=50", "--repetitions=1", "--loop-ms=1",
                                  "--yield=always", "--references-json", path])
            self.assertEqual(code, 0, out + err)
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)
        names = [row["reference"] for row in rows]
        # A cache line's round trip wants two CPUs.
        shm_alone = ["cache_line", "memcpy"] if os.cpu_count() > 1 else ["memcpy"]
        self.assertEqual(names, ["barrier"] + (shm_alone if DRIVER == "shm" else []))
        for row in rows:
            self.assertEqual(row["driver"], DRIVER)
            self.assertGreater(row.get("us", row.get("bytes_per_s")), 0, row)

    def test_the_first_screen_is_ten_figures(self):
        code, out, err = run(SHORT_LOOPS)
        self.assertEqual(code, 0, out + err)
        for figure in KEY_FIGURES:
            self.assertRegex(out, f"(?m)^  {figure} +\\d+ *$")
        self.assertNotIn("Ping-pong", out)
        self.assertIn("--all", out)
        self.assertIn("10 measurements", err)

    def test_a_file_of_all_measurements_leaves_the_first_screen_as_it_is(self):
        rows, out = self.rows_of(["--quick"])
        self.assertEqual(len(rows), 2 * (9 * 7 + 5 + 1))
        self.assertRegex(out, r"(?m)^  Short AM, round trip +[\d.]+ [num]s +\d+$")
        self.assertNotIn("Ping-pong", out)

    def test_all_prints_the_tables_after_the_first_screen(self):
        code, out, err = run([*SHORT_LOOPS, "--quick", "--all"])
        self.assertEqual(code, 0, out + err)
        self.assertLess(out.index("Short AM, round trip"), out.index("Ping-pong: one operation at a time"))

    def test_depth_sweep(self):
        rows, _ = self.rows_of(["--depth-sweep", "--sizes=8", "--tests=flood",
                                "--ops=put_nb,get_nbi,am_short,am_medium,am_long"])
        for op in ("put_nb", "get_nbi", "am_short", "am_medium", "am_long"):
            self.assertEqual([row["depth"] for row in rows if row["op"] == op],
                             [1, 2, 4, 8, 16, 32, 64, 128, 256])

    def test_buffers_outside_the_segment(self):
        rows, out = self.rows_of(["--buffers=heap", "--sizes=8,64K"])
        self.assertEqual(len(rows), 2 * (2 * 6 + 1 + 1 + 2))
        self.assertIn("local buffers in the heap", out)

    def test_pairs_of_four_ranks(self):
        rows, out = self.rows_of(["--sizes=8", "--ops=put_nb,am_short,am_long"], ranks=4)
        self.assertEqual(len(rows), 6)
        self.assertIn("4 ranks, 2 pairs", out)

    def test_pairs_of_eight_ranks(self):
        rows, out = self.rows_of(["--sizes=8", "--ops=put_nb,am_short"], ranks=8)
        self.assertEqual(len(rows), 4)
        self.assertIn("8 ranks, 4 pairs", out)

    def test_the_third_rank_only_polls(self):
        rows, out = self.rows_of(["--sizes=8", "--ops=get_nb,am_medium"], ranks=3)
        self.assertEqual(len(rows), 4)
        self.assertIn("3 ranks, 1 pair,", out)

    def test_eal_arguments_go_before_the_dashes(self):
        code, out, err = run(["--sizes=8", "--ops=put_nb", *SHORT_LOOPS], eal=["--log-level=3"])
        self.assertEqual(code, 0, out + err)
        self.assertIn("put_nb", out)

    def test_a_full_disk_is_a_sentence(self):
        code, out, err = run(["--sizes=8", "--ops=put_nb", "--json=/dev/full", *SHORT_LOOPS])
        self.assertNotEqual(code, 0)
        self.assertIn("/dev/full: No space left on device", err)
        self.assertIn("put_nb", out)  # the tables are not lost

    def test_interrupt_prints_what_was_measured(self):
        process = start(["--all", "--loop-ms=100", "--yield=always"])
        self.addCleanup(end, process)
        wait_for(process.stderr, "measurements over")
        process.send_signal(signal.SIGINT)
        code, out, err = finish(process)
        self.assertEqual(code, 0, out + err)
        self.assertIn("STOPPED", out)


@unittest.skipIf(DRIVER != "shm", "a rank alone has no network")
class Alone(unittest.TestCase):
    def test_C1_048_a_rank_talks_to_itself_without_a_launcher(self):
        code, out, err = run(["--sizes=8", *SHORT_LOOPS], launched=False)
        self.assertEqual(code, 0, out + err)
        self.assertIn("self: 1 rank, 1 pair", out)


class Mistakes(unittest.TestCase):
    def check(self, arguments, *words):
        begin = time.monotonic()
        code, out, err = run(arguments)
        self.assertEqual(code, 2, out + err)
        for word in words:
            self.assertIn(word, err)
        self.assertEqual(len(re.findall("^flood: ", err, re.MULTILINE)), 1, err)
        self.assertLess(time.monotonic() - begin, 30)

    def test_unknown_argument(self):
        self.check(["--nonsense"], "--nonsense", "--help")

    def test_unknown_operation(self):
        self.check(["--ops=put"], "put_blocking")

    def test_nothing_left_to_measure(self):
        self.check(["--ops=am_medium", "--sizes=4M"], "--sizes")

    def test_json_into_nowhere(self):
        self.check(["--json=/nonexistent/x.json"], "/nonexistent", "--json FILE")

    def test_references_into_nowhere(self):
        self.check(["--references-json=/nonexistent/x.json"], "/nonexistent", "--references-json FILE")

    def test_tables_of_continuous_traffic(self):
        self.check(["--all", "--auto-start"], "--all is about the tables")

    def test_help_is_no_mistake(self):
        code, out, _ = run(["--help"])
        self.assertEqual(code, 0)
        self.assertEqual(out.count("--stats-period"), 1)


class Prompt(unittest.TestCase):
    def test_every_mode_runs_and_counts(self):
        modes = ["flood", "pingpong", "put", "get", "am", "rxonly", "txonly"]
        lines = []
        for mode in modes:
            lines += [f"set fwd {mode}", "start", "show port stats all", "stop"]
        code, out, err = prompt(lines + ["quit"])
        self.assertEqual(code, 0, out + err)
        totals = out.split("Accumulated forward statistics for all ports")[1:]
        self.assertEqual(len(totals), len(modes), out)
        for mode, block in zip(modes, totals):
            received, sent = (int(re.search(f"{way}-packets: (\\d+)", block)[1])
                              for way in ("RX", "TX"))
            if mode == "get":
                self.assertGreater(received, 0, mode)
            else:
                self.assertGreater(sent, 0, mode)
            if mode in ("flood", "rxonly", "txonly", "am", "pingpong"):
                self.assertEqual(received, sent, f"{mode}: everything sent arrived\n{block}")
        self.assertRegex(out, r"Round trips: \d+, p50 ")
        self.assertEqual(out.count("NIC statistics for port 1 "), len(modes))

    def test_settings_show_up(self):
        code, out, err = prompt(["set burst 7", "set txpkts 2K", "set depth 9", "set dispatch poll",
                                 "set dispatch signal", "show config fwd", "show lanes",
                                 "show credits", "clear port stats all", "help", "bogus", "stop",
                                 "quit"])
        self.assertEqual(code, 0, out + err)
        self.assertIn("burst=7 - txpkts=2048 bytes - depth=9", out)
        self.assertIn("Dispatch is poll", out)
        self.assertIn("no dispatch mode 'signal'; choose one of poll|interrupt|watchdog|thread|nicproc", out)
        self.assertIn("dispatch=poll", out)
        self.assertIn(f"to rank 1 over {DRIVER}", out)
        self.assertIn("GASNET_NETWORKDEPTH", out)
        self.assertIn("unknown command 'bogus'", out)
        self.assertIn("Traffic is not running.", out)
        self.assertGreaterEqual(out.count("flood> "), 12)

    def test_tx_first_sends_one_burst(self):
        code, out, err = prompt(["set fwd rxonly", "set burst 5", "start tx_first", "stop", "quit"])
        self.assertEqual(code, 0, out + err)
        port_1 = out.split("Forward statistics for port 1")[1]
        self.assertEqual(int(re.search(r"RX-packets: (\d+)", port_1)[1]), 5, out)

    def test_big_and_empty_payloads(self):
        lines = []
        for size in ("0", "1M"):
            lines += [f"set txpkts {size}", "set fwd am", "start", "show port stats all", "stop"]
        code, out, err = prompt(lines + ["quit"])
        self.assertEqual(code, 0, out + err)
        self.assertEqual(out.count("Accumulated"), 2)

    def test_every_dispatch_mode_is_the_same_prompt_in_another_job(self):
        # A rank that naps between two runs is interrupted; with a thread nobody waits for its poll.
        modes = ["interrupt", "watchdog", "thread", "nicproc", "poll"]
        lines = ["set fwd am", "set burst 7", "set txpkts 128"]
        for mode in modes:
            lines += [f"set dispatch {mode}", "show config fwd", "start", f"set dispatch {mode}x",
                      "set dispatch poll" if mode != "poll" else "set dispatch thread",
                      "show port stats all", "stop"]
        code, out, err = prompt(lines + ["quit"])
        self.assertEqual(code, 0, out + err)
        self.assertEqual(re.findall(r"Starting the job again with dispatch (\w+)", out), modes)
        self.assertEqual(re.findall(r"am forwarding .* dispatch=(\w+)", out), modes)
        self.assertEqual(re.findall(r"Ran for .*, dispatch (\w+)\.", out), modes)
        self.assertEqual(out.count("burst=7 - txpkts=128 bytes"), len(modes))
        self.assertEqual(out.count("Traffic is running; stop it first."), len(modes))
        for block in out.split("Accumulated forward statistics for all ports")[1:]:
            received, sent = (int(re.search(f"{way}-packets: (\\d+)", block)[1]) for way in ("RX", "TX"))
            self.assertGreater(sent, 0, block)
            self.assertEqual(received, sent, f"everything sent arrived\n{block}")

    @unittest.skipIf(DRIVER != "shm", "a rank alone has no network")
    def test_without_a_launcher_the_dispatch_mode_stays_and_a_sentence_says_why(self):
        code, out, err = prompt(["set dispatch thread", "show config fwd", "quit"], launched=False)
        self.assertEqual(code, 0, out + err)
        self.assertIn("start it with GASNET_DISPATCH=thread", out)
        self.assertIn("dispatch=poll", out)

    def test_end_of_input_leaves(self):
        code, out, err = prompt(["start"])
        self.assertEqual(code, 0, out + err)
        self.assertIn("Accumulated forward statistics", out)


class Continuous(unittest.TestCase):
    def test_running_rates_until_the_duration_is_over(self):
        code, out, err = run(["--auto-start", "--stats-period=0.3", "--duration=1",
                              "--forward-mode=txonly", "--yield=always"])
        self.assertEqual(code, 0, out + err)
        self.assertGreaterEqual(out.count("NIC statistics for port 0 "), 2, out)
        self.assertRegex(out, r"Tx-pps: +[1-9]")
        self.assertIn("Accumulated forward statistics", out)

    def test_interrupt_stops_cleanly_and_prints_the_totals(self):
        process = start(["--auto-start", "--forward-mode=pingpong", "--stats-period=0.2",
                         "--yield=always"])
        self.addCleanup(end, process)
        wait_for(process.stdout, "NIC statistics")
        process.send_signal(signal.SIGINT)
        code, out, err = finish(process)
        self.assertEqual(code, 0, out + err)
        self.assertIn("Accumulated forward statistics", out)
        self.assertRegex(out, r"Round trips: \d+, p50 ")

    def test_interrupt_of_the_whole_group_is_one_interrupt(self):
        # As from a terminal, but the launcher passes it on, too: each rank gets it twice.
        process = start(["--auto-start", "--forward-mode=am", "--stats-period=0.2",
                         "--yield=always"], start_new_session=True)
        self.addCleanup(end, process)
        wait_for(process.stdout, "NIC statistics")
        os.killpg(process.pid, signal.SIGINT)
        code, out, err = finish(process)
        self.assertEqual(code, 0, out + err)
        self.assertIn("Accumulated forward statistics", out)

    def test_interrupt_of_one_rank_stops_all(self):
        process = start(["--auto-start", "--forward-mode=put", "--stats-period=0.2",
                         "--yield=always"])
        self.addCleanup(end, process)
        wait_for(process.stdout, "NIC statistics")
        ranks = children_named("flood", process.pid)
        self.assertEqual(len(ranks), 2)
        os.kill(max(ranks), signal.SIGINT)
        code, out, err = finish(process)
        self.assertEqual(code, 0, out + err)
        self.assertIn("Accumulated forward statistics", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
