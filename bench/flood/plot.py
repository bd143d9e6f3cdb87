#!/usr/bin/env python3
"""Draws what flood's JSON output holds: latency and bandwidth over the size, a row of each driver, and the floors and
ceilings beside them, from the files of --references-json and of raw_port --json."""

import argparse
import json
import sys

DRAWN = {"pingpong": ["put_blocking", "get_blocking", "am_medium", "am_long"],
         "flood": ["put_nb", "get_nb", "am_medium", "am_long"]}
WORDS = {"put_blocking": "blocking put", "get_blocking": "blocking get", "put_nb": "overlapped puts",
         "get_nb": "overlapped gets", "am_medium": "Medium AM", "am_long": "Long AM"}
DEVICE = "ethdev"  # raw_port's rows of the bare device


def bytes_text(count):
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if count >= 1 << shift and count % (1 << shift) == 0:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def in_unit(value, units):
    """With the largest unit of rising factors of a thousand that leaves a digit before the point."""
    *smaller, largest = units
    for unit in smaller:
        if value < 1000:
            return f"{value:g} {unit}"
        value /= 1000
    return f"{value:g} {largest}"


def time_text(us, _position=None):
    return in_unit(us * 1000, ["ns", "µs", "ms", "s"])


def bandwidth_text(bytes_per_s, _position=None):
    return in_unit(bytes_per_s, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])


def points(rows, driver, test, operation, value):
    """(sizes, values) of one line, by rising size; of several depths the deepest."""
    deepest = {}
    for row in rows:
        if (row["driver"], row["test"], row["op"]) != (driver, test, operation) or row["bytes"] == 0:
            continue
        if row["bytes"] not in deepest or row["depth"] >= deepest[row["bytes"]]["depth"]:
            deepest[row["bytes"]] = row
    drawn = [(size, value(row)) for size, row in sorted(deepest.items())]
    return [size for size, _ in drawn], [height for _, height in drawn]


def latency(row):
    return row["p50_us"]


def bandwidth(row):
    return row["bytes_per_s"]


def is_narrow(axes):
    """Whether its scale may have one major tick alone: then the minor ones are labelled, too."""
    low, high = axes.get_ylim()
    return high < 20 * low


def draw_lines(axes, rows, driver, test, value):
    for operation in DRAWN[test]:
        sizes, values = points(rows, driver, test, operation, value)
        if sizes:
            axes.plot(sizes, values, marker="o", markersize=3, label=WORDS[operation])
    axes.set_title(driver)


def draw_references(latencies, bandwidths, references, device, driver):
    for row in references:
        if row["driver"] == driver and row["reference"] == "cache_line":
            latencies.axhline(row["us"], color="gray", linestyle=":", label="floor: one cache line, both ways")
        if row["driver"] == driver and row["reference"] == "memcpy":
            bandwidths.axhline(bandwidth(row), color="gray", linestyle=":", label="ceiling: memcpy of 1 MiB")
    if driver != "dpdk":
        return
    for axes, test, value, name in ((latencies, "pingpong", latency, "floor: the bare device, both ways"),
                                    (bandwidths, "stream", bandwidth, "ceiling: the bare device")):
        rows = [row for row in device if row["level"] == DEVICE and row["test"] == test
                and row.get("direction", "0->1") == "0->1"]
        if rows:
            axes.plot([row["bytes"] for row in rows], [value(row) for row in rows], color="gray", linestyle=":",
                      marker="x", label=name)


def draw(rows, references, device, path, pyplot):
    drivers = list(dict.fromkeys(row["driver"] for row in rows))
    figure, grid = pyplot.subplots(len(drivers), 2, figsize=(13, 4.5 * len(drivers)), sharex=True, sharey="col", squeeze=False)
    for (latencies, bandwidths), driver in zip(grid, drivers):
        for axes in (latencies, bandwidths):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
        draw_lines(latencies, rows, driver, "pingpong", latency)
        draw_lines(bandwidths, rows, driver, "flood", bandwidth)
        draw_references(latencies, bandwidths, references, device, driver)
        for axes, text in ((latencies, time_text), (bandwidths, bandwidth_text)):
            axes.yaxis.set_major_formatter(text)
            axes.yaxis.set_minor_formatter(text if is_narrow(axes) else "")
        latencies.set_ylabel("one at a time: median")
        bandwidths.set_ylabel("overlapped: bandwidth")
        for axes in (latencies, bandwidths):
            axes.grid(True, which="major", alpha=0.3)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(loc="best", fontsize="small")
    sizes = sorted({row["bytes"] for row in rows if row["bytes"]})
    ticks = sizes[::-(-len(sizes) // 8) or 1]
    for axes in grid[-1]:
        axes.set_xticks(ticks, [bytes_text(size) for size in ticks])
        axes.set_xlabel("size of an operation")
    figure.tight_layout()
    figure.savefig(path, format="svg")


def read(path, key, writer):
    """The objects of the file, each of which has the key."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
    except (OSError, ValueError) as bad:
        sys.exit(f"plot.py: cannot read {path}: {bad}; name a file that {writer} wrote")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and key in row for row in rows):
        sys.exit(f"plot.py: {path} has objects without \"{key}\"; name a file that {writer} wrote")
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("json", nargs="+", metavar="FILE", help="files of flood --json")
    parser.add_argument("--svg", required=True, metavar="FILE", help="where the plot goes")
    parser.add_argument("--references", action="append", default=[], metavar="FILE", help="files of flood --references-json")
    parser.add_argument("--device", metavar="FILE", help="the file of raw_port --json")
    return parser.parse_args()


def main():
    options = parse_arguments()
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError as bad:
        sys.exit(f"plot.py: no plot was drawn ({bad}); install python3-matplotlib (scripts/install-packages plot)")
    rows = [row for path in options.json for row in read(path, "op", "flood --json")]
    if not rows:
        sys.exit("plot.py: no plot was drawn: the files hold no measurement")
    references = [row for path in options.references for row in read(path, "reference", "flood --references-json")]
    device = read(options.device, "level", "raw_port --json") if options.device else []
    try:
        draw(rows, references, device, options.svg, pyplot)
    except OSError as bad:
        sys.exit(f"plot.py: cannot write {options.svg}: {bad.strerror}; name another file with --svg FILE")


if __name__ == "__main__":
    main()
