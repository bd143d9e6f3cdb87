#include "core/launch/network/test_network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>

namespace pinwire::launch {
namespace {

constexpr const char* kBridge = "br0";

Result<Fd> this_namespace() {
  Fd fd(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!fd) return error("cannot open this network namespace: %s", std::strerror(errno));
  return fd;
}

/// Moves this process into a namespace without anything in it.
Result<Fd> enter_new_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) {
    return error("cannot make a network namespace: %s%s", std::strerror(errno),
                 errno == EPERM ? " (-spawner=netns needs root)" : "");
  }
  // No neighbour discovery among the frames. (A kernel without IPv6 has none anyway.)
  const Fd file(::open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC));
  if (file) [[maybe_unused]]
    const auto wrote = ::write(file.get(), "1", 1);
  return this_namespace();
}

Status enter(const Fd& where) {
  if (::setns(where.get(), CLONE_NEWNET) == 0) return success();
  return error("cannot enter a network namespace: %s", std::strerror(errno));
}

}  // namespace

EtherAddress TestNetwork::address_of(Rank rank) {
  // Locally administered, unicast, one for each rank.
  return {0x02,
          0x50,
          static_cast<uint8_t>(rank >> 24),
          static_cast<uint8_t>(rank >> 16),
          static_cast<uint8_t>(rank >> 8),
          static_cast<uint8_t>(rank)};
}

Result<TestNetwork> TestNetwork::make(Rank rank_count, uint32_t mtu_bytes) {
  auto home = this_namespace();
  if (!home) return home.error();
  TestNetwork network;
  auto built = network.build(rank_count, mtu_bytes);
  auto back = enter(*home);
  // A process that may not leave its namespace may not come back either: the first failure counts.
  if (!built) return built.error();
  if (!back) return back.error();
  return network;
}

Status TestNetwork::build(Rank rank_count, uint32_t mtu_bytes) {
  auto hub = enter_new_namespace();
  if (!hub) return hub.error();
  hub_ = std::move(*hub);
  auto netlink = Netlink::open();
  if (!netlink) return netlink.error();
  if (auto made = netlink->add_bridge(kBridge); !made) return made;
  for (Rank rank = 0; rank < rank_count; ++rank)
    if (auto added = add_rank(rank, *netlink, mtu_bytes); !added) return added;
  return netlink->bring_up(kBridge);
}

Status TestNetwork::add_rank(Rank rank, Netlink& hub, uint32_t mtu_bytes) {
  auto own = enter_new_namespace();
  if (!own) return own.error();
  auto netlink = Netlink::open();
  if (!netlink) return netlink.error();
  if (auto up = netlink->bring_up("lo"); !up) return up;
  const std::string port = "rank" + std::to_string(rank);
  if (auto made = hub.add_veth(port, kInterface, address_of(rank), mtu_bytes, own->get()); !made)
    return made;
  if (auto up = netlink->bring_up(kInterface); !up) return up;
  if (auto entered = enter(hub_); !entered) return entered;  // an interface's index is found here
  if (auto joined = hub.join_bridge(port, kBridge); !joined) return joined;
  if (auto up = hub.bring_up(port); !up) return up;
  ranks_.push_back(std::move(*own));
  return success();
}

}  // namespace pinwire::launch
