#include <map>

#include "core/base/check.h"
#include "extended/state/job.h"

namespace pinwire {

std::vector<RankPlace> place_ranks(const std::vector<RankFacts>& ranks,
                                   uint32_t supernode_maxsize) {
  struct Host {
    uint16_t index;
    uint16_t supernode;     // the one that is being filled
    uint32_t in_supernode;  // ranks in it
  };
  std::map<uint64_t, Host> hosts;
  std::vector<RankPlace> places;
  uint16_t supernode_count = 0;
  for (const RankFacts& rank : ranks) {
    const auto count = static_cast<uint16_t>(hosts.size());
    const auto [at, is_new] = hosts.try_emplace(rank.host, Host{count, 0, 0});
    Host& host = at->second;
    if (is_new || host.in_supernode == supernode_maxsize) {
      host.supernode = supernode_count++;
      host.in_supernode = 0;
    }
    // Without a limit the count stays at 1, which no 0 equals.
    host.in_supernode = supernode_maxsize == 0 ? 1 : host.in_supernode + 1;
    check(supernode_maxsize == 0 || host.in_supernode <= supernode_maxsize,
          "a supernode of too many ranks", host.in_supernode, supernode_maxsize);
    check(host.supernode < supernode_count, "a supernode that was not counted", host.supernode);
    places.push_back({host.index, host.supernode});
  }
  check(supernode_count >= hosts.size(), "a host without a supernode", supernode_count,
        hosts.size());
  return places;
}

}  // namespace pinwire
