// A file that polls as writable and takes nothing.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cstdint>

#include "core/launch/loop/fd.h"

namespace pinwire::launch {

/// It counts up to UINT64_MAX - 1, and is there almost: poll(2) promises room for 1, and a write(2)
/// of more waits.
class FullCounter {
 public:
  FullCounter() {
    constexpr uint64_t kAlmostAll = UINT64_MAX - 2;
    EXPECT_EQ(::write(fd_.get(), &kAlmostAll, sizeof kAlmostAll), 8);
  }
  int fd() const { return fd_.get(); }
  void empty() const {
    uint64_t all;
    EXPECT_EQ(::read(fd_.get(), &all, sizeof all), 8);
  }

 private:
  const Fd fd_{::eventfd(0, EFD_CLOEXEC)};
};

}  // namespace pinwire::launch
