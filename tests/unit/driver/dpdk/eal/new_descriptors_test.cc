#include "driver/dpdk/eal/new_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/support/scratch_dir.h"

namespace pinwire {
namespace {

/// In a child, whose limit it is.
[[noreturn]] void say_whether_it_may_open(rlim_t limit_files, uint32_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const NewDescriptors now;
  limit.rlim_cur = limit_files;
  setrlimit(RLIMIT_NOFILE, &limit);
  const Status room = now.leave_room_for(count);
  std::fprintf(stderr, "%s\n", room.ok() ? "room" : room.sentence().c_str());
  std::exit(room.ok() ? 0 : 1);
}

TEST(NewDescriptors, SaysWhatItWantsWhereTheLimitOfOpenFilesIsTooLow) {
  EXPECT_EXIT(say_whether_it_may_open(20, 24), testing::ExitedWithCode(1),
              "DPDK opens up to 24 files here, and this process, which has [0-9]+ open, may have "
              "20: raise the limit of open files \\(ulimit -n\\)");
  EXPECT_EXIT(say_whether_it_may_open(24, 24), testing::ExitedWithCode(1), "may have 24");
  EXPECT_EXIT(say_whether_it_may_open(1024, 24), testing::ExitedWithCode(0), "room");
}

bool closes_on_exec(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

/// A descriptor of a test, closed after it.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

TEST(NewDescriptors, OnlyThoseOpenedSinceAreClosedAtExec) {
  const Descriptor clients(eventfd(0, 0));
  const NewDescriptors now;
  const Descriptor event(eventfd(0, 0)), memory(memfd_create("dpdk", 0));
  ASSERT_GE(memory.fd(), 0);
  now.close_on_exec();
  EXPECT_FALSE(closes_on_exec(clients.fd())) << "a program that the client starts may use it";
  EXPECT_TRUE(closes_on_exec(event.fd()));
  EXPECT_TRUE(closes_on_exec(memory.fd()));
}

/// Another thread of the client may have opened it meanwhile.
TEST(NewDescriptors, FilesWithNamesAreLeftToTheClientButNotDpdks) {
  const test::ScratchDir folder;
  const std::string dpdks = folder.path() + "/dpdk";
  ASSERT_EQ(mkdir(dpdks.c_str(), 0700), 0);
  const NewDescriptors now;
  const auto make = [](const std::string& path) {
    return open(path.c_str(), O_RDWR | O_CREAT, 0600);
  };
  {
    const Descriptor clients(make(folder.path() + "/data"));
    const Descriptor locked(make(dpdks + "/config"));
    const Descriptor deleted(make(dpdks + "/gone"));
    unlink((dpdks + "/gone").c_str());
    now.close_on_exec();
    EXPECT_FALSE(closes_on_exec(clients.fd()));
    EXPECT_TRUE(closes_on_exec(locked.fd()));
    EXPECT_TRUE(closes_on_exec(deleted.fd()));
  }
}

}  // namespace
}  // namespace pinwire
