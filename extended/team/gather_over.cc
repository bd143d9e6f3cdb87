#include "extended/team/gather_over.h"

#include <numeric>

#include "core/base/check.h"
#include "extended/coll/algorithms/gather_all.h"
#include "extended/coll/member/member.h"
#include "extended/coll/operation/start.h"

namespace pinwire {

void gather_equal(gex_TM_t tm, const void* mine, size_t bytes, void* all) noexcept {
  Collective& c = new_collective(tm, gather_all);
  c.src = mine;
  c.dst = all;
  c.bytes = bytes;
  run_collective(c);
}

std::vector<std::vector<std::byte>> gather_over(gex_TM_t tm, std::span<const std::byte> mine) {
  const std::vector<uint64_t> sizes = gather_values(tm, uint64_t{mine.size()});
  check(sizes[tm->rank] == mine.size(), "a member's own size comes back as another",
        sizes[tm->rank], mine.size());
  std::vector<std::byte> all(std::accumulate(sizes.begin(), sizes.end(), size_t{0}));
  Collective& c = new_collective(tm, gather_all);
  c.src = mine.data();
  c.dst = all.data();
  c.sizes = sizes.data();
  run_collective(c);
  std::vector<std::vector<std::byte>> parts;
  auto at = all.begin();
  for (const uint64_t size : sizes) {
    parts.emplace_back(at, at + static_cast<std::ptrdiff_t>(size));
    at += static_cast<std::ptrdiff_t>(size);
  }
  check(at == all.end(), "all that came is some member's");
  return parts;
}

void meet(gex_TM_t tm) noexcept {
  dcheck(tm->member != nullptr, "the members of a team that has ended meet");
  tm->member->barrier.of_team.pass();
}

}  // namespace pinwire
