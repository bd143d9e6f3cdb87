// From the job's settings to the verbs drivers, one for each port that this rank uses.
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "driver/verbs/driver.h"
#include "extended/drivers/nearest_port.h"
#include "extended/drivers/table.h"

namespace pinwire {
namespace {

struct Chosen {
  std::string name;
  std::string description;
};

/// Whether any ranks go by shared memory, whose driver all open then (connect.cc).
bool shares_memory(const Job& job) {
  if (job.settings.driver != DriverChoice::kAuto) return false;
  std::vector<uint16_t> supernodes;
  for (const RankPlace& place : job.places) supernodes.push_back(place.supernode);
  std::sort(supernodes.begin(), supernodes.end());
  return std::adjacent_find(supernodes.begin(), supernodes.end()) != supernodes.end();
}

/// The rails that the user names; otherwise this rank's share of the nearest.
Result<std::vector<Chosen>> choose_rails(const Job& job) {
  const size_t rails_max = kDriversMax - (shares_memory(job) ? 1 : 0);
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
    chosen.push_back(
        {port.name, port.pci_address.empty() ? "a device in software" : device.description});
  }
  chosen.resize(std::min(chosen.size(), rails_max));
  return chosen;
}

/// GASNET_GID for each rail: a list names one each, a single index is meant for all.
Result<std::vector<std::string>> choose_gids(const std::string& wanted,
                                             const std::vector<Chosen>& rails) {
  std::vector<std::string> gids;
  for (size_t at = 0; at <= wanted.size();) {
    const size_t end = std::min(wanted.find(',', at), wanted.size());
    gids.push_back(wanted.substr(at, end - at));
    at = end + 1;
  }
  if (gids.size() == rails.size()) return gids;
  const bool is_address = wanted.find_first_not_of("0123456789") != std::string::npos;
  if (gids.size() == 1 && !is_address) {
    gids.resize(rails.size(), wanted);
    return gids;
  }
  std::string names;
  for (const Chosen& rail : rails) names += (names.empty() ? "" : ",") + rail.name;
  return error(
      "GASNET_GID=%s names %zu address%s, and this rank uses %zu port%s, %s; name one for each, "
      "separated by commas, in the order of GASNET_VERBS_DEVICE=%s, or an index for all",
      wanted.c_str(), gids.size(), gids.size() == 1 ? "" : "es", rails.size(),
      rails.size() == 1 ? "" : "s", names.c_str(), names.c_str());
}

/// GASNET_USE_SRQ, as GASNet-EX reads it.
bool shares_receives(int ranks_min, Rank rank_count) noexcept {
  return ranks_min < 0 || (ranks_min > 0 && static_cast<Rank>(ranks_min) <= rank_count);
}

}  // namespace

Result<Rails> make_verbs_for(const Job& job) {
  const Settings& settings = job.settings;
  auto chosen = choose_rails(job);
  if (!chosen) return chosen.error();
  auto gids = choose_gids(settings.gid, *chosen);
  if (!gids) return gids.error();
  Rails rails;
  for (const Chosen& port : *chosen) {
    if (settings.verbose_env) {
      log_note("verbs: rail %zu is %s: %s", rails.size(), port.name.c_str(),
               port.description.c_str());
    }
    VerbsOptions options;
    options.device = port.name;
    options.gid = (*gids)[rails.size()];
    options.pkey = settings.ibv_pkey;
    options.service_level = settings.ibv_service_level;
    options.traffic_class = settings.ibv_traffic_class;
    options.timeout = settings.qp_timeout;
    options.retry_count = settings.qp_retry_count;
    options.pages_on_demand = settings.use_odp && job.kind == SegmentKind::kEverything;
    options.shares_receives = shares_receives(settings.srq_ranks_min, engine.rank_count);
    options.peers_max = settings.qp_max;
    options.fences_puts = settings.verbs_fence;
    options.confirms_puts = settings.verbs_confirm;
    options.connect_timeout_s = settings.connect_timeout_s;
    options.show_story = settings.verbose_env && engine.rank == 0;
    auto driver = make_verbs_driver(options);
    if (!driver) return driver.error();
    rails.push_back(std::move(*driver));
  }
  return rails;
}

size_t count_verbs_rails(const Job& job) {
  auto chosen = choose_rails(job);
  return chosen ? chosen->size() : 0;
}

}  // namespace pinwire
