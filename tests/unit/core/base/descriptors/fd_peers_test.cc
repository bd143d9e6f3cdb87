// Peers are known by what they were when they began to listen, whatever they have become since.
#include "core/base/descriptors/fd_peers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "core/base/descriptors/offered_files.h"
#include "core/base/files/file_inode.h"
#include "tests/unit/core/base/descriptors/fd_asker.h"

namespace pinwire {
namespace {

/// Two processes of root's, each with a server or without, know each other; then they become
/// another user's or not. The answer that the one gets from the other, as of ask_parent().
struct Meeting {
  bool asker_changes, owner_changes, asker_has_server;
};
int ask_later(Meeting what, const char* part = "") {
  const int fd = memfd_create("offered", MFD_CLOEXEC);
  const uint64_t inode = inode_of(fd);
  offer_file(fd);
  const int code = in_child([&] {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 9;
    // Tells the other process where this one's server is, and waits until it says the same.
    const auto meet = [](int end, FdServerAddress own, int other_pid) {
      FdServerAddress theirs = 0;
      if (write(end, &own, sizeof own) != sizeof own) return false;
      if (read(end, &theirs, sizeof theirs) != sizeof theirs) return false;
      learn_fd_server(other_pid, theirs, kKey);
      return true;
    };
    const pid_t asker = fork();
    if (asker == 0) {
      alarm(100);
      auto own = what.asker_has_server ? start_fd_server(kKey) : FdServerAddress{0};
      if (!own || !meet(ends[0], *own, getppid())) _exit(8);
      if (what.asker_changes && !become_another()) _exit(7);
      char changed;
      if (read(ends[0], &changed, 1) != 1) _exit(6);
      auto file = open_peer_file(getppid(), fd, inode, 0);
      if (!file) std::fprintf(stderr, "%s\n", file.sentence().c_str());
      _exit(file ? 0 : file.sentence().find(part) != std::string::npos ? 1 : 2);
    }
    auto own = start_fd_server(kKey);
    if (!own || !meet(ends[1], *own, asker)) return 5;
    if (what.owner_changes && !become_another()) return 4;
    if (write(ends[1], "x", 1) != 1) return 3;
    int status = 0;
    waitpid(asker, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  });
  close_offered_file(fd);
  return code;
}

TEST(FdPeers, PeersThatGiveUpTheirRightsLaterGetFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  EXPECT_EQ(ask_later({.asker_changes = true, .owner_changes = true, .asker_has_server = true}), 0);
  EXPECT_EQ(ask_later({.asker_changes = true, .owner_changes = false, .asker_has_server = true}),
            0);
  EXPECT_EQ(ask_later({.asker_changes = false, .owner_changes = true, .asker_has_server = true}),
            0);
  EXPECT_EQ(ask_later({.asker_changes = false, .owner_changes = true, .asker_has_server = false}),
            0);
}

TEST(FdPeers, APeerWithoutAServerThatGivesUpItsRightsIsToldWhy) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  EXPECT_EQ(ask_later({.asker_changes = true, .owner_changes = false, .asker_has_server = false},
                      "does not know this process, which has become another user's"),
            1);
}

}  // namespace
}  // namespace pinwire
