#include "core/base/files/locked_dir.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/files/private_dir.h"
#include "tests/support/left_dir.h"
#include "tests/support/scratch_dir.h"

namespace pinwire {
namespace {

namespace fs = std::filesystem;

int undone_mkdirs = 0;           // the next so many are undone, as by a launcher that sweeps up
int taken_names = 0;             // the next so many names of directories are taken
bool flags_are_unknown = false;  // to renameat2(2), as on some file systems
bool dies_at_name = false;       // this process, when it would give a directory its name

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
  /// One whose maker was killed; its path.
  std::string leave(std::string_view start) const { return test::leave_dir(parent_, start); }
  static std::string letters_of(const std::string& path) {
    return path.substr(path.size() - kDirLetters);
  }
  static constexpr std::string_view kStarts[] = {kJobDirStart, kKeepDirStart, kEalDirStart};
  const test::ScratchDir scratch_;
  const std::string parent_ = scratch_.path();
};

TEST_F(LockedDirs, OneIsItsUsersAloneAndLockedAsLongAsItIsOpen) {
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_TRUE(made->path.starts_with(parent_ + "/pinwire-job-")) << made->path;
  EXPECT_EQ(made->path.size(), parent_.size() + 1 + kJobDirStart.size() + kDirLetters);
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
  const auto left = leave(kJobDirStart);
  EXPECT_EQ(left_over_dirs(parent_ + "/./", kStarts), std::vector<std::string>{left});
}

TEST_F(LockedDirs, OneThatNobodyLocksGoes) {
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  const auto left = leave(kEalDirStart);
  EXPECT_EQ(left_over_dirs(parent_, kStarts), std::vector<std::string>{left});
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_FALSE(fs::exists(left));
  finish_left_over(std::span(&made->path, 1));
  EXPECT_TRUE(fs::exists(made->path));
  ::close(made->lock_fd);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_EQ(entries(), 0U);
}

/// A user's own directory, or a copy of one that was made here.
TEST_F(LockedDirs, ANameThatWasGivenByHandHasNothingRemoved) {
  const auto left = leave(kJobDirStart);
  const auto copy = parent_ + "/copies";
  fs::create_directory(copy);
  const std::string names[] = {copy + "/pinwire-job-output",
                               copy + "/pinwire-job-outputoutput",
                               copy + "/pinwire-ranks-Ab12Cd",
                               copy + "/pinwire-new-output",
                               copy + "/pinwire-new-outputoutput",
                               copy + "/pinwire-new-" + letters_of(left),
                               copy + "/" + fs::path(left).filename().string()};
  for (const auto& one : names) fs::create_directory(one);
  finish_unlocked_dirs(copy, kStarts);
  finish_left_over(names);
  for (const auto& one : names) EXPECT_TRUE(fs::exists(one)) << one;
  // Moved, it is still the same.
  fs::remove(names[6]);
  fs::rename(left, names[6]);
  finish_unlocked_dirs(copy, kStarts);
  EXPECT_FALSE(fs::exists(names[6]));
}

TEST_F(LockedDirs, TheUmaskTakesNoRightsFromItsUser) {
  for (const mode_t mask : {0277U, 0777U, 0477U}) {
    const mode_t before = ::umask(mask);
    auto made = make_locked_dir(parent_, kJobDirStart);
    ::umask(before);
    ASSERT_TRUE(made.ok()) << made.sentence();
    EXPECT_EQ(fs::status(made->path).permissions(), fs::perms::owner_all);
    ::close(made->lock_fd);
  }
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
  const auto job = leave(kJobDirStart), ranks = leave(kRanksDirStart);
  finish_unlocked_dirs(parent_, std::array{kRanksDirStart});
  EXPECT_TRUE(fs::exists(job));
  EXPECT_FALSE(fs::exists(ranks));
}

/// Whatever a rank does to its mode.
TEST_F(LockedDirs, AKeptOneGetsANameOfItsOwnAndStays) {
  auto made = make_locked_dir(parent_, kKeepDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_TRUE(resolve_private_dir(made->path).ok()) << "it is as any for its users";
  std::ofstream(made->path + "/precious") << "of its user";
  ASSERT_EQ(::chmod(made->path.c_str(), 0700), 0);
  EXPECT_EQ(where_kept(made->path, made->lock_fd), "") << "it is not kept yet";
  const int same = ::fcntl(made->lock_fd, F_DUPFD_CLOEXEC, 0);
  ::flock(made->lock_fd, LOCK_UN);
  ::close(made->lock_fd);
  for (int i = 0; i < 2; ++i) finish_unlocked_dirs(parent_, kStarts);
  const auto kept = parent_ + "/pinwire-kept-" + letters_of(made->path);
  EXPECT_TRUE(fs::exists(kept + "/precious"));
  EXPECT_EQ(where_kept(made->path, same), kept);
  ::close(same);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(LockedDirs, AnEmptyOneIsNotKept) {
  leave(kKeepDirStart);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(LockedDirs, AKeptOneTakesNobodysPlace) {
  for (const bool unknown : {false, true}) {
    auto made = make_locked_dir(parent_, kKeepDirStart);
    ASSERT_TRUE(made.ok()) << made.sentence();
    std::ofstream(made->path + "/precious") << "of its user";
    const auto kept = parent_ + "/pinwire-kept-" + letters_of(made->path);
    fs::create_directory(kept);
    fs::create_directories(kept + "-2/full");
    flags_are_unknown = unknown;
    EXPECT_TRUE(finish_locked_dir(made->path).ok());
    flags_are_unknown = false;
    EXPECT_TRUE(fs::is_empty(kept));
    EXPECT_TRUE(fs::exists(kept + "-2/full"));
    EXPECT_TRUE(fs::exists(kept + "-3/precious"));
    EXPECT_EQ(where_kept(made->path, made->lock_fd), kept + "-3");
    ::close(made->lock_fd);
  }
}

TEST_F(LockedDirs, ANameThatIsTakenIsNotTheLast) {
  taken_names = 2;
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_EQ(taken_names, 0);
  ::close(made->lock_fd);
}

constexpr uid_t kMakersUser = 770'004;  // a number that no user has

/// A rank may close its job's directory to its own user, and die.
TEST_F(LockedDirs, OneThatIsClosedToItsUserGoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act for another user";
  ASSERT_EQ(::chmod(parent_.c_str(), 01777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(kMakersUser, kMakersUser, kMakersUser) != 0) ::_exit(2);
    auto made = make_locked_dir(parent_, kJobDirStart);
    if (!made) ::_exit(3);
    ::close(made->lock_fd);
    fs::create_directory(made->path + "/inner");
    ::chmod(made->path.c_str(), 0);
    finish_unlocked_dirs(parent_, kStarts);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries(), 0U);
}

/// Their maker was killed between two steps.
TEST_F(LockedDirs, OnesWithoutANameGoUnlessTheyAreLockedOrHoldSomething) {
  for (int i = 0; i < 3; ++i) {
    const pid_t maker = ::fork();
    if (maker == 0) {
      dies_at_name = true;
      ::_exit(make_locked_dir(parent_, kJobDirStart).ok() ? 2 : 3);
    }
    int status = -1;
    ::waitpid(maker, &status, 0);
    ASSERT_EQ(status, 0);
  }
  std::vector<std::string> paths;
  for (const auto& one : fs::directory_iterator(parent_)) paths.push_back(one.path());
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_TRUE(paths[0].starts_with(parent_ + "/pinwire-new-")) << paths[0];
  std::ofstream(paths[1] + "/file") << "of somebody";
  const int fd = ::open(paths[2].c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_FALSE(fs::exists(paths[0]));
  EXPECT_EQ(entries(), 2U);
  ::close(fd);
}

TEST_F(LockedDirs, OneThatIsRemovedBeforeItsMakerHasLockedItIsMadeAnew) {
  undone_mkdirs = 2;
  auto made = make_locked_dir(parent_, kJobDirStart);
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_EQ(undone_mkdirs, 0);
  EXPECT_TRUE(fs::exists(made->path));
  ::close(made->lock_fd);
}

TEST_F(LockedDirs, OneThatIsRemovedAgainAndAgainGetsASentence) {
  undone_mkdirs = INT_MAX;
  const auto made = make_locked_dir(parent_, kJobDirStart);
  undone_mkdirs = 0;
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.sentence().find("cannot lock the directory " + parent_), 0U) << made.sentence();
}

/// A mate could give a directory of ours a name that has it removed.
TEST_F(LockedDirs, WhereOthersMayGiveNamesNoneIsMadeAndNoneRemoved) {
  const auto left = leave(kJobDirStart);
  for (const mode_t mode : {02770U, 0777U, 0702U}) {
    ASSERT_EQ(::chmod(parent_.c_str(), mode), 0);
    const auto made = make_locked_dir(parent_, kJobDirStart);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.sentence().find("others may replace what is in " + parent_), 0U)
        << made.sentence();
    finish_unlocked_dirs(parent_, kStarts);
    EXPECT_TRUE(fs::exists(left));
  }
  ASSERT_EQ(::chmod(parent_.c_str(), 01777), 0);
  finish_unlocked_dirs(parent_, kStarts);
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace pinwire

/// Instead of the C library's, for this program.
int mkdir(const char* path, mode_t mode) noexcept {
  const auto real = reinterpret_cast<int (*)(const char*, mode_t)>(::dlsym(RTLD_NEXT, "mkdir"));
  if (pinwire::taken_names > 0) {
    --pinwire::taken_names;
    errno = EEXIST;
    return -1;
  }
  const int made = real(path, mode);
  if (made == 0 && pinwire::undone_mkdirs > 0) {
    --pinwire::undone_mkdirs;
    ::rmdir(path);
  }
  return made;
}

int renameat2(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) noexcept {
  if (pinwire::dies_at_name) ::_exit(0);
  if (pinwire::flags_are_unknown && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  const auto real = reinterpret_cast<int (*)(int, const char*, int, const char*, unsigned)>(
      ::dlsym(RTLD_NEXT, "renameat2"));
  return real(from_fd, from, to_fd, to, flags);
}
