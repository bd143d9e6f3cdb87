#include "bench/flood/plan/report.h"

#include <algorithm>
#include <set>
#include <utility>

#include "bench/flood/numbers/summary.h"
#include "bench/flood/plan/key_figures.h"
#include "bench/flood/words/table.h"
#include "bench/flood/words/text.h"
#include "bench/flood/words/units.h"

namespace pinwire::flood {
namespace {

using Rows = std::vector<Figures>;

const Figures* find(const Rows& rows, Pattern test, Operation operation, uint64_t bytes) {
  if (operation == Operation::kAmShort) bytes = 0;
  // With a depth sweep the deepest stands for the flood: the rows come in rising depth.
  const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const Figures& row) {
    return row.test == test && row.operation == operation && row.bytes == bytes;
  });
  return found == rows.rend() ? nullptr : &*found;
}

std::string time_cell(const Figures* row) {
  return row == nullptr ? "" : time_text(row->us_per_message);
}

std::string spread_cell(const Figures* row) {
  return row == nullptr ? "" : text("%.0f", 100 * row->spread);
}

/// PA-016: the time of a round trip outside the sending of its two messages.
std::string outside_cell(const Figures* round_trip, const Figures* flood) {
  if (round_trip == nullptr || flood == nullptr) return "";
  return time_text(round_trip->us_per_message - 2 * flood->us_per_message);
}

std::string label(Operation operation) {
  std::string words = name(operation);
  if (operation == Operation::kAmShort) words += " (0 B)";
  return words;
}

std::string heading(const ReportFacts& facts, const Rows& rows) {
  std::string out =
      text("\n%s: %u rank%s, %u pair%s, dispatch %s, network depth %u, local buffers in the %s%s\n",
           facts.driver.c_str(), facts.ranks, facts.ranks == 1 ? "" : "s", facts.pairs,
           facts.pairs == 1 ? "" : "s", facts.dispatch.c_str(), facts.network_depth,
           facts.buffers_in_heap ? "heap" : "segment",
           facts.yielding ? ", ranks yield the CPU while they poll" : "");
  out += text(
      "  Loops of %llu operations, fewer where they would pass %s or %s; median of up to %u "
      "loops, ± half the spread.\n",
      static_cast<unsigned long long>(facts.limits.iterations),
      bytes_text(facts.limits.bytes_max).c_str(), time_text(facts.limits.seconds_max * 1e6).c_str(),
      facts.limits.repetitions);
  if (rows.size() < facts.planned) {
    out += text("  STOPPED: %zu of %zu measurements were made.\n", rows.size(), facts.planned);
  }
  if (facts.pairs > 1) {
    out += "  Pairs run at once: rates and CPU time are sums, times those of the slowest pair.\n";
  }
  return out;
}

/// A row of the wanted size, or, of a bandwidth, of the largest size that was measured.
const Figures* find(const Rows& rows, const KeyFigure& key) {
  const Figures* found = find(rows, key.test, key.operation, key.bytes);
  if (found != nullptr || key.quantity != Quantity::kBandwidth) return found;
  constexpr uint64_t kLargeBytesMin = uint64_t{64} << 10;
  for (const Figures& row : rows) {
    if (row.test != key.test || row.operation != key.operation) continue;
    if (row.bytes < (found == nullptr ? kLargeBytesMin : found->bytes)) continue;
    found = &row;
  }
  return found;
}

std::string value_text(Quantity quantity, const Figures& row) {
  switch (quantity) {
    case Quantity::kTime:
      return time_text(row.us_per_message);
    case Quantity::kRate:
      return rate_text(row.messages_per_s);
    case Quantity::kBandwidth:
      break;
  }
  return bandwidth_text(row.bytes_per_s);
}

std::string label(const KeyFigure& key, const Figures& row) {
  const std::string size = key.bytes == 0 ? "" : " of " + bytes_text(row.bytes);
  return key.subject + size + ", " + key.property;
}

constexpr const char* kUnsteady =
    "  A ±% above 50 suggests that other work runs on these cores.\n"
    "  Repeat the run when the machine is idle.\n";

std::string key_table(const Rows& rows) {
  constexpr double kSpreadMax = 0.5;
  Table table({"figure", "median", "±%"});
  bool any = false;
  bool unsteady = false;
  for (const KeyFigure& key : kKeyFigures) {
    const Figures* row = find(rows, key);
    if (row == nullptr) continue;
    any = true;
    unsteady = unsteady || row->spread > kSpreadMax;
    table.row({label(key, *row), value_text(key.quantity, *row), spread_cell(row)});
  }
  if (!any) return "";
  return "\n" + table.print() + (unsteady ? kUnsteady : "");
}

std::string small_table(const Rows& rows) {
  Table table({"operation", "latency 1 B", "±%", "8 B", "±%", "inverse throughput 1 B", "±%", "8 B",
               "±%", "latency - 2 x inverse 1 B", "8 B"});
  bool any = false;
  for (const Operation operation : kOperations) {
    const Figures* trip_1 = find(rows, Pattern::kPingpong, operation, 1);
    const Figures* trip_8 = find(rows, Pattern::kPingpong, operation, 8);
    const Figures* flood_1 = find(rows, Pattern::kFlood, operation, 1);
    const Figures* flood_8 = find(rows, Pattern::kFlood, operation, 8);
    if (!trip_1 && !trip_8 && !flood_1 && !flood_8) continue;
    any = true;
    table.row({label(operation), time_cell(trip_1), spread_cell(trip_1), time_cell(trip_8),
               spread_cell(trip_8), time_cell(flood_1), spread_cell(flood_1), time_cell(flood_8),
               spread_cell(flood_8), outside_cell(trip_1, flood_1), outside_cell(trip_8, flood_8)});
  }
  if (!any) return "";
  return "\n Round-trip latency and inverse throughput (time per message of a flood)\n" +
         table.print();
}

/// "what: median (least ... most, n times in this run)", and the bare median.
double reference(std::string& out, const char* what, const std::vector<double>& values,
                 std::string (*format)(double)) {
  if (values.empty()) return 0;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double median = summarize(values).median;
  out += text("  %-50s %s (%s ... %s, measured %zu times)\n", what, format(median).c_str(),
              format(*least).c_str(), format(*most).c_str(), values.size());
  return median;
}

std::string reference_lines(const ReportFacts& facts, const Rows& rows) {
  std::string out;
  reference(out, text("barrier of %u ranks", facts.ranks).c_str(), facts.references.barriers_us,
            time_text);
  const double line_ns = reference(out, "floor: one cache line between the cores, both ways",
                                   facts.references.line_round_trips_ns,
                                   [](double ns) { return time_text(ns / 1e3); });
  const Figures* trip = find(rows, Pattern::kPingpong, Operation::kAmShort, 0);
  if (trip != nullptr && line_ns > 0) {
    out += text("  %-50s %.2f x the floor\n", "Short AM round trip",
                trip->us_per_message * 1e3 / line_ns);
  }
  const double copy = reference(out, "ceiling: memcpy of 1 MiB in one process",
                                facts.references.memcpy_bytes_per_s, bandwidth_text);
  const Figures* put = find(rows, Pattern::kFlood, Operation::kPutNb, kMemcpyBytes);
  if (put != nullptr && copy > 0) {
    out +=
        text("  %-50s %.2f x the ceiling\n", "overlapped puts of 1 MiB", put->bytes_per_s / copy);
  }
  return out.empty() ? "" : "\n Beside them, in the same run\n" + out;
}

/// Sizes down, operations across.
template <typename Cell>
std::string matrix(const char* title, const Rows& rows, Pattern test, Cell&& cell) {
  std::set<uint64_t> sizes;
  std::set<Operation> operations;
  for (const Figures& row : rows) {
    if (row.test != test || row.operation == Operation::kAmShort) continue;
    sizes.insert(row.bytes);
    operations.insert(row.operation);
  }
  if (sizes.empty()) return "";
  std::vector<std::string> head = {"size"};
  for (const Operation operation : operations) head.emplace_back(name(operation));
  Table table(head);
  for (const uint64_t bytes : sizes) {
    std::vector<std::string> cells = {bytes_text(bytes)};
    for (const Operation operation : operations) {
      const Figures* row = find(rows, test, operation, bytes);
      cells.push_back(row == nullptr ? "" : cell(*row));
    }
    table.row(std::move(cells));
  }
  return text("\n %s\n", title) + table.print();
}

/// PA-014, PA-019 (e): too shallow leaves the network idle, too deep spills the caches.
std::string depth_table(const Rows& rows) {
  std::set<uint32_t> depths;
  for (const Figures& row : rows) {
    if (row.test == Pattern::kFlood && !is_blocking(row.operation)) depths.insert(row.depth);
  }
  if (depths.size() < 2) return "";
  std::vector<std::string> head = {"rate at depth"};
  for (const uint32_t depth : depths) head.push_back(text("%u", depth));
  Table table(head);
  std::vector<std::string> cells;
  for (const Figures& row : rows) {
    if (row.test != Pattern::kFlood || is_blocking(row.operation)) continue;
    if (cells.empty()) {
      cells.push_back(std::string(name(row.operation)) + " " + bytes_text(row.bytes));
    }
    cells.push_back(rate_text(row.messages_per_s));
    if (row.depth == *depths.rbegin()) table.row(std::exchange(cells, {}));
  }
  return "\n Depth sweep of the flood: operations in flight\n" + table.print();
}

std::string detail_table(const Rows& rows, Pattern test) {
  Table table({name(test), "size", "depth", "iter", "time", "±%", "p50", "p99", "p99.9", "messages",
               "bandwidth", "packets", "CPU", "batch"});
  const Figures* before = nullptr;
  for (const Figures& row : rows) {
    if (row.test != test) continue;
    if (before != nullptr && before->operation != row.operation) table.rule();
    before = &row;
    table.row({name(row.operation), bytes_text(row.bytes),
               row.depth == 0 ? "all" : text("%u", row.depth),
               text("%llu", static_cast<unsigned long long>(row.iterations)),
               time_text(row.us_per_message), text("%.0f", 100 * row.spread), time_text(row.p50_us),
               time_text(row.p99_us), time_text(row.p999_us), rate_text(row.messages_per_s),
               bandwidth_text(row.bytes_per_s), rate_text(row.packets_per_s),
               time_text(row.cpu_s * 1e6), row.batch == 1 ? "" : text("%u", row.batch)});
  }
  if (before == nullptr) return "";
  return text("\n %s\n", test == Pattern::kPingpong
                             ? "Ping-pong: one operation at a time"
                             : "Flood: operations overlap, synchronised at the end") +
         table.print();
}

constexpr const char* kFootnotes =
    "\n  time: a timed loop divided by its operations. Percentiles come from a further loop with "
    "time\n"
    "  stamps, whose cost is subtracted; of a flood they are of the time from one message to the\n"
    "  next. batch: operations between two stamps where one is too fast to be timed alone, so "
    "that\n"
    "  percentiles there are of means of so many. AM ping-pong: a request and a reply in kind.\n"
    "  packets: network frames, both ways. CPU: both ranks (the receiver polls), one loop.\n";

constexpr const char* kMore =
    "\n  --all measures and prints the tables, too; --json FILE writes every measurement.\n";

std::string tables(const Rows& rows) {
  std::string out = small_table(rows);
  out += matrix("Bandwidth of the flood", rows, Pattern::kFlood,
                [](const Figures& row) { return bandwidth_text(row.bytes_per_s); });
  out += matrix("Latency of the ping-pong", rows, Pattern::kPingpong,
                [](const Figures& row) { return time_text(row.us_per_message); });
  out += depth_table(rows);
  return out + detail_table(rows, Pattern::kPingpong) + detail_table(rows, Pattern::kFlood) +
         kFootnotes;
}

}  // namespace

std::string report(const ReportFacts& facts, const Rows& rows) {
  if (rows.empty()) return heading(facts, rows);
  return heading(facts, rows) + key_table(rows) + reference_lines(facts, rows) +
         (facts.tables ? tables(rows) : kMore);
}

}  // namespace pinwire::flood
