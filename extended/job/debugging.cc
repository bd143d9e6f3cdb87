#include "extended/job/debugging.h"

#include <utility>

#include "am/reports.h"
#include "core/base/log.h"
#include "core/debug/backtrace.h"
#include "core/debug/error_policy.h"
#include "core/debug/freeze.h"
#include "core/engine/engine.h"
#include "core/mode.h"
#include "core/tools/client_backtrace.h"
#include "core/trace/trace.h"
#include "pin/demand.h"

namespace pinwire {

void prepare_debugging(const Settings& settings) noexcept {
  const bool all_threads = settings.backtrace_mt == AutoYesNo::kAuto
                               ? kConcurrent
                               : settings.backtrace_mt == AutoYesNo::kYes;
  add_client_backtrace();
  const bool takes_all = settings.backtrace_type == kBacktraceTypes;  // the client's, too
  const auto unknown =
      prepare_backtraces(takes_all ? std::string_view{} : settings.backtrace_type, all_threads);
  if (!unknown.empty()) {
    log_warning("GASNET_BACKTRACE_TYPE names %.*s, which nobody knows; there are %s",
                static_cast<int>(unknown.size()), unknown.data(), kBacktraceTypes);
  }
  ErrorPolicy policy;
  policy.backtrace = settings.backtrace && settings.backtrace_nodes.holds(engine.rank);
  policy.freeze = settings.freeze_on_error;
  policy.backtrace_signal = settings.backtrace_signal;
  policy.freeze_signal = settings.freeze_signal;
  policy.left_alone = settings.no_catch_signals;
  set_error_policy(policy);
  if (settings.freeze) freeze("as GASNET_FREEZE asks");
}

Status prepare_trace(const Settings& settings) {
  TraceRequest request;
  request.rank = engine.rank;
  if (settings.trace_nodes.holds(engine.rank)) request.trace_file = settings.trace_file;
  if (settings.stats_nodes.holds(engine.rank)) request.stats_file = settings.stats_file;
  request.trace_letters = settings.trace_mask;
  request.stats_letters = settings.stats_mask;
  constexpr TraceLetters kNothing = letter_bit('W');
  for (const auto& [name, letters] : {std::pair{"GASNET_TRACEMASK", request.trace_letters},
                                      std::pair{"GASNET_STATSMASK", request.stats_letters}}) {
    if (letters != 0 && (letters & ~kNothing) == 0 && engine.rank == 0 && !settings.quiet)
      log_warning("%s: W records nothing: collectives are not traced", name);
  }
  request.flush = settings.trace_flush;
  request.local = settings.trace_local;
  return open_trace(request);
}

void report_settings(const Lookup& lookup) {
  if (!watches('I')) return;
  trace_line('I', "letter W records nothing: collectives are not traced");
  const std::string text = describe_environment(lookup);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    trace_line('I', "%.*s", static_cast<int>(end - at), text.c_str() + at);
    at = end + 1;
  }
}

namespace {

class TraceCounters final : public StatSink {
 public:
  explicit TraceCounters(const char* driver) noexcept : driver_(driver) {}
  void stat(const char* name, uint64_t value) noexcept override {
    trace_line('C', "%s.%s %llu", driver_, name, static_cast<unsigned long long>(value));
  }

 private:
  const char* driver_;
};

}  // namespace

void report_counters() noexcept {
  if (!watches('C')) return;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    TraceCounters sink(engine.drivers[d].label);
    engine.drivers[d].driver->stats(sink);
    if (demands[d] != nullptr) demands[d]->stats(sink);
  }
  for (const Report& report : kReports) {
    TraceCounters sink(report.name);
    report.tell(sink);
  }
}

}  // namespace pinwire
