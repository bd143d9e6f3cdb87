// The state that the lanes of a driver and its connector share.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/descriptors/event_fd.h"
#include "driver/driver.h"
#include "driver/failure_note.h"
#include "driver/verbs/device/device.h"
#include "driver/verbs/lane/outage.h"
#include "driver/verbs/peer/address.h"
#include "driver/verbs/peer/queue_sizes.h"

namespace pinwire::verbs {

/// Constant from connect to close, but the failure and the outage.
struct Shared {
  VerbsOptions options;
  Device device;
  OpenInfo info;
  FailureNote failure;
  Outage outage;
  std::vector<Place> places;  ///< of all ranks
  int connector_fd = -1;      ///< an eventfd that the connector's thread sleeps on; -1: it has none
  bool confirms_puts = false;                        ///< each that somebody waits for
  ibv_wr_opcode send_opcode = IBV_WR_SEND_WITH_IMM;  ///< the immediate data: the sender's rank
  QueueSizes sizes;           ///< of every connection; inline_bytes as the device gives them
  uint32_t inline_bytes = 0;  ///< what is sent inline
  uint32_t window = 0;        ///< requests under way to one peer
  uint32_t peers_max = 0;     ///< connected at a lane, as far as they can be closed; 0: no bound

  /// A lane has invited a rank or answered a hold, or the connector ends. Any thread.
  void wake_connector() const noexcept {
    if (connector_fd >= 0) ring_event_fd(connector_fd);
  }
};

}  // namespace pinwire::verbs
