#include "extended/state/job.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/engine/engine.h"

namespace pinwire {
namespace {

Job* the_job = nullptr;

}  // namespace

Job* job() noexcept { return the_job; }

void publish_job(std::unique_ptr<Job> made) noexcept {
  check(the_job == nullptr && made != nullptr, "a process has one job");
  the_job = made.release();
}

uint32_t ranks_on_host(const Job& job, Rank rank) noexcept {
  return static_cast<uint32_t>(
      std::count_if(job.ranks.begin(), job.ranks.end(),
                    [&](const RankFacts& other) { return other.host == job.ranks[rank].host; }));
}

uint32_t rank_on_host(const Job& job) noexcept {
  return static_cast<uint32_t>(std::count_if(
      job.ranks.begin(), job.ranks.begin() + engine.rank,
      [&](const RankFacts& other) { return other.host == job.ranks[engine.rank].host; }));
}

}  // namespace pinwire
