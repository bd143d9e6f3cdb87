// Which directory the ranks of a host agree on, from what each would tell.
#include "extended/drivers/socket_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "core/engine/engine.h"
#include "tests/support/left_dir.h"
#include "tests/support/scratch_dir.h"

namespace pinwire {
namespace {

namespace fs = std::filesystem;

/// Brings to one rank what others told; counts its barriers.
class Canned final : public Bootstrap {
 public:
  std::map<Rank, std::string> told;  ///< by others
  const char* title = "pmix";
  Rank count = 0;
  int gathers = 0, barriers = 0;

  const char* name() const noexcept override { return title; }
  Rank rank() const noexcept override { return engine.rank; }
  Rank rank_count() const noexcept override { return count; }
  uint64_t job_key() const noexcept override { return 1; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) override {
    ++gathers;
    told[engine.rank].assign(reinterpret_cast<const char*>(mine.data()), mine.size());
    std::vector<std::vector<std::byte>> all;
    for (Rank from = 0; from < count; ++from) {
      const auto bytes = std::as_bytes(std::span(told[from]));
      all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  }
  Status barrier() override {
    ++barriers;
    return success();
  }
  const char* job_environment(const char*) const noexcept override { return nullptr; }
  void leaving(int, AfterIt) noexcept override {}
};

class SocketDirectories : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkdir((top_ + "/own").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((top_ + "/open").c_str(), 0700), 0);
    ASSERT_EQ(::chmod((top_ + "/open").c_str(), 01777), 0);
    job_.settings.tmp_dir = top_;
    put({0, 0});
  }
  void TearDown() override { engine.rank = 0; }
  /// The ranks' hosts, and which one this is.
  void put(const std::vector<uint64_t>& hosts, Rank rank = 0) {
    auto bootstrap = std::make_unique<Canned>();
    bootstrap_ = bootstrap.get();
    bootstrap_->count = static_cast<Rank>(hosts.size());
    job_.bootstrap = std::move(bootstrap);
    job_.ranks.clear();
    for (const uint64_t host : hosts) job_.ranks.push_back({host, 0, 0, 0});
    engine.rank = rank;
  }
  SocketDirectory agree() {
    auto agreed = agree_on_socket_directory(job_);
    EXPECT_TRUE(agreed.ok()) << agreed.sentence();
    return agreed ? *agreed : SocketDirectory{};
  }
  const test::ScratchDir scratch_;
  const std::string top_ = scratch_.path();
  Job job_;
  Canned* bootstrap_ = nullptr;
};

TEST_F(SocketDirectories, APrivateOneIsTakenAsItIsAndStays) {
  job_.settings.job_dir = top_ + "/own";
  auto agreed = agree();
  EXPECT_EQ(agreed.path, top_ + "/own");
  EXPECT_FALSE(agreed.of_ranks);
  EXPECT_EQ(bootstrap_->told[0], "f" + top_ + "/own");
  EXPECT_TRUE(leave_socket_directory(job_, agreed).ok());
  EXPECT_EQ(bootstrap_->barriers, 0);
  EXPECT_TRUE(fs::exists(top_ + "/own"));
}

TEST_F(SocketDirectories, BelowAnOpenOneTheFirstRankMakesOneThatGoesAfterABarrier) {
  job_.settings.job_dir = top_ + "/open";
  auto agreed = agree();
  EXPECT_TRUE(agreed.of_ranks);
  EXPECT_TRUE(agreed.path.starts_with(top_ + "/open/pinwire-ranks-")) << agreed.path;
  EXPECT_EQ(bootstrap_->told[0], "m" + agreed.path);
  EXPECT_EQ(fs::status(agreed.path).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(leave_socket_directory(job_, agreed).ok());
  EXPECT_EQ(bootstrap_->barriers, 1);
  EXPECT_TRUE(fs::is_empty(top_ + "/open"));
}

TEST_F(SocketDirectories, WhatAKilledMakerLeftThereGoes) {
  job_.settings.job_dir = top_ + "/open";
  const auto left = test::leave_dir(top_ + "/open", kRanksDirStart);
  auto agreed = agree();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(agreed.path));
  EXPECT_TRUE(leave_socket_directory(job_, agreed).ok());
}

/// The next launcher knows by it whose processes to kill.
TEST_F(SocketDirectories, WhatAKilledLauncherLeftThereStays) {
  const auto left = test::leave_dir(top_, kJobDirStart);
  auto agreed = agree();
  EXPECT_TRUE(fs::exists(left));
  EXPECT_TRUE(leave_socket_directory(job_, agreed).ok());
}

TEST_F(SocketDirectories, WhereNoneIsNamedItIsMadeInTheTemporaryOne) {
  auto agreed = agree();
  EXPECT_TRUE(agreed.path.starts_with(top_ + "/pinwire-ranks-")) << agreed.path;
  EXPECT_TRUE(leave_socket_directory(job_, agreed).ok());
  EXPECT_FALSE(fs::exists(agreed.path));
}

TEST_F(SocketDirectories, WhereOthersMayReplaceItNoneStays) {
  ASSERT_EQ(::chmod((top_ + "/open").c_str(), 0777), 0);  // not sticky
  job_.settings.job_dir = top_ + "/open";
  const auto agreed = agree();
  EXPECT_EQ(agreed.path, "");
  EXPECT_NE(agreed.reason.find("others may replace"), std::string::npos) << agreed.reason;
  EXPECT_TRUE(fs::is_empty(top_ + "/open"));
  EXPECT_EQ(bootstrap_->told[0], "n" + agreed.reason);
}

TEST_F(SocketDirectories, ALaterRankTakesWhatTheFirstOfItsHostSays) {
  put({7, 8, 7, 8}, 3);
  bootstrap_->told[0] = "m/run/of-host-7";
  bootstrap_->told[1] = "f/run/of-host-8";
  auto agreed = agree();
  EXPECT_EQ(agreed.path, "/run/of-host-8");
  EXPECT_FALSE(agreed.of_ranks);
  EXPECT_EQ(bootstrap_->told[3], "");
  // Another host's goes, so all meet.
  EXPECT_TRUE(leave_socket_directory(job_, agreed).ok());
  EXPECT_EQ(bootstrap_->barriers, 1);
}

TEST_F(SocketDirectories, TheReasonReachesAllRanksOfTheHost) {
  put({7, 7}, 1);
  bootstrap_->told[0] = "nno space left";
  const auto agreed = agree();
  EXPECT_EQ(agreed.path, "");
  EXPECT_EQ(agreed.reason, "no space left");
  put({7, 7}, 1);
  EXPECT_FALSE(agree_on_socket_directory(job_).ok()) << "rank 0 says nothing";
}

TEST_F(SocketDirectories, TheLaunchersIsNotTalkedAbout) {
  bootstrap_->title = "launcher";
  job_.settings.job_dir = top_ + "/own";
  EXPECT_EQ(agree().path, top_ + "/own");
  EXPECT_EQ(bootstrap_->gathers, 0);
}

}  // namespace
}  // namespace pinwire
