#include "driver/verbs/lane/needs.h"

#include "driver/verbs/peer/address.h"

namespace pinwire::verbs {
namespace {

struct Need {
  const char* what;
  int has;
  uint32_t least;
};

}  // namespace

Status check_needs(const Device& device, const OpenInfo& info) {
  const ibv_device_attr& has = device.limits;
  const uint32_t lanes = info.lanes;
  const uint32_t shared_queues = device.shares_receives ? lanes * kLinksPerPeer : 0;
  // Numbers of objects: for one peer, and the datagrams. More are made as peers are met.
  const Need kObjects[] = {{"queue pairs", has.max_qp, lanes * kLinksPerPeer + 1},
                           {"completion queues", has.max_cq, lanes * 2 + 1},
                           {"shared receive queues", has.max_srq, shared_queues},
                           {"memory regions", has.max_mr, lanes * (3 + kLinksPerPeer) + 2}};
  for (const Need& need : kObjects) {
    if (need.has >= 0 && static_cast<uint32_t>(need.has) >= need.least) continue;
    return error("%s has %d %s, this rank needs at least %u with %u lanes; lower GASNET_LANES",
                 device.name.c_str(), need.has, need.what, need.least, lanes);
  }
  const Need kDepths[] = {{"requests in a queue pair", has.max_qp_wr, kDepthMin},
                          {"entries in a completion queue", has.max_cqe, 2 * kCompletionsKept},
                          {"buffers in a shared receive queue", has.max_srq_wr,
                           device.shares_receives ? kDepthMin : 0}};
  for (const Need& need : kDepths) {
    if (need.has >= 0 && static_cast<uint32_t>(need.has) >= need.least) continue;
    return error("%s holds %d %s, %u are needed; choose another device with GASNET_VERBS_DEVICE",
                 device.name.c_str(), need.has, need.what, need.least);
  }
  return success();
}

Status check_bound(const Device& device, uint32_t peers_max) {
  if (peers_max == 0) return success();
  if (device.is_iwarp) {
    return error("%s is an iWARP device, whose connections are made at start and stay: %s",
                 device.name.c_str(), kBoundAdvice);
  }
  if (device.shares_receives) return success();
  return error(
      "%s has no shared receive queues, or GASNET_USE_SRQ takes none, so that connections own the "
      "buffers of their messages and are not closed: %s",
      device.name.c_str(), kBoundAdvice);
}

}  // namespace pinwire::verbs
