#include "core/base/locked_dir.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/private_dir.h"
#include "tests/support/scratch_dir.h"

namespace pinwire {
namespace {

namespace fs = std::filesystem;

bool sticky_is_dropped = false;  // fchmod(2) succeeds without that bit, as on some file systems
int undone_mkdtemps = 0;         // the next so many are undone, as by a launcher that sweeps up

class LockedDirs : public testing::Test {
 protected:
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(parent_), {}));
  }
  /// Whether somebody else holds the lock.
  static bool is_locked(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0;
    ::close(fd);
    return locked;
  }
  static constexpr std::string_view kStarts[] = {kJobDirStart, kEalDirStart};
  const test::ScratchDir scratch_;
  const std::string parent_ = scratch_.path();
};

TEST_F(LockedDirs, OneIsItsUsersAloneAndLockedAsLongAsItIsOpen) {
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_TRUE(made->path.starts_with(parent_ + "/pinwire-job-")) << made->path;
  EXPECT_EQ(made->path.size(), parent_.size() + 1 + kJobDirStart.size() + 6);
  EXPECT_EQ(entries(), 1U);
  struct stat facts {};
  ASSERT_EQ(::stat(made->path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700U);
  EXPECT_TRUE(is_locked(made->path));
  EXPECT_EQ(::fcntl(made->lock_fd, F_GETFD), FD_CLOEXEC);
  ::close(made->lock_fd);
  EXPECT_FALSE(is_locked(made->path));
}

/// Processes are looked for by it.
TEST_F(LockedDirs, TheWordIsTheRealPathHoweverTheParentIsNamed) {
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok());
  ::close(made->lock_fd);
  std::string told;
  finish_unlocked_dirs(parent_ + "/./", kStarts, [&](const std::string& path) { told += path; });
  EXPECT_EQ(told, made->path);
}

TEST_F(LockedDirs, OneThatNobodyLocksGoesWithAWord) {
  auto made = make_locked_dir(parent_, kJobDirStart),
       other = make_locked_dir(parent_, kEalDirStart);
  ASSERT_TRUE(made.ok() && other.ok());
  std::string told;
  finish_unlocked_dirs(parent_, kStarts, [&](const std::string& path) { told += path; });
  EXPECT_EQ(entries(), 2U);
  ::close(made->lock_fd);
  finish_unlocked_dirs(parent_, kStarts, [&](const std::string& path) {
    EXPECT_TRUE(fs::exists(path));
    told += path;
  });
  EXPECT_EQ(told, made->path);
  EXPECT_EQ(entries(), 1U);
  ::close(other->lock_fd);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(LockedDirs, EachHasANameOfItsOwn) {
  auto one = make_locked_dir(parent_, kEalDirStart), other = make_locked_dir(parent_, kEalDirStart);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->path, other->path);
  ::close(one->lock_fd);
  ::close(other->lock_fd);
}

TEST_F(LockedDirs, ThePathHasNoLinks) {
  fs::create_directory(parent_ + "/real");
  fs::create_directory_symlink(parent_ + "/real", parent_ + "/link");
  auto made = make_locked_dir(parent_ + "/link", kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_TRUE(made->path.starts_with(parent_ + "/real/")) << made->path;
  ::close(made->lock_fd);
}

TEST_F(LockedDirs, ASentenceTellsWhatFails) {
  const auto nowhere = make_locked_dir(parent_ + "/nowhere", kJobDirStart);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.sentence().find(parent_ + "/nowhere: No such file"), std::string::npos)
      << nowhere.sentence();
  // A name that cannot be given leaves nothing.
  EXPECT_FALSE(make_locked_dir(parent_, "no/such/folder-").ok());
  EXPECT_EQ(entries(), 0U);
}

TEST_F(LockedDirs, ThoseOfOtherKindsStay) {
  fs::create_directory(parent_ + "/pinwire-job-Ab12Cd");
  fs::create_directory(parent_ + "/pinwire-ranks-Ab12Cd");
  finish_unlocked_dirs(parent_, std::array{kRanksDirStart});
  EXPECT_TRUE(fs::exists(parent_ + "/pinwire-job-Ab12Cd"));
  EXPECT_FALSE(fs::exists(parent_ + "/pinwire-ranks-Ab12Cd"));
}

TEST_F(LockedDirs, AKeptOneGetsANameOfItsOwnAndStays) {
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok() && keep_locked_dir(*made).ok());
  EXPECT_TRUE(resolve_private_dir(made->path).ok()) << "the mark changes nothing for its users";
  std::ofstream(made->path + "/precious") << "of its user";
  ::close(made->lock_fd);
  for (int i = 0; i < 2; ++i) finish_unlocked_dirs(parent_, kStarts);
  const auto letters = made->path.substr(made->path.size() - 6);
  EXPECT_TRUE(fs::exists(parent_ + "/pinwire-kept-" + letters + "/precious"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(LockedDirs, OneThatCannotBeMarkedToBeKeptGetsASentence) {
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  sticky_is_dropped = true;
  const auto marked = keep_locked_dir(*made);
  sticky_is_dropped = false;
  ::close(made->lock_fd);
  ASSERT_FALSE(marked.ok());
  EXPECT_EQ(marked.sentence().find("its file system does not keep the sticky bit"), 0U)
      << marked.sentence();
}

/// Their maker was killed between two steps.
TEST_F(LockedDirs, OnesWithoutANameGoUnlessTheyAreLockedOrHoldSomething) {
  for (const char* letters : {"aaaaaa", "bbbbbb", "cccccc"})
    fs::create_directory(parent_ + "/pinwire-new-" + letters);
  std::ofstream(parent_ + "/pinwire-new-bbbbbb/file") << "of somebody";
  const int fd = ::open((parent_ + "/pinwire-new-cccccc").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_FALSE(fs::exists(parent_ + "/pinwire-new-aaaaaa"));
  EXPECT_EQ(entries(), 2U);
  ::close(fd);
}

TEST_F(LockedDirs, OneThatIsRemovedBeforeItsMakerHasLockedItIsMadeAnew) {
  undone_mkdtemps = 2;
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_EQ(undone_mkdtemps, 0);
  EXPECT_TRUE(fs::exists(made->path));
  ::close(made->lock_fd);
}

TEST_F(LockedDirs, OneThatIsRemovedAgainAndAgainGetsASentence) {
  undone_mkdtemps = INT_MAX;
  const auto made = make_locked_dir(parent_, kJobDirStart);
  undone_mkdtemps = 0;
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.sentence().find("cannot lock the directory " + parent_), 0U) << made.sentence();
}

/// A mate could give a directory of ours a name that has it removed.
TEST_F(LockedDirs, WhereOthersMayGiveNamesNoneIsMadeAndNoneRemoved) {
  fs::create_directories(parent_ + "/pinwire-job-Ab12Cd/thesis");
  for (const mode_t mode : {02770U, 0777U, 0702U}) {
    ASSERT_EQ(::chmod(parent_.c_str(), mode), 0);
    const auto made = make_locked_dir(parent_, kJobDirStart);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.sentence().find("others may replace what is in " + parent_), 0U)
        << made.sentence();
    finish_unlocked_dirs(parent_, kStarts);
    EXPECT_TRUE(fs::exists(parent_ + "/pinwire-job-Ab12Cd/thesis"));
  }
  ASSERT_EQ(::chmod(parent_.c_str(), 01777), 0);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace pinwire

/// Instead of the C library's, for this program.
char* mkdtemp(char* path) noexcept {
  const auto real = reinterpret_cast<char* (*)(char*)>(::dlsym(RTLD_NEXT, "mkdtemp"));
  char* const made = real(path);
  if (made != nullptr && pinwire::undone_mkdtemps > 0) {
    --pinwire::undone_mkdtemps;
    ::rmdir(made);
  }
  return made;
}

int fchmod(int fd, mode_t mode) noexcept {
  const auto real = reinterpret_cast<int (*)(int, mode_t)>(::dlsym(RTLD_NEXT, "fchmod"));
  return real(fd, pinwire::sticky_is_dropped ? mode & ~mode_t{S_ISVTX} : mode);
}
