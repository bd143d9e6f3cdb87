#include "extended/debugging.h"

#include "core/base/log.h"
#include "core/debug/backtrace.h"
#include "core/debug/error_policy.h"
#include "core/debug/freeze.h"
#include "core/engine/engine.h"
#include "core/mode.h"
#include "core/tools/client_backtrace.h"

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

}  // namespace pinwire
