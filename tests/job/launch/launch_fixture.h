// The fixture of every test of the launcher: a directory and a mark of its own, and a look for what
// is left.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/job/launch/run.h"

namespace pinwire_test {

// Ranks must be gone within 2 s; a loaded machine gets more.
inline constexpr double kGoneSeconds = 20;

class Launch : public testing::Test {
 protected:
  std::vector<std::string> command(int ranks, std::vector<std::string> words,
                                   std::vector<std::string> options = {}) const {
    std::vector<std::string> all = {std::getenv("GASNETRUN"), "-n", std::to_string(ranks)};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  std::vector<std::string> environment(std::vector<std::string> more = {}) const {
    more.push_back("GASNET_TMPDIR=" + folder_.path());
    more.push_back(mark_);
    return more;
  }
  Outcome launch(int ranks, std::vector<std::string> words, std::vector<std::string> options = {},
                 std::vector<std::string> more = {}, const std::string& input = "") const {
    return run(command(ranks, words, options), environment(more), input);
  }
  void TearDown() override {
    EXPECT_TRUE(gone(mark_, kGoneSeconds)) << "processes are left";
    for (const int left : processes_with(mark_)) ::kill(left, SIGKILL);
    EXPECT_EQ(entries(folder_.path(), "").size(), 0U) << "files are left";
    EXPECT_EQ(entries("/run/netns", "").size(), named_before_) << "namespaces are left";
  }
  /// For orderly exits on a machine so busy that the default would take them for disorderly.
  static constexpr const char* kPatience = "GASNET_EXITTIMEOUT=30";
  const std::string rank_ = std::getenv("LAUNCH_RANK");
  Folder folder_;
  const size_t named_before_ = entries("/run/netns", "").size();
  const std::string mark_ = "LAUNCH_TEST_MARK=" + folder_.path();
};

}  // namespace pinwire_test
