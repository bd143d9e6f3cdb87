// From the job's settings to the verbs drivers, one for each port that this rank uses.
#include <algorithm>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "driver/verbs/driver.h"
#include "extended/driver_table.h"
#include "extended/nearest_port.h"

namespace pinwire {
namespace {

struct Chosen {
  std::string name;
  std::string story;
};

/// Those that the user names; else this rank's share of the nearest.
Result<std::vector<Chosen>> choose_rails(const Job& job) {
  const size_t rails_max = kDriversMax - engine.driver_count;
  auto ports = find_verbs_ports(job.settings.verbs_device);
  if (!ports) return ports.error();
  std::vector<Chosen> chosen;
  if (!job.settings.verbs_device.empty()) {
    if (ports->size() > rails_max) {
      return error("GASNET_VERBS_DEVICE names %zu ports; a rank uses at most %zu", ports->size(),
                   rails_max);
    }
    for (const VerbsPort& port : *ports)
      chosen.push_back({port.name, "as GASNET_VERBS_DEVICE says"});
    return chosen;
  }
  std::vector<std::string> addresses;
  for (const VerbsPort& port : *ports) addresses.push_back(port.pci_address);
  for (const NearestDevice& device : near_devices(job, addresses)) {
    const VerbsPort& port = (*ports)[device.index];
    chosen.push_back({port.name, port.pci_address.empty() ? "a device in software" : device.story});
  }
  chosen.resize(std::min(chosen.size(), rails_max));
  return chosen;
}

}  // namespace

Result<Rails> make_verbs_for(const Job& job) {
  const Settings& settings = job.settings;
  auto chosen = choose_rails(job);
  if (!chosen) return chosen.error();
  Rails rails;
  for (const Chosen& port : *chosen) {
    if (settings.verbose_env) {
      log_note("verbs: rail %zu is %s: %s", rails.size(), port.name.c_str(), port.story.c_str());
    }
    VerbsOptions options;
    options.device = port.name;
    options.gid = settings.gid;
    options.timeout = settings.qp_timeout;
    options.retry_count = settings.qp_retry_count;
    options.fences_puts = settings.verbs_fence;
    options.connect_timeout_s = settings.connect_timeout_s;
    options.show_story = settings.verbose_env && engine.rank == 0;
    auto driver = make_verbs_driver(options);
    if (!driver) return driver.error();
    rails.push_back(std::move(*driver));
  }
  return rails;
}

}  // namespace pinwire
