// The network behind a simulated port.
#pragma once

#include <cstdint>

#include "driver/work.h"
#include "nicfw/port/port.h"

namespace pinwire::sim {

class Wire {
 public:
  virtual ~Wire() = default;
  /// Puts a frame on the wire; answers when it leaves the transmit ring, in ns of virtual time.
  virtual uint64_t send(Rank from, const TxFrame& frame) = 0;
  /// The memory behind `key` goes: frames under way take their copy now.
  virtual void settle(Rank from, uint32_t key) = 0;
  /// A port will take no frame for `ns`.
  virtual void note_full(uint64_t ns) = 0;
  /// That many frames were overtaken, and are acknowledged late (overtaken.h).
  virtual void note_overtaken(uint64_t frames) = 0;
};

}  // namespace pinwire::sim
