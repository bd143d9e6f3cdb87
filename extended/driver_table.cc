#include "extended/driver_table.h"

#include <string>

#ifdef PINWIRE_HAVE_DPDK
#include "extended/driver_dpdk.h"
#endif

namespace pinwire {
namespace {

using Make = Result<std::unique_ptr<Driver>> (*)(const Job&);
struct Entry {
  const char* name;
  DriverChoice choice;
  Make make;
};

#ifndef PINWIRE_HAVE_DPDK
Result<std::unique_ptr<Driver>> make_dpdk(const Job&) {
  return error("this build has no DPDK; install libdpdk-dev and configure again");
}
#endif

constexpr Entry kNetworkDrivers[] = {
    {"dpdk", DriverChoice::kDpdk, make_dpdk},
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
  return error("no driver reaches the other hosts of this job: %s", reasons.c_str());
}

}  // namespace pinwire
