#include "driver/verbs/device/short_read.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

constexpr uint64_t kPage = kPageBytes;

uint64_t page_of(uint64_t address) { return address / kPage; }

TEST(ShortRead, HasWhatIsWantedAndTouchesNoOtherPage) {
  constexpr uint32_t kMin = kIwarpReadBytesMin;
  for (uint64_t remote = 7 * kPage; remote < 8 * kPage; ++remote) {
    for (uint32_t bytes = 1; bytes < kMin; ++bytes) {
      const WideRead wide = widen(remote, bytes, kMin);
      ASSERT_EQ(wide.bytes, kMin);
      ASSERT_EQ(wide.remote + wide.skipped, remote);
      ASSERT_LE(wide.skipped + bytes, wide.bytes);
      ASSERT_GE(page_of(wide.remote), page_of(remote));
      ASSERT_LE(page_of(wide.remote + wide.bytes - 1), page_of(remote + bytes - 1));
    }
  }
}

TEST(ShortRead, OfTheLastPageThereIs) {
  constexpr uint64_t kLast = ~uint64_t{0} - kPage + 1;
  const WideRead wide = widen(kLast + kPage - 8, 8, kIwarpReadBytesMin);
  EXPECT_EQ(wide.remote, ~uint64_t{0} - kIwarpReadBytesMin + 1);
}

}  // namespace
}  // namespace pinwire::verbs
