// Reads the headers of frames on the loop wire, for tests that watch the frames of a NicGroup.
#pragma once

#include <gtest/gtest.h>

#include "nicfw/wire/wire.h"
#include "tests/support/nic_group.h"

namespace pinwire {

/// The header of the frame that a poll would see `index` frames from now.
inline FrameHeader header_at(LoopPort& port, uint32_t index) {
  FrameHeader header;
  const auto frame = port.peek(index);
  const RxFrame received{frame.data(), static_cast<uint32_t>(frame.size()), false, nullptr};
  EXPECT_EQ(
      parse_header(received, FrameKey(NicGroup::kJobKey, 0).job_tag(), kDefaultUdpPort, header),
      Reject::kNone);
  return header;
}

/// The credit that the last frame in a port's ring gives.
inline uint16_t last_credit(LoopPort& port) { return header_at(port, port.waiting() - 1).credit; }

}  // namespace pinwire
