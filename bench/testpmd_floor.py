#!/usr/bin/env python3
"""Measures the rate that dpdk-testpmd itself gets through a virtual device: txonly in one process, rxonly in another.

The floor that the dpdk driver is held against; flood's figures belong beside it, from the same run.
testpmd's receiver does not look at what it receives."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

STARTUP_S = 15
MEMORY_MIB = 512


def devices(fabric, socket, frame_bytes):
    """The two ends' devices, as driver/dpdk/fabric/fabric.cc makes them."""
    if fabric == "pair":
        return [f"net_vhost0,iface={socket},queues=1",
                f"net_virtio_user0,path={socket},queues=1,packed_vq=1,queue_size=512,mrg_rxbuf=1,in_order=1"]
    buffer_bytes = 2048 if frame_bytes < 2000 else 10240
    return [f"net_memif0,role={role},id=0,socket=@{socket},bsize={buffer_bytes},rsize=9"
            for role in ("server", "client")]


class Testpmd:
    def __init__(self, cpu, device, mode, frame_bytes, folder):
        self.log = os.path.join(folder, f"{cpu}.log")
        command = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", f"0@{cpu},1@{cpu}", "--no-huge", "-m", str(MEMORY_MIB), "--no-pci",
                   f"--file-prefix=floor-{os.getpid()}-{cpu}", "--vdev", device, "--", "-i",
                   f"--forward-mode={mode}", "--burst=32", "--txd=512", "--rxd=512", "--mbuf-size=10368",
                   "--total-num-mbufs=8192"]
        if frame_bytes > 1518:
            command.append(f"--max-pkt-len={frame_bytes + 4}")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=open(self.log, "w"),
                                        stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def output(self):
        with open(self.log) as log:
            return log.read()

    def wait_for(self, text):
        deadline = time.monotonic() + STARTUP_S
        while text not in self.output():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("dpdk-testpmd did not start; it said: " + self.output()[-300:])
            time.sleep(0.05)

    def say(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError("dpdk-testpmd ended early; it said: " + self.output()[-300:])

    def received_frames(self):
        """Frames received since start, and when that was."""
        before = self.output().count("RX-packets:")
        self.say("show port stats 0")
        deadline = time.monotonic() + STARTUP_S
        while self.output().count("RX-packets:") == before:
            if time.monotonic() > deadline:
                raise RuntimeError("dpdk-testpmd does not answer")
            time.sleep(0.01)
        return int(re.findall(r"RX-packets:\s+(\d+)", self.output())[-1]), time.monotonic()

    def end(self):
        if self.process.poll() is None:
            try:
                self.say("stop")
                self.say("quit")
                self.process.wait(3)
            except (RuntimeError, subprocess.TimeoutExpired):
                self.process.kill()
        self.process.wait()


def frames_per_s(fabric, frame_bytes, sender, seconds):
    """`sender`: which end transmits, 0 or 1."""
    folder = tempfile.mkdtemp(prefix="floor-")
    ends = []
    try:
        modes = ["txonly" if end == sender else "rxonly" for end in (0, 1)]
        for end, device in enumerate(devices(fabric, os.path.join(folder, "s"), frame_bytes)):
            ends.append(Testpmd(end, device, modes[end], frame_bytes, folder))
            ends[end].wait_for("testpmd>" if end == 1 or fabric == "memif" else "VHOST_CONFIG")
        ends[0].wait_for("testpmd>")
        for end in (1 - sender, sender):
            ends[end].say(f"set txpkts {frame_bytes}")
            ends[end].say("start")
        time.sleep(0.5)
        first, first_s = ends[1 - sender].received_frames()
        time.sleep(seconds)
        last, last_s = ends[1 - sender].received_frames()
        return (last - first) / (last_s - first_s)
    finally:
        for end in ends:
            end.end()
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabric", choices=["pair", "memif"], default="pair")
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 9014], metavar="BYTES", help="of a frame")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each stream")
    options = parser.parse_args()
    if shutil.which("dpdk-testpmd") is None:
        sys.exit("testpmd_floor: there is no dpdk-testpmd here; install Debian's package dpdk-dev")
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("testpmd_floor: two cores are needed, one for each end")
    ends = ("vhost", "virtio_user") if options.fabric == "pair" else ("server", "client")
    print(f" dpdk-testpmd, txonly -> rxonly over {options.fabric}, one core each")
    print(f"   {'frame':>7}  {'sender':<12} {'frames/s':>12} {'bytes/s':>12}")
    for size in options.sizes:
        for sender, name in enumerate(ends):
            rate = frames_per_s(options.fabric, size, sender, options.seconds)
            print(f"   {size:>5} B  {name:<12} {rate / 1e6:>9.2f} M/s {rate * size / 1e9:>7.2f} GB/s", flush=True)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as failure:
        sys.exit(f"testpmd_floor: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
