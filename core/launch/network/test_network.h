// N "hosts" on this one, for tests: a network namespace for each rank, joined by veth pairs and a
// bridge in one more. Nothing has a name outside, so nothing can be left behind: the kernel takes
// all of it down when the last process and descriptor are gone, however the launcher dies.
#pragma once

#include <string>
#include <vector>

#include "core/launch/network/netlink.h"
#include "driver/work.h"

namespace pinwire::launch {

class TestNetwork {
 public:
  static constexpr const char* kInterface = "pinwire0";  ///< in each rank's namespace

  /// Needs root. The caller must have one thread only, and stays in its own namespace.
  static Result<TestNetwork> make(Rank rank_count, uint32_t mtu_bytes);
  int namespace_of(Rank rank) const { return ranks_[rank].get(); }
  static EtherAddress address_of(Rank rank);

 private:
  TestNetwork() = default;
  Status build(Rank rank_count, uint32_t mtu_bytes);
  Status add_rank(Rank rank, Netlink& hub, uint32_t mtu_bytes);
  Fd hub_;
  std::vector<Fd> ranks_;
};

}  // namespace pinwire::launch
