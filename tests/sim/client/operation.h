// One operation that a client has in flight, and the buffers that it lends to the driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "driver/work.h"
#include "tests/sim/oracle/ledger.h"

namespace pinwire::sim {

inline constexpr uint64_t kOperationFenceBytes = 32;

struct Operation {
  bool used = false;
  bool accepted = false;
  bool criminal = false;  ///< must be refused
  uint32_t slot = 0;
  uint32_t lane = 0;
  Work work{};
  std::byte* buffer = nullptr;  ///< message_bytes_max, between fences
  uint64_t message = Message::kNone;
  uint64_t put = 0;
  uint64_t get = 0;
  uint32_t cell = 0;
  Lent lent{};            ///< the driver's memory in which the payload lies, if any
  uint64_t deadline = 0;  ///< of its Done, or, of a silent one, of the buffer's return
  AtomicOperands operands{};
  alignas(16) std::array<std::byte, kHeadBytesMax> head{};
};

/// A reply that its handler has not managed to post yet: copied by the driver, silent.
struct Reply {
  uint32_t lane = 0;
  Work work{};
  uint64_t message = Message::kNone;
  std::vector<std::byte> payload;
  alignas(16) std::array<std::byte, kHeadBytesMax> head{};
};

}  // namespace pinwire::sim
