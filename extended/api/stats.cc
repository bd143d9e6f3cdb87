// pinwire.h: counters and facts of the running job.
#include "am/interrupts/interrupts.h"
#include "am/reports.h"
#include "core/api_types.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "extended/api/kept_names.h"
#include "extended/state/job.h"
#include "pin/demand.h"

using namespace pinwire;

namespace {

/// Several times what the counters of all drivers together need, some 250 names.
constexpr size_t kNamesBytesMax = 64 << 10;
constinit char names_memory[kNamesBytesMax] = {};
constinit KeptNames counter_names(names_memory);

class Collect final : public StatSink {
 public:
  Collect(const char* driver, pinwire_stat_t* out, size_t room, size_t& count)
      : driver_(driver), out_(out), room_(room), count_(count) {}
  void stat(const char* name, uint64_t value) noexcept override {
    if (count_ < room_) out_[count_] = {kept(name), value};
    ++count_;
  }

 private:
  const char* kept(const char* name) const noexcept {
    const char* at = counter_names.keep(driver_, name);
    check(at != nullptr, "more names of counters than there is memory for", kNamesBytesMax);
    return at;
  }

  const char* driver_;
  pinwire_stat_t* out_;
  size_t room_;
  size_t& count_;
};

}  // namespace

extern "C" {

size_t pinwire_stats(pinwire_stat_t* out, size_t room) {
  const RareCall inside;
  size_t count = 0;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Driver& driver = *engine.drivers[d].driver;
    Collect sink(engine.drivers[d].label, out, room, count);
    driver.stats(sink);
    if (demands[d] != nullptr) demands[d]->stats(sink);
  }
  for (const Report& report : kReports) {
    Collect sink(report.name, out, room, count);
    report.tell(sink);
  }
  return count;
}

const char* pinwire_driver_name(gasnet_node_t peer) {
  if (engine.routes == nullptr || peer >= engine.rank_count) return "none";
  const Driver* driver = engine.routes[peer].driver;
  return driver == nullptr ? "self" : driver->name();
}

const char* pinwire_dispatch() {
  static constexpr const char* kNames[] = {"poll", "interrupt", "watchdog", "thread", "nicproc"};
  const DispatchMode mode = job() == nullptr ? DispatchMode::kPoll : job()->settings.dispatch;
  return kNames[static_cast<size_t>(mode)];
}

uint32_t pinwire_network_depth() { return job() == nullptr ? 0 : job()->settings.network_depth; }
uint32_t pinwire_lanes() { return engine.lane_count; }
uint32_t pinwire_my_lane() {
  const RareCall inside;
  return engine.thread().lane;
}

}  // extern "C"
