#include "core/launch/process/oom_kills.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_dir.h"

namespace pinwire::launch {
namespace {

class OomKillsTest : public testing::Test {
 protected:
  void SetUp() override {
    write("/proc/vmstat", "oom_kill_disable 9\noom_kill 4\nnr_free_pages 10\n");
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root() + path).parent_path());
    std::ofstream(root() + path) << text;
  }
  const std::string& root() const { return scratch_.path(); }

 private:
  test::ScratchDir scratch_;
};

TEST_F(OomKillsTest, EachKillInTheCgroupExplainsOneEnd) {
  const std::string file = "/sys/fs/cgroup/a/b/memory.events";
  write("/proc/self/cgroup", "0::/a/b\n");
  write(file, "low 0\noom 7\noom_kill 2\noom_group_kill 0\n");
  OomKills kills(root());
  EXPECT_EQ(kills.explain(), "");
  write(file, "low 0\noom 9\noom_kill 4\noom_group_kill 0\n");
  write("/proc/vmstat", "oom_kill 6\n");
  for (int i = 0; i < 2; ++i) EXPECT_NE(kills.explain().find(file), std::string::npos);
  EXPECT_EQ(kills.explain(), "");
}

TEST_F(OomKillsTest, TheFirstVersionOfCgroupsHasAFileOfItsOwn) {
  const std::string file = "/sys/fs/cgroup/memory/a/memory.oom_control";
  write("/proc/self/cgroup", "5:cpu,cpuacct:/c\n4:hugetlb,memory:/a\n0::/\n");
  write(file, "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  OomKills kills(root());
  write(file, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_NE(kills.explain().find(file), std::string::npos);
}

TEST_F(OomKillsTest, AContainerSeesItsCgroupAtTheMount) {
  const std::string file = "/sys/fs/cgroup/memory.events";
  write("/proc/self/cgroup", "0::/docker/123\n");
  write(file, "oom_kill 0\n");
  OomKills kills(root());
  write(file, "oom_kill 1\n");
  EXPECT_NE(kills.explain().find(file), std::string::npos);
}

TEST_F(OomKillsTest, AKillSomewhereOnTheMachineMayBeWhy) {
  OomKills kills(root());
  EXPECT_EQ(kills.explain(), "");
  write("/proc/vmstat", "oom_kill 5\n");
  EXPECT_NE(kills.explain().find("this may be why"), std::string::npos);
  EXPECT_EQ(kills.explain(), "");
}

}  // namespace
}  // namespace pinwire::launch
