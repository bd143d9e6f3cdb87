#include "extended/drivers/table.h"

#include <algorithm>
#include <string>

#include "core/base/check.h"
#include "core/bootstrap/gather_values.h"

namespace pinwire {
namespace {

struct NetworkDriver {
  const char* name;
  DriverChoice choice;
  Result<Rails> (*make)(const Job&);
};

constexpr NetworkDriver kNetworkDrivers[] = {
    {"verbs", DriverChoice::kVerbs, make_verbs_for},
    {"dpdk", DriverChoice::kDpdk, make_dpdk_for},
};

}  // namespace

Result<size_t> rails_everywhere(const Job& job, size_t here) {
  auto all = gather_values(*job.bootstrap, static_cast<uint8_t>(here));
  if (!all) return all.error();
  return *std::min_element(all->begin(), all->end());
}

Result<Rails> make_network_rails(const Job& job) {
  std::string reasons;
  for (const NetworkDriver& entry : kNetworkDrivers) {
    if (job.settings.driver != DriverChoice::kAuto && job.settings.driver != entry.choice) continue;
    auto rails = entry.make(job);
    auto everywhere = rails_everywhere(job, rails ? rails->size() : 0);
    if (!everywhere) return everywhere.error();
    if (*everywhere != 0) {
      check(rails->size() >= *everywhere, "all ranks have more rails than this one", rails->size());
      rails->resize(*everywhere);
      return rails;
    }
    reasons += std::string(reasons.empty() ? "" : "; ") + entry.name + ": " +
               (rails ? "another rank has none that works" : rails.sentence());
  }
  return error("no driver works for the peers that need a network: %s", reasons.c_str());
}

}  // namespace pinwire
