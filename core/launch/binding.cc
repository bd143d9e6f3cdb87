#include "core/launch/binding.h"

#include <sched.h>

namespace pinwire::launch {

Result<std::vector<std::vector<int>>> bind_plan(Rank ranks, uint32_t cpus_per_rank) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &allowed)) cpus.push_back(cpu);
  const uint64_t wanted = uint64_t{ranks} * cpus_per_rank;
  if (wanted > cpus.size()) {
    return error(
        "%u ranks with %u cores each do not fit on the %zu cores of this host: fewer of them, or "
        "no --bind",
        ranks, cpus_per_rank, cpus.size());
  }
  std::vector<std::vector<int>> plan(ranks);
  for (Rank rank = 0; rank < ranks; ++rank)
    for (uint32_t i = 0; i < cpus_per_rank; ++i)
      plan[rank].push_back(cpus[rank * cpus_per_rank + i]);
  return plan;
}

}  // namespace pinwire::launch
