#include "core/config/privilege.h"

#include <gtest/gtest.h>

#include <map>

namespace pinwire {
namespace {

Lookup of(const std::map<std::string, std::string>& environment) {
  return [&environment](const char* name) {
    const auto found = environment.find(name);
    return found != environment.end() ? found->second.c_str() : nullptr;
  };
}

const std::map<std::string, std::string> kGiven = {{"GASNET_TRACEFILE", "/etc/passwd"},
                                                   {"GASNET_STATSFILE", "stats-%"},
                                                   {"GASNET_EAL_ARGS", "-d /tmp/plugin.so"},
                                                   {"GASNET_DRIVER", "dpdk"}};

TEST(Privilege, APrivilegedProgramHeedsNoNamesOfFilesAndCode) {
  auto settings = read_settings(heeded(of(kGiven), true));
  ASSERT_TRUE(settings.ok()) << settings.sentence();
  const Settings& read = *settings;
  EXPECT_EQ(read.trace_file + read.stats_file + read.eal_args, "");
  EXPECT_EQ(read.driver, DriverChoice::kDpdk);
  EXPECT_EQ(warnings_of_privilege(of(kGiven), true).size(), 3U);
}

TEST(Privilege, OthersHeedThem) {
  auto settings = read_settings(heeded(of(kGiven), false));
  ASSERT_TRUE(settings.ok()) << settings.sentence();
  const Settings& read = *settings;
  EXPECT_EQ(read.trace_file, "/etc/passwd");
  EXPECT_EQ(read.stats_file, "stats-%");
  EXPECT_EQ(read.eal_args, "-d /tmp/plugin.so");
  EXPECT_TRUE(warnings_of_privilege(of(kGiven), false).empty());
}

TEST(Privilege, WhatIsNotGivenIsNotWarnedOf) {
  const std::map<std::string, std::string> empty = {{"GASNET_TRACEFILE", ""}};
  EXPECT_TRUE(warnings_of_privilege(of(empty), true).empty());
}

}  // namespace
}  // namespace pinwire
