#include "driver/shm/cma.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "tests/support/scatter_list.h"

namespace pinwire::shm {
namespace {

constexpr uint64_t kPageBytes = 4096;
std::byte of_both[100'000];  // at one address in either process, but not the same memory

/// A process that does nothing but have memory: two pages, a gap, one that may only be read.
class CmaMemory : public testing::Test {
 protected:
  void SetUp() override {
    pages_ = static_cast<std::byte*>(
        mmap(nullptr, 4 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(pages_), MAP_FAILED);
    munmap(pages_ + 2 * kPageBytes, kPageBytes);
    mprotect(pages_ + 3 * kPageBytes, kPageBytes, PROT_READ);
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      allow_cma();
      for (;;) pause();
    }
    uint64_t word = 0;
    const CmaCopy tried = read_by_cma(child_, at(of_both), &word, sizeof word);
    if (tried.reason == EPERM || tried.reason == ENOSYS) {
      GTEST_SKIP() << "the kernel does not let a process reach another's memory: "
                   << std::strerror(tried.reason);
    }
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(pages_, 4 * kPageBytes);
  }
  static uint64_t at(const std::byte* address) { return reinterpret_cast<uint64_t>(address); }

  pid_t child_ = -1;
  std::byte* pages_ = nullptr;
};

TEST_F(CmaMemory, GoesThereAndBackInWhole) {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4097}, uint64_t{sizeof of_both}}) {
    std::vector<std::byte> sent(bytes), back(bytes);
    for (uint64_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + bytes);
    const CmaCopy written = write_by_cma(child_, at(of_both), sent.data(), bytes);
    EXPECT_EQ(written.reason, 0) << std::strerror(written.reason);
    EXPECT_EQ(written.left, 0u);
    EXPECT_EQ(read_by_cma(child_, at(of_both), back.data(), bytes).reason, 0);
    EXPECT_EQ(back, sent);
    EXPECT_EQ(of_both[bytes / 2], std::byte{0}) << "this is this process's own";
  }
}

/// More pieces than one system call takes, at ever other distances.
TEST_F(CmaMemory, PiecesOfAListGoEachWhereItSays_VIS_007) {
  ScatterList list(8192);
  constexpr uint32_t kPieces = 300;
  uint64_t offset = 0;
  std::vector<uint64_t> offsets;
  for (uint32_t i = 0; i < kPieces; ++i) {
    const std::byte data[3] = {std::byte(i), std::byte(i >> 8), std::byte{7}};
    offsets.push_back(offset);
    ASSERT_TRUE(list.add(of_both + offset, data, 1 + i % 3));
    offset += 4 + i % 5;
  }
  const CmaCopy written =
      scatter_by_cma(child_, list.writer().base(), list.bytes(), list.writer().bytes());
  EXPECT_EQ(written.reason, 0) << std::strerror(written.reason);
  std::vector<std::byte> back(offset), expected(offset);
  EXPECT_EQ(read_by_cma(child_, at(of_both), back.data(), offset).reason, 0);
  for (uint32_t i = 0; i < kPieces; ++i) {
    const std::byte data[3] = {std::byte(i), std::byte(i >> 8), std::byte{7}};
    std::memcpy(&expected[offsets[i]], data, 1 + i % 3);
  }
  EXPECT_EQ(back, expected);
}

TEST_F(CmaMemory, AListStopsAtMemoryThatIsNotThere) {
  constexpr uint32_t kPieces = 200, kMissing = 150;
  ScatterList list(8192);
  const std::byte data[8] = {std::byte{1}};
  for (uint32_t i = 0; i < kPieces; ++i) {
    const std::byte* to = i == kMissing ? pages_ + 2 * kPageBytes : pages_ + 16 * i;
    ASSERT_TRUE(list.add(to, data, 8));
  }
  const CmaCopy written =
      scatter_by_cma(child_, list.writer().base(), list.bytes(), list.writer().bytes());
  EXPECT_EQ(written.reason, EFAULT);
  EXPECT_EQ(written.left, 8u * (kPieces - kMissing));
  std::byte last[8], first[8];
  EXPECT_EQ(read_by_cma(child_, at(pages_ + 16 * (kMissing - 1)), last, 8).reason, 0);
  EXPECT_EQ(read_by_cma(child_, at(pages_ + 16 * (kMissing + 1)), first, 8).reason, 0);
  EXPECT_EQ(last[0], std::byte{1});
  EXPECT_EQ(first[0], std::byte{0});
}

TEST_F(CmaMemory, MemoryThatIsNotThereIsToldOfAndHowFarItWent) {
  std::vector<std::byte> data(4 * kPageBytes);
  const CmaCopy over = write_by_cma(child_, at(pages_), data.data(), 3 * kPageBytes);
  EXPECT_EQ(over.reason, EFAULT);
  EXPECT_EQ(over.left, kPageBytes);
  EXPECT_EQ(read_by_cma(child_, at(pages_ + 2 * kPageBytes), data.data(), 8).reason, EFAULT);
  EXPECT_EQ(read_by_cma(child_, 0, data.data(), 8).reason, EFAULT);
  EXPECT_EQ(read_by_cma(child_, ~uint64_t{0} - 4, data.data(), 8).reason, EFAULT);
}

TEST_F(CmaMemory, WhatMayOnlyBeReadIsNotWritten) {
  std::byte word[8] = {};
  EXPECT_EQ(read_by_cma(child_, at(pages_ + 3 * kPageBytes), word, sizeof word).reason, 0);
  EXPECT_EQ(write_by_cma(child_, at(pages_ + 3 * kPageBytes), word, sizeof word).reason, EFAULT);
}

TEST_F(CmaMemory, AProcessThatIsGoneIsNoSuchProcess) {
  std::byte word[8] = {};
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  EXPECT_EQ(read_by_cma(gone, at(of_both), word, sizeof word).reason, ESRCH);
}

}  // namespace
}  // namespace pinwire::shm
