// A process's server gives a descriptor to those who may have it and to no others, and nobody waits
// there for ever.
#include "core/base/descriptors/fd_passing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/base/descriptors/fd_server.h"
#include "core/base/descriptors/offered_files.h"
#include "core/base/descriptors/peer_file.h"
#include "core/base/files/file_inode.h"
#include "tests/unit/core/base/descriptors/fd_asker.h"

namespace pinwire {
namespace {

// Before the tests whose server is this program's: it has no thread yet, so that its children may
// have theirs (also under ThreadSanitizer).

TEST(FdServerOfAChild, APeerOfAFullProcessHearsThatItGetsNothing) {
  const int fd = memfd_create("offered", MFD_CLOEXEC);
  const uint64_t inode = inode_of(fd);
  offer_file(fd);
  const int code = in_child([&] {
    auto server = start_fd_server(kKey);
    const int next = dup(0);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit full{static_cast<rlim_t>(next), limit.rlim_max};
    close(next);
    if (!server || setrlimit(RLIMIT_NOFILE, &full) != 0) return 9;
    for (int round = 0; round < 3; ++round) {
      const int told = in_child([&] {
        setrlimit(RLIMIT_NOFILE, &limit);
        return ask_parent(*server, fd, inode, kKey, "no answer");
      });
      if (told != 1) return told;
    }
    return 1;
  });
  EXPECT_EQ(code, 1);
  close_offered_file(fd);
}

// ThreadSanitizer takes a number that a process uses anew for a race between its users.
#ifdef __SANITIZE_THREAD__
constexpr bool kSeesRacesOfNumbers = true;
#else
constexpr bool kSeesRacesOfNumbers = false;
#endif

size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(FdServerOfAChild, ItEndsWithTheDescriptorsOfItsProcess) {
  if (kSeesRacesOfNumbers) GTEST_SKIP() << "descriptors are used anew: a race to ThreadSanitizer";
  const int code = in_child([&] {
    const size_t before = threads();
    auto opened = start_fd_server(kKey);
    if (!opened) return 9;
    const FdServerAddress server = *opened;
    closefrom(3);
    const int told = in_child([&] { return ask_parent(server, 3, 1, kKey, "") == 0 ? 0 : 1; });
    while (threads() > before) usleep(1000);
    return told;
  });
  EXPECT_EQ(code, 1);
}

/// The number of the one thread besides the caller; 0 if there is none.
pid_t other_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t number = std::atoi(task.path().filename().c_str());
    if (number != getpid()) return number;
  }
  return 0;
}

/// A program that shuts itself in so does not pay with a core.
TEST(FdServerOfAChild, ItEndsWhereItsProcessMayOpenNothingMore) {
  if (kSeesRacesOfNumbers) GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
  const int code = in_child([] {
    auto server = start_fd_server(kKey);
    const pid_t thread = other_thread();
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit none{0, limit.rlim_max};
    if (!server || thread == 0 || setrlimit(RLIMIT_NOFILE, &none) != 0) return 9;
    in_child([&] {  // wakes it
      setrlimit(RLIMIT_NOFILE, &limit);
      return connect_raw(*server) >= 0 ? 0 : 1;
    });
    while (syscall(SYS_tgkill, getpid(), thread, 0) == 0) usleep(1000);
    return 1;
  });
  EXPECT_EQ(code, 1);
}

/// The client closes the connection to a peer that has not asked yet, and opens files of its own.
TEST(FdServerOfAChild, ItClosesNoFileThatTookANumber) {
  if (kSeesRacesOfNumbers) GTEST_SKIP() << "descriptors are used anew: a race to ThreadSanitizer";
  const int code = in_child([&] {
    const size_t before = threads();
    auto server = start_fd_server(kKey);
    if (!server) return 9;
    const int next = dup(0);
    close(next);
    const pid_t peer = fork();
    if (peer == 0) {
      alarm(100);
      connect_raw(*server);
      for (;;) pause();
    }
    while (fcntl(next, F_GETFD) < 0) usleep(1000);
    closefrom(3);
    while (open("/dev/null", O_RDONLY) != next) {
    }
    kill(peer, SIGKILL);  // wakes the server
    waitpid(peer, nullptr, 0);
    while (threads() > before) usleep(1000);
    return fcntl(next, F_GETFD) >= 0 ? 1 : 2;
  });
  EXPECT_EQ(code, 1);
}

class FdPassing : public testing::Test {
 protected:
  /// One for the program: a server stays open.
  static FdServerAddress server() {
    static auto opened = start_fd_server(kKey);
    EXPECT_TRUE(opened.ok());
    return *opened;
  }
  void SetUp() override {
    ASSERT_NE(server(), 0u);
    fd_ = memfd_create("offered", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(fd_, 4096), 0);
    inode_ = inode_of(fd_);
    offer_file(fd_);
  }
  void TearDown() override { close_offered_file(fd_); }
  int ask(uint64_t key = kKey, const char* part = "") const {
    return in_child([&] { return ask_parent(server(), fd_, inode_, key, part); });
  }
  int fd_ = -1;
  uint64_t inode_ = 0;
};

TEST_F(FdPassing, APeerMapsWhatIsOffered) {
  const int code = in_child([&] {
    learn_fd_server(getppid(), server(), kKey);
    close(fd_);
    auto file = open_peer_file(getppid(), fd_, inode_, 4096);
    if (!file) return 1;
    void* base = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (base == MAP_FAILED) return 2;
    static_cast<char*>(base)[100] = 'x';
    return fcntl(*file, F_GETFD) == FD_CLOEXEC ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
  char letter = 0;
  EXPECT_EQ(pread(fd_, &letter, 1, 100), 1);
  EXPECT_EQ(letter, 'x');
}

TEST_F(FdPassing, NothingElseIsGiven) {
  const int secret = memfd_create("secret", MFD_CLOEXEC);
  const uint64_t inode = inode_of(secret);
  const auto ask_for = [&](int fd, uint64_t its_inode) {
    return in_child([&] { return ask_parent(server(), fd, its_inode, kKey, "does not offer"); });
  };
  EXPECT_EQ(ask_for(secret, inode), 1);
  EXPECT_EQ(ask_for(fd_, inode), 1) << "the number is another file's by now";
  offer_file(secret);
  EXPECT_EQ(ask_for(secret, inode), 0);
  close_offered_file(secret);
  EXPECT_EQ(ask_for(secret, inode), 1);
  const int another = memfd_create("another with its number", MFD_CLOEXEC);
  if (another != secret) {  // the server has just closed a connection, with a lower one
    ASSERT_EQ(dup2(another, secret), secret);
    close(another);
  }
  EXPECT_EQ(ask_for(secret, inode_of(secret)), 1);
  close(secret);
}

TEST_F(FdPassing, AnotherJobGetsNothing) {
  EXPECT_EQ(ask(kKey + 1, "no answer"), 1);
  EXPECT_EQ(ask(), 0);
}

TEST_F(FdPassing, AnotherProcessIsNotTakenForThePeer) {
  const int code = in_child([&] {
    constexpr int kInit = 1;
    learn_fd_server(kInit, server(), kKey);
    auto file = request_fd(kInit, fd_, inode_);
    return !file && file.sentence().find("listens there") != std::string::npos ? 1 : 0;
  });
  EXPECT_EQ(code, 1);
}

TEST_F(FdPassing, AnotherUserOrGroupGetsNothingAndTakesNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::function<bool()> changes[] = {become_another,
                                           [] { return setresgid(kOther, kOther, kOther) == 0; }};
  for (const auto& change : changes) {
    EXPECT_EQ(in_child([&] {
                if (!change()) return 9;
                return ask_parent(server(), fd_, inode_, kKey,
                                  "of user 0 and group 0 listens there");
              }),
              1);
    EXPECT_EQ(in_child([&] {
                if (!change()) return 9;
                const int peer = connect_raw(server());
                const FileRequest request{kKey, inode_, fd_, 0};
                char word;
                if (peer < 0) return 8;
                send(peer, &request, sizeof request, MSG_NOSIGNAL);
                return recv(peer, &word, 1, 0) <= 0 ? 1 : 0;
              }),
              1);
  }
}

/// Another user's process with the pid of a peer. Without a server of its own nobody knows what it
/// was.
class FdPassingToAnother : public FdPassing {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    FdPassing::SetUp();
  }
  /// The exit code of a child that has been learned as a peer, and has become another user, and
  /// then does this.
  template <typename Deed>
  int code_of_changed_peer(Deed&& deed) {
    int go[2];
    if (pipe(go) != 0) return -1;
    const pid_t peer = fork();
    if (peer == 0) {
      alarm(100);
      char word;
      _exit(read(go[0], &word, 1) == 1 && become_another() ? deed() : 9);
    }
    learn_fd_server(peer, server(), kKey);  // which is not its own
    EXPECT_EQ(write(go[1], "x", 1), 1);
    int status = 0;
    waitpid(peer, &status, 0);
    for (const int end : go) close(end);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
  }
};

TEST_F(FdPassingToAnother, ThatAsksGetsNothing) {
  EXPECT_EQ(code_of_changed_peer([this] {
              const int socket_fd = connect_raw(server());
              const FileRequest request{kKey, inode_, fd_, 0};
              send(socket_fd, &request, sizeof request, MSG_NOSIGNAL);
              char word;
              return recv(socket_fd, &word, 1, 0) <= 0 ? 1 : 0;
            }),
            1);
}

TEST_F(FdPassingToAnother, ThatSaysNothingHoldsFewDescriptors) {
  EXPECT_EQ(code_of_changed_peer([] {
              std::vector<int> silent;
              for (int i = 0; i <= FdServer::kEndsOfChangedMax; ++i)
                silent.push_back(connect_raw(server()));
              char word;
              if (recv(silent[0], &word, 1, 0) > 0) return 8;
              const bool others_stay =
                  recv(silent[1], &word, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
              return others_stay ? 1 : 2;
            }),
            1);
}

/// A stranger may connect as often as it likes.
TEST_F(FdPassing, AStrangerThatSaysNothingIsNotKept) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  EXPECT_EQ(in_child([] {
              if (!become_another()) return 9;
              const int peer = connect_raw(server());
              char word;
              return peer >= 0 && recv(peer, &word, 1, 0) <= 0 ? 1 : 0;
            }),
            1);
}

TEST_F(FdPassing, APeerThatSaysNothingHoldsUpNobody) {
  const int silent = connect_raw(server());
  ASSERT_GE(silent, 0);
  EXPECT_EQ(ask(), 0);
  const FileRequest request{kKey, inode_, fd_, 0};
  ASSERT_EQ(send(silent, &request, sizeof request, 0), static_cast<ssize_t>(sizeof request));
  char word = 0;
  EXPECT_EQ(recv(silent, &word, 1, 0), 1);
  EXPECT_EQ(word, 1);
  close(silent);
}

TEST(HiddenFiles, AreThoseOfAProcessThatHasMoreRightsThanItsUser) {
  EXPECT_FALSE(are_files_hidden());
  EXPECT_EQ(in_child([] {
              prctl(PR_SET_DUMPABLE, 0);
              return are_files_hidden() ? 1 : 0;
            }),
            1);
}

}  // namespace
}  // namespace pinwire
