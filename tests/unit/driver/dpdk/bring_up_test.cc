// Which directories ranks do not meet in. EAL does not start here.
#include "driver/dpdk/bring_up.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/scratch_dir.h"
#include "tests/unit/driver/dpdk/options.h"

namespace pinwire {
namespace {

namespace fs = std::filesystem;

class BringUp : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::chmod(open_.c_str(), 01777), 0); }
  const test::ScratchDir scratch_;
  const std::string open_ = scratch_.path();
};

TEST_F(BringUp, NoFabricInsideAHostTakesADirectoryToWhichOthersMayWrite) {
  for (const char* fabric : {"pair", "memif", "switch"}) {
    const auto device = bring_up_dpdk(options_for(fabric, 1, 2, open_));
    ASSERT_FALSE(device.ok()) << fabric;
    EXPECT_NE(device.sentence().find("sockets would be open to other users"), std::string::npos)
        << device.sentence();
    EXPECT_NE(device.sentence().find("others may write to " + open_), std::string::npos);
  }
  EXPECT_TRUE(fs::is_empty(open_)) << "nothing is said there of the failure";
}

TEST_F(BringUp, AFailureIsSaidInADirectoryOfOnesOwn) {
  ASSERT_EQ(::chmod(open_.c_str(), 0700), 0);
  DpdkOptions options = options_for("switch", 0, 2, open_);
  options.is_directory_of_ranks = true;  // of which no switch knows
  EXPECT_FALSE(bring_up_dpdk(options).ok());
  EXPECT_TRUE(fs::exists(open_ + "/dpdk-failed"));
}

}  // namespace
}  // namespace pinwire
