#include "extended/driver_table.h"

#include <string>

namespace pinwire {
namespace {

struct Entry {
  const char* name;
  DriverChoice choice;
  Result<std::unique_ptr<Driver>> (*make)(const Job&);
};

constexpr Entry kNetworkDrivers[] = {
    {"dpdk", DriverChoice::kDpdk, make_dpdk_for},
};

}  // namespace

Result<std::unique_ptr<Driver>> make_network_driver(const Job& job) {
  std::string reasons;
  for (const Entry& entry : kNetworkDrivers) {
    if (job.settings.driver != DriverChoice::kAuto && job.settings.driver != entry.choice) continue;
    auto driver = entry.make(job);
    if (driver) return driver;
    reasons += std::string(reasons.empty() ? "" : "; ") + entry.name + ": " + driver.sentence();
  }
  return error("no driver works for the peers that need a network: %s", reasons.c_str());
}

}  // namespace pinwire
