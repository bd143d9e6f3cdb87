#include "tests/sim/fabric/nics.h"

#include "core/base/check.h"

namespace pinwire::sim {

NicConfig config_of(const Scenario& scenario, Rank rank) {
  NicConfig config = scenario.nic;
  config.seed += rank;
  return config;
}

std::unique_ptr<Driver> open_nic(const Scenario& scenario, Rank rank, Fabric& fabric,
                                 Schedule& schedule) {
  auto nic = make_nic(fabric.port(rank), schedule, config_of(scenario, rank));
  const OpenInfo info{.rank = rank,
                      .rank_count = scenario.ranks,
                      .job_key = 7,
                      .network_depth = scenario.network_depth};
  check(nic->open(info).ok(), "open");
  return nic;
}

std::vector<std::unique_ptr<Driver>> connected_nics(const Scenario& scenario, Fabric& fabric,
                                                    Schedule& schedule) {
  std::vector<std::unique_ptr<Driver>> nics;
  for (Rank rank = 0; rank < scenario.ranks; ++rank) {
    nics.push_back(open_nic(scenario, rank, fabric, schedule));
  }
  for (const auto& nic : nics) {
    for (Rank peer = 0; peer < scenario.ranks; ++peer) {
      check(nic->connect(peer, nics[peer]->address()).ok(), "connect");
    }
  }
  return nics;
}

double jain(std::span<const uint64_t> shares) {
  double sum = 0;
  double squares = 0;
  for (const uint64_t share : shares) {
    const auto value = static_cast<double>(share);
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum * sum / (squares * static_cast<double>(shares.size())) : 0;
}

}  // namespace pinwire::sim
