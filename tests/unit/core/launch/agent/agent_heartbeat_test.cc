#include "core/launch/agent/agent_heartbeat.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/launch/loop/loop.h"

namespace pinwire::launch {
namespace {

class AgentHeartbeatTest : public testing::Test {
 protected:
  int beats_ = 0;
  std::vector<std::string> lost_;
  AgentHeartbeat heartbeat_{{.beat = [this] { ++beats_; },
                             .lost = [this](const std::string& why) { lost_.push_back(why); }}};
};

TEST_F(AgentHeartbeatTest, ItBeatsFourTimesWithinTheLimit) {
  heartbeat_.begin(4000, 0);
  EXPECT_EQ(beats_, 1);
  int64_t now = 0;
  for (int turns = 0; turns < 10 && now < 4000; ++turns, now = heartbeat_.next_ms()) {
    heartbeat_.heard(now);
    heartbeat_.due(now);
  }
  EXPECT_EQ(now, 4000);
  EXPECT_EQ(beats_, 4);
  EXPECT_TRUE(lost_.empty());
}

TEST_F(AgentHeartbeatTest, ALauncherThatSaysNothingIsLostOnce) {
  heartbeat_.begin(4000, 0);
  for (int64_t now = 1000; now < 4000; now += 1000) heartbeat_.due(now);
  EXPECT_FALSE(heartbeat_.has_lost_launcher());
  for (int64_t now = 4000; now < 9000; now += 1000) heartbeat_.due(now);
  EXPECT_TRUE(heartbeat_.has_lost_launcher());
  EXPECT_EQ(lost_, std::vector<std::string>{
                       "nothing was heard of the launcher for 4 s (GASNET_SSH_TIMEOUT)"});
}

TEST_F(AgentHeartbeatTest, ALauncherThatIsHeardIsNotLost) {
  heartbeat_.begin(4000, 0);
  for (int64_t now = 1000; now < 9000; now += 1000) {
    heartbeat_.due(now);
    if (now == 3000 || now == 6000) heartbeat_.heard(now);
  }
  EXPECT_FALSE(heartbeat_.has_lost_launcher());
}

TEST_F(AgentHeartbeatTest, WithoutALimitNobodyIsLost) {
  heartbeat_.begin(1000, 0);
  heartbeat_.begin(0, 10);
  EXPECT_EQ(beats_, 2);
  EXPECT_EQ(heartbeat_.next_ms(), kNever);
  for (int64_t now = 1000; now < 9000; now += 1000) heartbeat_.due(now);
  EXPECT_EQ(beats_, 2);
  EXPECT_FALSE(heartbeat_.has_lost_launcher());
}

}  // namespace
}  // namespace pinwire::launch
