#include "extended/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "am/progress.h"
#include "am/send.h"
#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/job/host.h"
#include "core/mode.h"
#include "extended/barrier.h"
#include "extended/connect.h"
#include "extended/exit.h"
#include "extended/ops.h"
#include "extended/reach.h"
#include "extended/transfer.h"

namespace pinwire {
namespace {

Job* the_job = nullptr;

constexpr uint64_t kPageBytes = 4096;

uint64_t bound_bytes(const MemoryBound& bound, uint32_t on_host) noexcept {
  const auto physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * kPageBytes;
  const double all = bound.fraction > 0 ? bound.fraction * static_cast<double>(physical)
                                        : static_cast<double>(bound.bytes);
  return static_cast<uint64_t>(bound.per_host ? all / on_host : all);
}

Status exchange_facts(Job& job, const char* config) {
  RankFacts mine{host_identity(), 0, hash_more(kHashStart, config, std::strlen(config)), getpid(), 0};
  // The limit depends on how many share the host, which only the exchange tells: send what is free
  // here, divide after.
  mine.segment_limit = segment_bytes_limit(1);
  const auto* bytes = reinterpret_cast<const std::byte*>(&mine);
  auto all = job.bootstrap->all_gather({bytes, sizeof mine});
  if (!all) return all.error();
  for (Rank rank = 0; rank < all->size(); ++rank) {
    const auto& theirs = (*all)[rank];
    RankFacts facts{};
    if (theirs.size() != sizeof facts) {
      return error(
          "rank %u sent %zu bytes of facts where %zu were expected; run the same build on every "
          "rank",
          rank, theirs.size(), sizeof facts);
    }
    std::memcpy(&facts, theirs.data(), sizeof facts);
    if (facts.config_hash != mine.config_hash) {
      return error(
          "rank %u was compiled with another threading mode, segment kind or release than rank "
          "%u (%s); compile and link all ranks alike",
          rank, engine.rank, config);
    }
    job.ranks.push_back(facts);
  }
  return success();
}

void set_segment_limits(Job& job) {
  job.segment_limit_global = ~uint64_t{0};
  for (Rank rank = 0; rank < job.ranks.size(); ++rank) {
    const auto on_host = static_cast<uint32_t>(
        std::count_if(job.ranks.begin(), job.ranks.end(),
                      [&](const RankFacts& other) { return other.host == job.ranks[rank].host; }));
    uint64_t limit = job.ranks[rank].segment_limit / on_host;
    limit = std::min(limit, bound_bytes(job.settings.max_segment, on_host));
    limit = std::max(limit / kPageBytes * kPageBytes, kPageBytes);
    if (rank == engine.rank) job.segment_limit_local = limit;
    job.segment_limit_global = std::min(job.segment_limit_global, limit);
  }
}

Status read_job_settings(Job& job) {
  // This process's own environment first: the launcher gives each rank its own interface, and a
  // program may have set something before gasnet_init.
  auto settings = read_settings([&](const char* name) -> const char* {
    const char* own = std::getenv(name);
    return own != nullptr ? own : job.bootstrap->job_environment(name);
  });
  if (!settings) return settings.error();
  job.settings = std::move(*settings);
  return success();
}

void choose_lanes(const Job& job) noexcept {
  engine.lane_count = kConcurrent ? std::clamp(job.settings.lanes, 1u, kLanesMax) : 1;
  const uint32_t processors = usable_processors();
  // Spinning ranks that outnumber the cores must yield at once, or each waits a time slice.
  engine.spins_max = ranks_on_host(job) > processors ? 0u : 20'000u;
  set_wait_mode(WaitMode::kSpin);
}

}  // namespace

Job* job() noexcept { return the_job; }

uint32_t ranks_on_host(const Job& job) noexcept {
  return static_cast<uint32_t>(std::count_if(
      job.ranks.begin(), job.ranks.end(),
      [&](const RankFacts& other) { return other.host == job.ranks[engine.rank].host; }));
}

Status job_init(SegmentKind kind, const char* config) {
  if (kind != SegmentKind::kFast) {
    return error(
        "this build pins whole segments (GASNET_SEGMENT_FAST); compile the client with "
        "-DGASNET_SEGMENT_FAST");
  }
  auto job = std::make_unique<Job>();
  auto bootstrap = make_bootstrap();
  if (!bootstrap) return bootstrap.error();
  job->bootstrap = std::move(*bootstrap);
  engine.rank = job->bootstrap->rank();
  engine.rank_count = job->bootstrap->rank_count();
  char host[64] = "this host";
  gethostname(host, sizeof host - 1);
  log_identity(engine.rank, engine.rank_count, host);
  if (auto read = read_job_settings(*job); !read) return read;
  if (auto exchanged = exchange_facts(*job, config); !exchanged) return exchanged;
  set_segment_limits(*job);
  choose_lanes(*job);
  the_job = job.release();
  prepare_exit();
  return success();
}

Status job_attach(HandlerEntry* table, size_t count, uint64_t segment_bytes) {
  Job& job = *the_job;
  if (auto registered = register_client(table, count); !registered) return registered;
  register_transfer_handlers();
  if (auto opened = open_drivers(job); !opened) return opened;
  job.segment_bytes = std::min(segment_bytes, job.segment_limit_local);
  auto memory = create_segment_memory(job.segment_bytes, job.settings.hugepages);
  if (!memory) return memory.error();
  job.segment = *memory;
  if (job.settings.verbose_env && job.segment_bytes != 0) {
    log_note("segment of %llu bytes at %p on %s",
             static_cast<unsigned long long>(job.segment_bytes),
             static_cast<void*>(job.segment.base), page_kind_name(job.segment.pages));
  }
  if (auto pinned = publish_segments(job); !pinned) return pinned;
  open_barrier(job.shm != nullptr && ranks_on_host(job) == engine.rank_count ? job.shm : nullptr);
  thread_ops();  // of this thread: nothing is allocated from here on
  job.attached = true;
  return job.bootstrap->barrier();
}

}  // namespace pinwire
