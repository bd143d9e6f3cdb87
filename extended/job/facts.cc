#include "extended/job/facts.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "core/base/descriptors/fd_passing.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/threads/cpus.h"
#include "core/bootstrap/gather_values.h"
#include "core/engine/engine.h"
#include "core/job/host.h"
#include "core/topo/numa.h"
#include "extended/segments/limits.h"

namespace pinwire {
namespace {

/// Every rank knows every hash: if they differ, all know it, and all send what it is of.
Status compare_configs(const Job& job, const std::vector<RankTold>& told, const char* config) {
  const uint64_t mine = told[engine.rank].config_hash;
  const auto is_mine = [mine](const RankTold& rank) { return rank.config_hash == mine; };
  const auto other = std::find_if_not(told.begin(), told.end(), is_mine);
  if (other == told.end()) return success();
  auto all =
      job.bootstrap->all_gather({reinterpret_cast<const std::byte*>(config), std::strlen(config)});
  if (!all) return all.error();
  const auto rank = static_cast<Rank>(other - told.begin());
  const auto& theirs = (*all)[rank];
  return error("rank %u was compiled for %.*s, this rank for %s; compile and link all ranks alike",
               rank, static_cast<int>(theirs.size()), reinterpret_cast<const char*>(theirs.data()),
               config);
}

/// A supernode's ranks map each other's segments (GX-167), except where all transfers go by a
/// network.
bool maps_peers(const Settings& settings) noexcept {
  return settings.driver == DriverChoice::kAuto || settings.driver == DriverChoice::kShm;
}

/// A process whose files the kernel hides from its peers gives them out itself.
FdServerAddress serve_if_hidden(uint64_t job_key) {
  if (!are_files_hidden()) return 0;
  auto server = start_fd_server(job_key);
  if (server) return *server;
  log_warning("peers cannot be given this rank's memory: %s", server.sentence().c_str());
  return 0;
}

}  // namespace

Status exchange_facts(Job& job, const char* config) {
  const Settings& settings = job.settings;
  const std::vector<uint32_t> cpus = usable_cpus();
  RankTold mine{
      {host_identity(settings.host_detect), Numa().nodes_of(cpus),
       hash_fold(hash_more(kHashStart, cpus.data(), cpus.size() * sizeof cpus[0])), getpid()},
      0,
      0,
      hash_fold(hash_more(kHashStart, config, std::strlen(config))),
      settings.supernode_maxsize,
      serve_if_hidden(job.bootstrap->job_key())};
  state_limits(job, mine);
  auto all = gather_values(*job.bootstrap, mine);
  if (!all) return all.error();
  const std::vector<RankTold>& told = *all;
  check(told.size() == engine.rank_count, "an exchange without the facts of each rank", told.size(),
        engine.rank_count);
  check(job.ranks.empty(), "the facts of the ranks are exchanged twice", job.ranks.size());
  for (Rank rank = 0; rank < told.size(); ++rank) {
    if (told[rank].supernode_maxsize != mine.supernode_maxsize) {
      return error("GASNET_SUPERNODE_MAXSIZE is %u on rank %u and %u here; set it alike everywhere",
                   told[rank].supernode_maxsize, rank, mine.supernode_maxsize);
    }
    job.ranks.push_back(told[rank].facts);
    if (rank != engine.rank && told[rank].facts.host == mine.facts.host)
      learn_fd_server(told[rank].facts.pid, told[rank].fd_server, job.bootstrap->job_key());
  }
  if (auto alike = compare_configs(job, told, config); !alike) return alike;
  job.places = place_ranks(job.ranks, maps_peers(settings) ? settings.supernode_maxsize : 1);
  return set_segment_limits(job, told);
}

}  // namespace pinwire
