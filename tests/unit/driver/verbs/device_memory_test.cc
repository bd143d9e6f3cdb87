// Memory that no CPU of these processes can touch, known by a dma-buf: every byte of it is moved by
// the device.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class DeviceMemory : public TwoHosts {
 protected:
  static constexpr uint64_t kBytes = 64 << 10;

  /// Rank 0's; `seen` is where the test looks at the same bytes.
  void SetUp() override {
    connect();
    file_ = memfd_create("device", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file_, kBytes), 0);
    memory = static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED, file_, 0));
    seen = static_cast<std::byte*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    ASSERT_TRUE(memory != MAP_FAILED && seen != MAP_FAILED);
  }
  ~DeviceMemory() override {
    munmap(memory, kBytes);
    munmap(seen, kBytes);
    close(file_);
  }

  Region pin() {
    auto pinned = at(0).pin_device(memory, kBytes, file_);
    EXPECT_TRUE(pinned.ok()) << pinned.sentence();
    return pinned.ok() ? *pinned : Region{};
  }
  /// Between device memory here and rank 1's host memory, at `offset` of both.
  void move(Op op, const Region& region, uint64_t offset, uint64_t bytes) {
    Work work = put(memory + offset, bytes, region.local_key);
    work.op = op;
    work.flags = kWorkDevice;
    work.remote += offset;
    const size_t before = done_.size();
    turn_until([&] { return at(0).post(0, {&work, 1}) == 1; });
    turn_until([&] { return done_.size() == before + 1; });
    EXPECT_EQ(done_.back().status, WorkStatus::kOk);
  }

  int file_ = -1;
  std::byte* memory = nullptr;
  std::byte* seen = nullptr;
};

// The smallest are inlined where the CPU may read them.
TEST_F(DeviceMemory, PutsOfAnySizeLeaveItInPlace) {
  const Region region = pin();
  for (uint64_t bytes : {1, 8, 64, 200, 3000, 40'000}) {
    for (uint64_t i = 0; i < bytes; ++i) seen[7 + i] = std::byte(bytes + i * 13);
    move(Op::kPut, region, 7, bytes);
    EXPECT_EQ(std::memcmp(memory_[1].data() + 7, seen + 7, bytes), 0) << bytes;
  }
}

TEST_F(DeviceMemory, GetsOfAnySizeComeIntoIt) {
  const Region region = pin();
  for (uint64_t bytes : {1, 8, 64, 200, 3000, 40'000}) {
    for (uint64_t i = 0; i < bytes; ++i) memory_[1][9 + i] = std::byte(bytes * 3 + i * 7);
    move(Op::kGet, region, 9, bytes);
    EXPECT_EQ(std::memcmp(memory_[1].data() + 9, seen + 9, bytes), 0) << bytes;
  }
}

TEST_F(DeviceMemory, PeersReachItByItsKey) {
  const Region region = pin();
  std::memset(memory_[1].data(), 0x5a, 5000);
  Work work = put(memory_[1].data(), 5000, regions_[1].local_key);
  work.peer = 0;
  work.remote = region.base + 100;
  work.remote_key = region.remote_key;
  turn_until([&] { return at(1).post(0, {&work, 1}) == 1; });
  turn_until([&] {
    turn(1);
    return seen[5099] == std::byte{0x5a};
  });
  EXPECT_EQ(seen[99], std::byte{0});
  EXPECT_EQ(seen[100], std::byte{0x5a});
  EXPECT_EQ(seen[5100], std::byte{0});
}

TEST_F(DeviceMemory, UnpinningTakesItBack) {
  const Region region = pin();
  EXPECT_TRUE(at(0).unpin(region).ok());
  const Region again = pin();
  EXPECT_TRUE(at(0).unpin(again).ok());
}

TEST_F(DeviceMemory, WhatIsNoDmabufIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto refused = at(0).pin_device(memory, kBytes, ends[0]);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.sentence().find("cannot register the dma-buf of 65536 bytes"),
            std::string::npos)
      << refused.sentence();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace pinwire
