"""The tables and the plot of dispatch.py, from its rows."""

import statistics

WAITS, NEVER_POLLS, SLEEPS = 0, -1, -2
IDLE_SHARE_MAX = 0.005
SECTION_MAX_NS = {"poll": 10, "interrupt": 20, "watchdog": 20}
ABOVE_RAW_WAKE_MAX_US = 1


def values_of(rows, driver, mode, what, field, busy=None):
    """One of each job."""
    return [row[field] for row in rows
            if (row["driver"], row["mode"], row["what"]) == (driver, mode, what) and (busy is None or row["busy_us"] == busy)]


def cell(values, digits=2, scale=1.0):
    if not values:
        return "-"
    least, middle, most = (f"{scale * value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return middle if len(values) == 1 else f"{middle} ({least}-{most})"


def table(heads, lines):
    rows = [heads, ["---"] * len(heads)] + lines
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def time_text(us):
    return f"{us} µs" if us < 1000 else f"{us // 1000} ms"


def kind_text(us):
    """The work of a receiver."""
    return {WAITS: "waits", SLEEPS: "sleeps", NEVER_POLLS: "never polls"}.get(us) or f"polls each {time_text(us)}"


def latencies(facts, rows, driver, what, title):
    kinds = [us for us in facts["busy_us"]] + [SLEEPS, NEVER_POLLS]
    lines = [[mode] + [cell(values_of(rows, driver, mode, what, "median_us", us)) for us in kinds] for mode in facts["modes"]]
    return f"\n{title}, by what the receiver does\n\n" + table(["mode"] + [kind_text(us) for us in kinds], lines)


def costs(facts, rows, driver):
    heads = ["mode", "million messages/s, receiver waits", "never polls", "µs lost by a computation, each message",
             "idle, % of a core", "hold+resume, ns", "HSL lock+unlock, ns", "pthread mutex, ns", "raw wake, one way, µs",
             "raw wake by another process, µs"]
    lines = []
    for mode in facts["modes"]:
        def values(what, field, busy=None, mode=mode):
            return values_of(rows, driver, mode, what, field, busy)
        lines.append([mode, cell(values("throughput", "messages_per_s", WAITS), 3, 1e-6),
                      cell(values("throughput", "messages_per_s", NEVER_POLLS), 3, 1e-6), cell(values("lost", "median_us")),
                      cell(values("idle", "share"), 2, 100)]
                     + [cell(values(what, "ns"), 1) for what in ("hold_resume", "hsl", "mutex")]
                     + [cell(values(what, "median_us")) for what in ("raw_wake", "raw_wake_across")])
    return "\nRates and costs. In poll a computation polls each 100 units of work, about as many µs, with messages and without\n\n" + table(heads, lines)


def demands(rows, driver, mode):
    """(what, unit, measured, allowed) of one mode, as far as it was measured."""
    def middle(what, field, busy=None):
        values = values_of(rows, driver, mode, what, field, busy)
        return statistics.median(values) if values else None
    if mode in ("interrupt", "watchdog", "thread"):
        yield "idle", "% of a core", 100 * middle("idle", "share"), 100 * IDLE_SHARE_MAX
    if mode in SECTION_MAX_NS:
        yield "hold+resume", "ns", middle("hold_resume", "ns"), SECTION_MAX_NS[mode]
    yield "HSL lock+unlock, allowed: the mutex", "ns", middle("hsl", "ns"), middle("mutex", "ns")
    if mode == "interrupt":
        for floor, name in (("raw_wake", "the raw wake"), ("raw_wake_across", "the raw wake by another process")):
            yield (f"one way to a rank that never polls, allowed: {name} + 1", "µs", middle("one_way", "median_us", NEVER_POLLS),
                   middle(floor, "median_us") + ABOVE_RAW_WAKE_MAX_US)


def asked_for(facts, rows, driver):
    lines = [[mode, what, unit, f"{measured:.2f}", f"{allowed:.2f}", "yes" if measured <= allowed else "**no**"]
             for mode in facts["modes"] for what, unit, measured, allowed in demands(rows, driver, mode)]
    return "\nWhat is asked of the modes\n\n" + table(["mode", "what", "unit", "measured", "allowed", "met"], lines)


def markdown(facts, rows):
    out = (f"# Dispatch modes\n\nShort AMs between two ranks of one host of {facts['cpus']} CPUs, µs; medians of {facts['turns']} turns, each"
           f" the median of up to {facts['count']} messages (least-most of the turns).\n")
    for driver in facts["drivers"]:
        out += (f"\n## {driver}\n" + latencies(facts, rows, driver, "one_way", "One way, from the call to the handler")
                + latencies(facts, rows, driver, "round_trip", "Round trip") + costs(facts, rows, driver)
                + asked_for(facts, rows, driver))
    return out


def draw_driver(axes, facts, rows, driver):
    kinds = facts["busy_us"] + [NEVER_POLLS]
    for mode in facts["modes"]:
        drawn = [(at, values_of(rows, driver, mode, "one_way", "median_us", us), values_of(rows, driver, mode, "one_way", "p10_us", us),
                  values_of(rows, driver, mode, "one_way", "p90_us", us)) for at, us in enumerate(kinds)]
        drawn = [(at, *map(statistics.median, values)) for at, *values in drawn if values[0]]
        at, middle, low, high = zip(*drawn)
        line, = axes.plot(at, middle, marker="o", markersize=4, label=mode)
        axes.fill_between(at, low, high, alpha=0.15, color=line.get_color(), linewidth=0)
    raw = [row["median_us"] for row in rows if row["driver"] == driver and row["what"] == "raw_wake"]
    axes.axhline(statistics.median(raw), color="gray", linestyle=":", label="raw wake")
    axes.set_xticks(range(len(kinds)), [{WAITS: "waits in\nGASNet", NEVER_POLLS: "never\npolls"}.get(us) or time_text(us) for us in kinds])
    axes.set_yscale("log")
    axes.set_title(driver)
    axes.set_xlabel("what the receiver computes between two polls")
    axes.grid(True, which="major", alpha=0.3)


def draw(facts, rows, path):
    """A sentence if it cannot."""
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError as bad:
        return f"no plot was drawn ({bad}); install python3-matplotlib (scripts/install-packages plot)"
    drivers = facts["drivers"]
    figure, all_axes = pyplot.subplots(1, len(drivers), figsize=(6.5 * len(drivers), 5), sharey=True, squeeze=False)
    for axes, driver in zip(all_axes[0], drivers):
        draw_driver(axes, facts, rows, driver)
    all_axes[0][0].set_ylabel("one way of a Short AM, µs (median; shaded: 10 to 90 %)")
    all_axes[0][-1].legend(loc="best", fontsize="small")
    figure.tight_layout()
    figure.savefig(path, format="svg")
    return None
