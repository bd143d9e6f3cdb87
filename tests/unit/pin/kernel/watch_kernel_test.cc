// The watch on kernels that this one is not (told_kernel.h): busy for long, too old, or broken.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "pin/kernel/watch.h"
#include "tests/unit/pin/kernel/told_kernel.h"

namespace pinwire {
namespace {

using test::ToldKernel;
using Call = ToldKernel::Call;

constexpr uint64_t kPageBytes = 4096;

/// The numbers of this process's files, and those of them that are a userfaultfd.
std::vector<int> open_files(const char* kind = "") {
  std::vector<int> files;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    char name[100] = {};
    const int file = std::atoi(entry->d_name);
    if (readlinkat(dirfd(folder), entry->d_name, name, sizeof name - 1) <= 0) continue;
    if (file != dirfd(folder) && std::strstr(name, kind) != nullptr) files.push_back(file);
  }
  closedir(folder);
  return files;
}

/// Whether this kernel lets this process watch memory, as far as one can see without a reader.
bool may_watch() {
  const auto file = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP |
                 UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;
  const bool may = file >= 0 && ioctl(file, UFFDIO_API, &api) == 0;
  close(file);
  return may;
}

class WatchKernel : public testing::Test {
 protected:
  void SetUp() override {
    if (!may_watch()) GTEST_SKIP() << "memory cannot be watched here";
  }
  void open() {
    const Status opened = watch_.open(8);
    ASSERT_TRUE(opened.ok()) << opened.sentence();
  }
  /// Why it does not open; nothing of it stays.
  static std::string refusal() {
    const std::vector<int> before = open_files();
    Watch watch;
    const Status opened = watch.open(8);
    EXPECT_FALSE(opened.ok());
    EXPECT_EQ(open_files(), before);
    return opened.ok() ? "" : opened.sentence();
  }
  static bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  }
  Watch watch_;
};

TEST_F(WatchKernel, OpensWhereItMayAndClosesWhatItOpened) {
  const std::vector<int> before = open_files();
  open();
  EXPECT_TRUE(watch_.settle());
  watch_.close();
  EXPECT_EQ(open_files(), before);
}

TEST_F(WatchKernel, WaitsWhileSomethingChangesAndLeavesItsCoreToOthers) {
  ToldKernel kernel;
  open();
  kernel.ns_between_looks = 1000;
  for (const int error : {EAGAIN, EINTR}) {
    kernel.yields = 0;
    kernel.says(error, 5);
    EXPECT_TRUE(watch_.settle()) << error;
    EXPECT_EQ(kernel.yields, 5u);
  }
}

/// Its caller may pin for itself meanwhile.
TEST_F(WatchKernel, WaitsNoLongerThanAFewPinsTake) {
  ToldKernel kernel;
  open();
  kernel.ns_between_looks = 10'000;
  kernel.yields = 0;
  kernel.says(EAGAIN, ToldKernel::kAlways);
  EXPECT_FALSE(watch_.settle());
  EXPECT_LT(kernel.yields, 1000u) << "ten milliseconds";
  EXPECT_FALSE(watch_.is_broken());
  kernel.says(0, 0);
  EXPECT_TRUE(watch_.settle());
}

TEST_F(WatchKernel, GivesUpOnceMemoryIsUnmappedWithoutEnd) {
  ToldKernel kernel;
  open();
  kernel.ns_between_looks = 100'000'000;
  kernel.says(EAGAIN, ToldKernel::kAlways);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(watch_.settle());
  EXPECT_FALSE(watch_.is_broken()) << "for seconds only";
  kernel.says(0, 1);
  EXPECT_TRUE(watch_.settle());
  kernel.says(EAGAIN, ToldKernel::kAlways);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(watch_.settle());
  EXPECT_FALSE(watch_.is_broken()) << "it was settled meanwhile";
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(watch_.settle());
  EXPECT_TRUE(watch_.is_broken());
  kernel.says(0, 0);
  EXPECT_FALSE(watch_.settle()) << "for good";
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(has(said, "no longer watched")) << said;
  EXPECT_TRUE(has(said, "without end")) << said;
}

/// A client may close all files that it does not know.
TEST_F(WatchKernel, WhoeverClosesItsDescriptorEndsItAndItSaysSoOnce) {
  open();
  const std::vector<int> files = open_files("userfaultfd");
  ASSERT_EQ(files.size(), 1u);
  close(files[0]);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(watch_.settle());
  EXPECT_TRUE(watch_.is_broken());
  EXPECT_FALSE(watch_.settle());
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t first = said.find("its descriptor was closed");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("its descriptor was closed", first + 1), std::string::npos) << said;
}

size_t threads() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/// A poll that goes on as it is told that the descriptor is none would never sleep again.
TEST_F(WatchKernel, ItsThreadEndsWhenItFindsTheDescriptorClosed) {
  const size_t before = threads();
  open();
  EXPECT_EQ(threads(), before + 1);
  void* page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto at = reinterpret_cast<uint64_t>(page);
  ASSERT_TRUE(watch_.watch(watch_.take_slots(1), at, at + kPageBytes));
  close(open_files("userfaultfd").at(0));
  munmap(page, kPageBytes);  // wakes the thread
  while (threads() != before) sched_yield();
}

TEST_F(WatchKernel, MemoryOfOthersStaysWhenItIsClosedTwice) {
  ToldKernel kernel;
  open();
  EXPECT_TRUE(watch_.settle());
  watch_.close();
  void* page = reinterpret_cast<void*>(kernel.asked_about.load());
  void* mapped = mmap(page, kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped != page) GTEST_SKIP() << "somebody else was faster";
  EXPECT_EQ(kernel.joins, 2u) << "the thread that proves that it is told, and its own";
  watch_.close();
  EXPECT_EQ(kernel.joins, 2u);
  unsigned char is_present = 0;
  EXPECT_EQ(mincore(page, kPageBytes, &is_present), 0);
  munmap(page, kPageBytes);
}

TEST_F(WatchKernel, SaysWhichCallFailedAndLeavesNothingOpen) {
  ToldKernel kernel;
  kernel.fails = Call::kApi;
  EXPECT_TRUE(has(refusal(), "tells of no unmapping"));
  kernel.fails = Call::kEventFd;
  EXPECT_TRUE(has(refusal(), "eventfd"));
  kernel.fails = Call::kRegister;
  EXPECT_TRUE(has(refusal(), "memory cannot be watched"));
}

TEST_F(WatchKernel, DoesNotBelieveAKernelThatDoesNotTell) {
  ToldKernel kernel;
  kernel.says(0, ToldKernel::kAlways);
  EXPECT_TRUE(has(refusal(), "did not tell of an unmapping")) << "it never says that it changes";
  kernel.says(EAGAIN, ToldKernel::kAlways);
  EXPECT_TRUE(has(refusal(), "memory cannot be watched")) << "it always does";
  kernel.says(0, 0);
  kernel.has_no_events = true;
  EXPECT_TRUE(has(refusal(), "did not tell of an unmapping")) << "it has no event";
  kernel.has_no_events = false;
  kernel.start_shift = kPageBytes;
  EXPECT_TRUE(has(refusal(), "did not tell of an unmapping")) << "it tells of another start";
  kernel.start_shift = 0;
  kernel.end_shift = kPageBytes;
  EXPECT_TRUE(has(refusal(), "did not tell of an unmapping")) << "it tells of another end";
  kernel.end_shift = 0;
  Watch watch;
  EXPECT_TRUE(watch.open(1).ok());
}

TEST_F(WatchKernel, OpensFromLinux512On) {
  ToldKernel kernel;
  for (const char* release : {"4.18.0", "5.11.22-generic", "what.ever"}) {
    kernel.release = release;
    EXPECT_TRUE(has(refusal(), release)) << release;
  }
  for (const char* release : {"5.12.0", "5.15.1", "6.1", "10.0"}) {
    kernel.release = release;
    Watch watch;
    EXPECT_TRUE(watch.open(1).ok()) << release;
  }
}

/// A thread that unmaps memory which is watched waits for a reader.
TEST(WatchKernelDeathTest, WithoutAThreadItDoesNotOpenAndNobodyWaits) {
  if (!may_watch()) GTEST_SKIP() << "memory cannot be watched here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        alarm(60);
        uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit room{};
        getrlimit(RLIMIT_AS, &room);
        room.rlim_cur = (pages + 256) * kPageBytes;  // for all but a stack
        setrlimit(RLIMIT_AS, &room);
        Watch watch;
        const Status opened = watch.open(1);
        _exit(!opened && opened.sentence().find("no thread") != std::string::npos ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(WatchKernelDeathTest, ItsDescriptorMayBeTheFirst) {
  if (!may_watch()) GTEST_SKIP() << "memory cannot be watched here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        alarm(60);
        close(0);
        ToldKernel kernel;
        kernel.fails = Call::kEventFd;
        Watch watch;
        const bool is_refused = !watch.open(1);
        const bool is_closed = fcntl(0, F_GETFD) < 0;
        kernel.fails = Call::kNone;
        _exit(is_refused && is_closed && watch.open(1).ok() && watch.settle() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pinwire
