#include "bench/flood/roles/tables.h"

// Rank 0 without continuous traffic: the plan from beginning to end, then the tables.
#include <pinwire.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "bench/flood/host/stop.h"
#include "bench/flood/loops/measure.h"
#include "bench/flood/plan/pairs.h"
#include "bench/flood/plan/report.h"
#include "bench/flood/roles/director.h"
#include "bench/flood/roles/references.h"
#include "bench/flood/words/json_file.h"
#include "bench/flood/words/progress.h"
#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

void say(const std::string& words, FILE* where) {
  std::fwrite(words.data(), 1, words.size(), where);
  std::fflush(where);
}

/// All pairs at once: the other senders get the order, then rank 0 measures itself.
Result<Figures> measure_everywhere(const Job& job, uint32_t index) {
  uint32_t ordered = 0;
  for (gasnet_node_t rank = 2; rank < job.ranks; rank += 2) {
    if (!measures(rank, job.ranks)) continue;
    send_order(rank, {.kind = Order::Kind::kMeasure, .index = index});
    ++ordered;
  }
  auto figures = measure(job.plan[index], job.options.limits, job.path, job.clock);
  await_orders(ordered);
  if (figures) {
    for (const Figures& pair : reports()) add_pair(*figures, pair);
  }
  clear_reports();
  return figures;
}

/// The CPUs' state changes while one looks (PA-015): several times in a run.
void measure_references(const Job& job, ReportFacts& facts) {
  if (!job.options.references) return;
  References& references = facts.references;
  references.barriers_us.push_back(barrier_us(job));
  if (facts.driver != "shm") return;
  if (const auto trip_ns = line_round_trip_ns(job)) {
    references.line_round_trips_ns.push_back(*trip_ns);
  }
  if (const double rate = memcpy_bytes_per_s(job); rate > 0) {
    references.memcpy_bytes_per_s.push_back(rate);
  }
}

std::string describe(const Measurement& m) {
  return std::string(name(m.test)) + " " + name(m.operation) + " " + bytes_text(m.bytes);
}

/// True, too, if no file is asked for.
bool write_json(const std::string& path, const std::string& contents) {
  if (path.empty()) return true;
  const Status written = write_whole_file(path, contents);
  if (!written) say("flood: " + written.sentence() + "\n", stderr);
  return static_cast<bool>(written);
}

}  // namespace

int run_tables(const Job& job) {
  ReportFacts facts = {.driver = pinwire_driver_name(job.path.partner),
                       .dispatch = pinwire_dispatch(),
                       .ranks = job.ranks,
                       .pairs = pairs_of(job.ranks),
                       .network_depth = pinwire_network_depth(),
                       .buffers_in_heap = job.options.buffers_in_heap,
                       .yielding = yielding,
                       .limits = job.options.limits,
                       .planned = job.plan.size(),
                       .tables = job.options.tables};
  const size_t reference_every = job.plan.size() / 4 + 1;
  std::vector<Figures> rows;
  say(text("flood: %zu measurements over %s\n", job.plan.size(), facts.driver.c_str()), stderr);
  Progress progress(::isatty(STDERR_FILENO) != 0, job.plan.size(), now_seconds());
  for (uint32_t index = 0; index < job.plan.size() && !stop_requested(); ++index) {
    if (index % reference_every == 0) measure_references(job, facts);
    say(progress.step(index, describe(job.plan[index]), now_seconds()), stderr);
    auto figures = measure_everywhere(job, index);
    if (!figures) {
      say(progress.end() + "flood: " + figures.sentence() + "\n", stderr);
      return 1;
    }
    rows.push_back(*figures);
  }
  if (!stop_requested()) measure_references(job, facts);
  say(progress.end(), stderr);
  say(report(facts, rows), stdout);
  const bool written =
      write_json(job.options.json_path, to_json(facts.driver, rows)) &&
      write_json(job.options.references_path, references_json(facts.driver, facts.references));
  return written ? 0 : 1;
}

}  // namespace pinwire::flood
