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
  check(the_job == nullptr, "a process has one job");
  check(made != nullptr, "a job without its state");
  check(made->ranks.size() == engine.rank_count, "a job that does not know all of its ranks",
        made->ranks.size(), engine.rank_count);
  check(made->places.size() == made->ranks.size(), "a rank without a place", made->places.size());
  the_job = made.release();
}

uint32_t ranks_on_host(const Job& job, Rank rank) noexcept {
  check(rank < job.ranks.size(), "a rank that the job has not", rank, job.ranks.size());
  return static_cast<uint32_t>(
      std::count_if(job.ranks.begin(), job.ranks.end(),
                    [&](const RankFacts& other) { return other.host == job.ranks[rank].host; }));
}

uint32_t rank_on_host(const Job& job) noexcept {
  check(engine.rank < job.ranks.size(), "this rank is none of the job's", engine.rank);
  return static_cast<uint32_t>(std::count_if(
      job.ranks.begin(), job.ranks.begin() + engine.rank,
      [&](const RankFacts& other) { return other.host == job.ranks[engine.rank].host; }));
}

}  // namespace pinwire
