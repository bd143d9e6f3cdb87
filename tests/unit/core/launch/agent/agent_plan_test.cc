#include "core/launch/agent/agent_plan.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "tests/support/scratch_dir.h"

namespace pinwire::launch {
namespace {

/// The working directory and the environment of this program are those of its other tests, too.
class AgentPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const text = ::getenv(kVariable);
    if (text != nullptr) before_ = text;
  }
  void TearDown() override {
    std::filesystem::current_path(folder_before_);
    if (before_) {
      ::setenv(kVariable, before_->c_str(), 1);
    } else {
      ::unsetenv(kVariable);
    }
  }
  static bool has(const LocalPlan& plan, const std::string& assignment) {
    const auto& all = plan.environment;
    return std::find(all.begin(), all.end(), assignment) != all.end();
  }

  static constexpr const char* kVariable = "GASNET_TMPDIR";
  RemotePlan plan_{.first = 4,
                   .count = 2,
                   .rank_count = 8,
                   .no_aslr = true,
                   .host_name = "n2",
                   .folder = "/",
                   .command = {"sh", "-c", "true"},
                   .environment = {}};

 private:
  const std::filesystem::path folder_before_ = std::filesystem::current_path();
  std::optional<std::string> before_;
};

TEST_F(AgentPlanTest, EntersTheFolderAndTakesOverTheVariables) {
  const test::ScratchDir folder;
  plan_.folder = folder.path();
  plan_.environment = {std::string(kVariable) + "=" + folder.path()};
  auto settings = enter_plan(plan_);
  ASSERT_TRUE(settings) << settings.sentence();
  EXPECT_EQ(settings->tmp_dir, folder.path());
  EXPECT_TRUE(std::filesystem::equivalent(std::filesystem::current_path(), folder.path()));
}

TEST_F(AgentPlanTest, AFolderThatIsNotThereIsNamed) {
  plan_.folder = "/there/is/none";
  auto settings = enter_plan(plan_);
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.sentence().find("no working directory /there/is/none"), std::string::npos);
}

TEST_F(AgentPlanTest, RanksGetTheJobsDirectoryAndTheLaunchersWords) {
  ::setenv(kVariable, "/tmp", 1);
  auto local = plan_own_ranks(plan_, Settings{}, "/tmp/job");
  ASSERT_TRUE(local) << local.sentence();
  EXPECT_EQ(local->host_name, "n2");
  EXPECT_EQ(local->first, 4U);
  EXPECT_EQ(local->count, 2U);
  EXPECT_EQ(local->rank_count, 8U);
  EXPECT_EQ(local->own.size(), 2U);
  EXPECT_TRUE(local->no_aslr);
  EXPECT_EQ(local->stdin_fd, -1);
  EXPECT_EQ(local->arguments, plan_.command);
  EXPECT_TRUE(local->path.ends_with("/sh")) << local->path;
  EXPECT_TRUE(has(*local, "GASNET_JOB_DIR=/tmp/job"));
  EXPECT_TRUE(has(*local, std::string(kVariable) + "=/tmp"));
}

/// The agent's own host has other cores than the launcher's: they are chosen here.
TEST_F(AgentPlanTest, OnlyRanksThatAreToBeBoundGetCores) {
  plan_.count = 1;
  auto loose = plan_own_ranks(plan_, Settings{}, "/tmp/job");
  ASSERT_TRUE(loose) << loose.sentence();
  EXPECT_TRUE(loose->own[0].cpus.empty());
  plan_.cpus_per_rank = 1;
  auto bound = plan_own_ranks(plan_, Settings{}, "/tmp/job");
  ASSERT_TRUE(bound) << bound.sentence();
  EXPECT_FALSE(bound->own[0].cpus.empty());
}

TEST_F(AgentPlanTest, AProgramThatIsNotThereIsRefused) {
  plan_.command = {"/there/is/none"};
  auto local = plan_own_ranks(plan_, Settings{}, "/tmp/job");
  ASSERT_FALSE(local);
  EXPECT_NE(local.sentence().find("/there/is/none"), std::string::npos) << local.sentence();
}

}  // namespace
}  // namespace pinwire::launch
