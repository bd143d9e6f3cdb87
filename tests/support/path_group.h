// Two ranks on a wire whose path may carry shorter frames than the ports at its ends.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/nic_group.h"

namespace pinwire {

inline constexpr uint64_t kSecond = 1'000'000'000;
inline constexpr uint64_t kMillisecond = 1'000'000;
inline constexpr uint32_t kPortBytes = 9014;
inline constexpr uint32_t kPathBytes = 1514;

struct Heard final : NoticeSink {
  std::vector<std::string> sentences;
  void say(const char* sentence) noexcept override { sentences.emplace_back(sentence); }
};

/// Two ranks with ports for frames of 9,014 bytes.
class PathGroup : public testing::Test {
 protected:
  explicit PathGroup(uint32_t lanes = 1)
      : group({.frame_bytes_max = kPortBytes, .lanes = lanes, .config = {.notices = &heard}}) {}

  void narrow() { group.port(1).set_path_bytes(kPathBytes); }
  void widen() { group.port(1).set_path_bytes(0); }

  /// Puts `bytes` from rank 0 into rank 1; the virtual time that it took.
  uint64_t put(size_t bytes, uint8_t flags = 0) {
    const auto source = byte_pattern(bytes, bytes + flags);
    std::vector<uint8_t> target(bytes);
    const Region region = group.pin(1, target.data(), bytes);
    Work work = put_work(1, source.data(), bytes, target.data(), region.remote_key);
    work.flags = flags;
    for (int i = 0; i < 100 && !group.post(0, work); ++i) group.run(1, 0, 10'000);
    const uint64_t took_ns = wait_for_done(10 * kSecond);
    EXPECT_EQ(source, target);
    EXPECT_TRUE(group.nic(1).unpin(region).ok());
    return took_ns;
  }

  /// Puts go in long frames.
  void expect_wide() {
    const uint64_t frames = group.stat(0, "frames_sent");
    put(80'000);
    EXPECT_LE(group.stat(0, "frames_sent"), frames + 10);
  }

  uint64_t wait_for_done(uint64_t limit_ns) {
    uint64_t waited_ns = 0;
    constexpr uint64_t kStepNs = 10'000;
    while (group.dones(0).empty() && waited_ns < limit_ns) {
      group.run(1, 0, kStepNs);
      waited_ns += kStepNs;
    }
    EXPECT_LT(waited_ns, limit_ns) << "it never ended";
    return waited_ns;
  }

  /// Sends `bytes` from rank 0, and returns what rank 1 got.
  std::vector<uint8_t> send(const std::vector<uint8_t>& payload, uint8_t flags) {
    Work work = send_work(1, MessageClass::kRequest, nullptr, 0);
    work.flags = flags;
    work.local = const_cast<uint8_t*>(payload.data());
    work.bytes = payload.size();
    EXPECT_TRUE(group.post(0, work));
    std::vector<uint8_t> got;
    for (int i = 0; i < 100'000 && got.empty(); ++i) {
      group.poll(0);
      Recv recv[1];
      if (group.nic(1).recv(0, RecvFilter::kAll, recv) == 1) {
        const auto* first = reinterpret_cast<const uint8_t*>(recv[0].data);
        got.assign(first, first + recv[0].bytes);
        group.nic(1).give_back(0, recv);
      }
      group.clock().advance(10'000);
    }
    for (int i = 0; i < 100'000 && !group.nic(0).drained(0); ++i) group.run(1, 0, 10'000);
    group.dones(0);
    return got;
  }

  Heard heard;
  NicGroup group;
};

}  // namespace pinwire
