// The port sends payloads from where they lie if their memory is pinned.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicZeroCopy : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 20'000;
  NicGroup group_{{}};
  std::vector<uint8_t> source_ = byte_pattern(kBytes);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kBytes);
};

TEST_F(NicZeroCopy, ThePortCopiesAPutFromMemoryThatIsNotPinned) {
  const Region region = group_.pin(1, target_.data(), kBytes);
  ASSERT_TRUE(
      group_.post(0, put_work(1, source_.data(), kBytes, target_.data(), region.remote_key)));
  group_.run(10);
  EXPECT_EQ(group_.dones(0).size(), 1u);
  EXPECT_EQ(target_, source_);
  EXPECT_EQ(group_.stat(0, "tx_zero_copy_bytes"), 0u);
  EXPECT_EQ(group_.stat(0, "tx_copied_bytes"), kBytes);
}

TEST_F(NicZeroCopy, TheAnswerOfALongGetIsNotCopied) {
  const Region region = group_.pin(1, source_.data(), kBytes);
  ASSERT_TRUE(
      group_.post(0, get_work(1, target_.data(), kBytes, source_.data(), region.remote_key)));
  group_.run(10);
  EXPECT_EQ(group_.dones(0).size(), 1u);
  EXPECT_EQ(target_, source_);
  EXPECT_EQ(group_.stat(1, "tx_zero_copy_bytes"), kBytes);
  EXPECT_EQ(group_.stat(1, "tx_copied_bytes"), 0u);
}

}  // namespace
}  // namespace pinwire
