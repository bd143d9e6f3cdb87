#include "bench/flood/plan/again.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "bench/flood/plan/command.h"

namespace pinwire::flood {
namespace {

/// As the launcher does.
void take_into_environment(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  for (std::string one; std::getline(file, one, '\0');) {
    const size_t at = one.find('=');
    ::setenv(one.substr(0, at).c_str(), one.substr(at + 1).c_str(), 1);
  }
}

TEST(Again, WhatWasSetAndReadReachesTheNextJob) {
  std::string folder = "/tmp/flood-again-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/again";
  ::setenv("GASNET_JOB_AGAIN", path.c_str(), 1);
  const TrafficSettings settings{.mode = TrafficMode::kAm, .burst = 7, .depth = 9, .bytes = 2048};
  ASSERT_TRUE(ask_again("watchdog", settings, "start\nst").ok());
  take_into_environment(path);
  EXPECT_STREQ(std::getenv("GASNET_DISPATCH"), "watchdog");

  const Legacy legacy = take_legacy();
  EXPECT_TRUE(legacy.is_there);
  EXPECT_EQ(legacy.input, "start\nst");
  EXPECT_EQ(legacy.settings, (std::vector<std::string>{"set fwd am", "set burst 7",
                                                       "set txpkts 2048", "set depth 9"}));
  for (const std::string& line : legacy.settings) EXPECT_TRUE(parse_command(line).ok()) << line;
  EXPECT_FALSE(take_legacy().is_there) << "what is taken is gone";

  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
  ::unsetenv("GASNET_JOB_AGAIN");
  ::unsetenv("GASNET_DISPATCH");
}

TEST(Again, WithoutALauncherThatDoesItASentenceSaysWhatToDo) {
  ::unsetenv("GASNET_JOB_AGAIN");
  Status asked = ask_again("thread", {}, "");
  ASSERT_FALSE(asked.ok());
  EXPECT_NE(asked.sentence().find("GASNET_DISPATCH=thread"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::flood
