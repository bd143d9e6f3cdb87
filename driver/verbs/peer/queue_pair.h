// Reliable connections: making them, and bringing them to ready-to-send (IBA 10.3.1).
#pragma once

#include <array>
#include <cstdint>

#include "driver/verbs/device/device.h"
#include "driver/verbs/peer/queue_sizes.h"

namespace pinwire::verbs {

using QueuePair = Owned<ibv_qp, ibv_destroy_qp>;

/// Where a queue pair reports what it has done, and where its messages come to.
struct Queues {
  ibv_pd* domain;
  ibv_cq* send;
  ibv_cq* receive;
  ibv_srq* shared;         ///< nullptr: it has a receive queue of its own
  uint32_t receive_depth;  ///< of that
};

/// Reads and atomics that one connection may have under way at once.
uint8_t reads_max(const Device& device) noexcept;

/// In state INIT.
Result<QueuePair> make_queue_pair(const Device& device, const Queues& queues, QueueSizes& sizes);

/// The other end.
struct Remote {
  uint32_t queue_pair = 0;
  uint32_t psn = 0;  ///< where its packets start
  uint16_t lid = 0;
  std::array<uint8_t, 16> gid{};
  uint8_t mtu = 0;  ///< ibv_mtu
};

struct Patience {
  uint32_t timeout;
  uint32_t retry_count;
};

Status connect_queue_pair(const Device& device, ibv_qp* queue, const Remote& remote,
                          uint32_t own_psn, const Patience& patience);

}  // namespace pinwire::verbs
