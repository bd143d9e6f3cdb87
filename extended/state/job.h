// The state of a process's job: bootstrap, settings, ranks, drivers, segments. There is one such
// object; extended/job makes it, and it is never destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/descriptors/fd_passing.h"
#include "core/base/result.h"
#include "core/bootstrap/bootstrap.h"
#include "core/config/settings.h"
#include "driver/driver.h"
#include "driver/shm/shm.h"
#include "pin/budget.h"
#include "pin/strategy.h"
#include "segment/memory.h"

namespace pinwire {

/// The facts that are kept about every rank: few, as there may be many ranks.
struct RankFacts {
  uint64_t host;
  uint64_t numa_nodes;  ///< that its CPUs are of
  uint32_t processors;  ///< a hash of which ones it may run on
  int32_t pid;
};

/// The facts that every rank sends to every other once, at init.
struct RankTold {
  RankFacts facts;
  uint64_t segment_limit;
  uint64_t locked_limit;       ///< locked memory that is left; unlimited where no device pins
  uint32_t config_hash;        ///< of the client's GASNET_CONFIG_STRING: a mix is refused
  uint32_t supernode_maxsize;  ///< must be the same on all
  FdServerAddress fd_server;   ///< where peers of its host ask for its files
  uint32_t unused = 0;         ///< all bytes are sent
};

/// Where the ranks of a job are. A supernode shares memory: a host, or a part of it
/// (GASNET_SUPERNODE_MAXSIZE).
struct RankPlace {
  uint16_t host;       ///< counted from 0 by lowest rank; ranks are at most GASNET_MAXNODES
  uint16_t supernode;  ///< counted from 0 by lowest rank
};

struct Job {
  SegmentKind kind = SegmentKind::kFast;
  std::unique_ptr<Bootstrap> bootstrap;
  Settings settings;
  std::vector<RankFacts> ranks;
  std::vector<RankPlace> places;  ///< of all ranks
  uint64_t segment_limit_local = 0;
  uint64_t segment_limit_global = 0;
  bool is_pin_limited = false;  ///< the local one, by what may be pinned
  uint32_t ports_expected = 1;  ///< that will pin the segment, each for itself
  PinAllowance may_pin;
  std::vector<std::unique_ptr<Driver>> drivers;
  ShmDriver* shm = nullptr;  ///< when in use; `drivers` holds it, perhaps decorated
  uint32_t shm_index = 0;    ///< of the engine's drivers
  SegmentMemory segment;
  uint64_t segment_bytes = 0;
  bool attached = false;      ///< messages may be sent
  bool has_segments = false;  ///< and puts and gets to what is told of them
};

/// nullptr before publish_job(). Any context.
Job* job() noexcept;
/// Once, before any other thread or handler asks for it.
void publish_job(std::unique_ptr<Job> made) noexcept;

/// Ranks of the host that `rank` is on, itself included.
uint32_t ranks_on_host(const Job& job, Rank rank) noexcept;
/// This rank's place among those of its host.
uint32_t rank_on_host(const Job& job) noexcept;

/// Ranks of a host go into supernodes of at most `supernode_maxsize` in order; 0: into one.
std::vector<RankPlace> place_ranks(const std::vector<RankFacts>& ranks, uint32_t supernode_maxsize);

}  // namespace pinwire
