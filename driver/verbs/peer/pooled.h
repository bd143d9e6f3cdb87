// A peer's state where the number of connections is bounded (GASNET_QP_MAX): it stays when they
// close, and tells whether the lane uses them, and how far their closing got (disconnect.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "driver/verbs/peer/disconnect.h"

namespace pinwire::verbs {

struct Pooled {
  // The lane's. Counts go on from connection to connection: whenever one closes, those of the two
  // ends agree.
  Traffic traffic;
  uint64_t requests_received = 0;
  /// The lane counts its uses of all peers; this is the number of the last of this one. Relaxed, as
  /// nothing depends on it but which connection is closed; the connector moves it on where it does
  /// not close.
  std::atomic<uint64_t> used_at{0};

  /// The lane writes it before Stage::kHeld, and the connector reads it afterwards.
  Traffic held_at;

  // The connector's.
  Disconnect protocol;
  std::optional<DisconnectMessage> pending;  ///< an ask that the lane has not looked at
  bool is_hold_wanted = false;               ///< the lane has been asked, and has not answered
  /// The lane's, while it has the connection: the device gave the peer up when nothing of the
  /// client's was under way. The client is told when it uses the connection.
  bool is_lost = false;
  uint32_t tries = 0;  ///< to close this connection
  uint64_t next_try_us = 0;
};

}  // namespace pinwire::verbs
