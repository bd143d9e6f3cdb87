#include "extended/driver_table.h"

#include <algorithm>
#include <string>

namespace pinwire {
namespace {

struct Entry {
  const char* name;
  DriverChoice choice;
  Result<std::unique_ptr<Driver>> (*make)(const Job&);
};

constexpr Entry kNetworkDrivers[] = {
    {"verbs", DriverChoice::kVerbs, make_verbs_for},
    {"dpdk", DriverChoice::kDpdk, make_dpdk_for},
};

/// Whether every rank could make its own: they all take the same one.
Result<bool> works_everywhere(const Job& job, bool works_here) {
  const std::byte mine{works_here};
  auto all = job.bootstrap->all_gather({&mine, 1});
  if (!all) return all.error();
  return std::all_of(all->begin(), all->end(), [](const auto& bytes) {
    return bytes.size() == 1 && bytes[0] != std::byte{0};
  });
}

}  // namespace

Result<std::unique_ptr<Driver>> make_network_driver(const Job& job) {
  std::string reasons;
  for (const Entry& entry : kNetworkDrivers) {
    if (job.settings.driver != DriverChoice::kAuto && job.settings.driver != entry.choice) continue;
    auto driver = entry.make(job);
    auto everywhere = works_everywhere(job, driver.ok());
    if (!everywhere) return everywhere.error();
    if (*everywhere) return driver;
    reasons += std::string(reasons.empty() ? "" : "; ") + entry.name + ": " +
               (driver ? "another rank has none that works" : driver.sentence());
  }
  return error("no driver works for the peers that need a network: %s", reasons.c_str());
}

}  // namespace pinwire
