#include "core/base/descriptors/fd_passing.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/descriptors/fd_peers.h"
#include "core/base/descriptors/fd_record.h"
#include "core/base/descriptors/fd_server.h"
#include "core/base/descriptors/no_descriptor.h"
#include "core/base/no_cancel.h"
#include "core/base/threads/library_thread.h"

namespace pinwire {
namespace {

/// The owner has ended, or has closed the connection: unread, which resets it, or after a request
/// that it does not heed.
Error no_answer(int os_error, const FdPeer& peer) {
  const bool is_closed = os_error == 0 || os_error == ECONNRESET || os_error == EPIPE;
  if (is_closed && UserAndGroup::now() != peer.who)
    return error("it does not know this process, which has become another user's or group's");
  return error(
      "it gives no answer: %s",
      is_closed ? "it has ended, or has too many open files (ulimit -n)" : std::strerror(os_error));
}

/// The descriptor that comes, or a sentence.
Result<int> receive_file(int fd, const FdPeer& peer) {
  const FdRecord record = receive_record(fd);
  if (record.text.empty()) return no_answer(record.os_error, peer);
  if (record.fd >= 0) return record.fd;
  if (record.is_cut) return error("this process has too many open files (ulimit -n)");
  return error("it does not offer that file");
}

Result<int> ask(int fd, int pid, const FdPeer& peer, const FileRequest& request) {
  if (auto connected = connect_to_fd_server(fd, pid, peer.server, peer.who); !connected)
    return connected.error();
  if (send(fd, &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
    return no_answer(errno, peer);
  return receive_file(fd, peer);
}

}  // namespace

bool are_files_hidden() noexcept {
  constexpr int kSeenByUser = 1;  // proc(5): then /proc/<pid> is the user's
  return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != kSeenByUser;
}

Result<FdServerAddress> start_fd_server(uint64_t job_key) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return error("cannot make a Unix socket: %s", no_descriptor(errno).c_str());
  auto number = listen_anywhere(fd);
  if (!number) {
    close(fd);
    return number;
  }
  pthread_t thread;
  auto* const server = new FdServer(fd, job_key);
  if (const int failed = start_library_thread(&thread, FdServer::run, server)) {
    delete server;
    return error("cannot start a thread: %s; %s", std::strerror(failed), kRaiseThreads);
  }
  pthread_detach(thread);
  return number;
}

void learn_fd_server(int pid, FdServerAddress number, uint64_t job_key) {
  keep_fd_peer(pid, {number, job_key, UserAndGroup::now()});
}

bool has_fd_server(int pid) noexcept {
  const auto peer = find_fd_peer(pid);
  return peer && peer->server != 0;
}

bool has_become_another(int pid) noexcept {
  const auto peer = find_fd_peer(pid);
  return peer && peer->who != UserAndGroup::now();
}

Result<int> request_fd(int pid, int fd, uint64_t inode) {
  const NoCancel whole;
  const auto peer = find_fd_peer(pid);
  if (!peer || peer->server == 0) return error("process %d has no descriptor server", pid);
  const int socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return error("cannot make a Unix socket: %s", no_descriptor(errno).c_str());
  auto file = ask(socket_fd, pid, *peer, {peer->job_key, inode, fd, 0});
  close(socket_fd);
  if (!file) return error("process %d passes no file: %s", pid, file.sentence().c_str());
  return file;
}

}  // namespace pinwire
