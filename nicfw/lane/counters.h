// The counters of one lane, by name: written by the thread that has the lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/counter.h"
#include "nicfw/wire/wire.h"

namespace pinwire {

enum class Count : uint8_t {
  kFramesSent,
  kFramesReceived,
  kBytesSent,
  kBytesReceived,
  kMessagesSent,
  kMessagesReceived,
  kAcksSent,
  kRetransmits,
  kTimeouts,
  kLateAsks,
  kPortBusy,
  kPostRefused,
  kCreditStalls,
  kCreditProbes,
  kPathProbes,
  kPathHoles,
  kFramesInPieces,
  kTxCopiedBytes,
  kTxZeroCopyBytes,
  kRxPlacedBytes,
  kGetsServed,
  kAtomicsServed,
  kCount
};

struct Counters {
  Counter counts[static_cast<size_t>(Count::kCount)];
  Counter drops[static_cast<size_t>(Reject::kCount)];

  void add(Count what, uint64_t amount = 1) noexcept {
    counts[static_cast<size_t>(what)] += amount;
  }
  void add(Reject why) noexcept { ++drops[static_cast<size_t>(why)]; }
};

inline constexpr const char* kCountNames[] = {
    "frames_sent",      "frames_received",   "bytes_sent",         "bytes_received",
    "messages_sent",    "messages_received", "acks_sent",          "retransmits",
    "timeouts",         "late_asks",         "port_busy",          "post_refused",
    "credit_stalls",    "credit_probes",     "path_probes",        "path_holes",
    "frames_in_pieces", "tx_copied_bytes",   "tx_zero_copy_bytes", "rx_placed_bytes",
    "gets_served",      "atomics_served"};
static_assert(sizeof kCountNames / sizeof kCountNames[0] == static_cast<size_t>(Count::kCount));

}  // namespace pinwire
