#include "core/base/descriptors/fd_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/base/descriptors/offered_files.h"
#include "core/base/files/file_inode.h"

namespace pinwire {
namespace {

int copy_of(int fd) noexcept { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }

}  // namespace

FdServer::FdServer(int listener_fd, uint64_t job_key) noexcept
    : listener_fd_(listener_fd),
      listener_inode_(inode_of(listener_fd)),
      job_key_(job_key),
      spare_fd_(copy_of(listener_fd)) {}

FdServer::~FdServer() {
  // The numbers may be the client's by now.
  if (inode_of(listener_fd_) == listener_inode_) close(listener_fd_);
  if (spare_fd_ >= 0 && inode_of(spare_fd_) == listener_inode_) close(spare_fd_);
  for (const End& end : ends_) close_own(end);
}

void* FdServer::run(void* server) noexcept {
  std::unique_ptr<FdServer>(static_cast<FdServer*>(server))->work();
  return nullptr;
}

void FdServer::work() {
  for (;;) {
    // A peer that was stopped before it asked holds up no other.
    watched_.assign(1, {listener_fd_, POLLIN, 0});
    for (const End& end : ends_) watched_.push_back({end.fd, POLLIN, 0});
    if (poll(watched_.data(), watched_.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;  // the client has lowered its limit of descriptors, say
    }
    for (size_t i = ends_.size(); i-- > 0;) {
      if (watched_[i + 1].revents == 0) continue;
      answer(ends_[i]);
      drop(i);
    }
    if (watched_[0].revents != 0 && !accept_one()) return;
  }
}

/// The client may have closed it, and have a file of its own under the number.
void FdServer::close_own(const End& end) noexcept {
  if (inode_of(end.fd) == end.inode) close(end.fd);
}

void FdServer::drop(size_t end) {
  close_own(ends_[end]);
  ends_.erase(ends_.begin() + static_cast<ptrdiff_t>(end));
}

/// False: the socket is not there any more.
bool FdServer::accept_one() {
  if (inode_of(listener_fd_) != listener_inode_) return false;
  const int fd = accept4(listener_fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) {
    add(fd);
    return true;
  }
  if (errno != EMFILE && errno != ENFILE) return true;  // the peer is gone again
  // The peer must hear that it gets nothing: it would wait for ever.
  if (spare_fd_ < 0 || inode_of(spare_fd_) != listener_inode_) return false;
  close(spare_fd_);
  close(accept4(listener_fd_, nullptr, nullptr, SOCK_CLOEXEC));
  spare_fd_ = copy_of(listener_fd_);
  return true;
}

/// A stranger is not waited for: it could have this process hold any number of descriptors.
void FdServer::add(int fd) {
  const auto peer = SocketPeer::of(fd);
  const bool is_same = peer && peer->who == who_;
  if (!is_same && (!peer || !find_fd_peer(peer->pid))) {
    close(fd);
    return;
  }
  if (!is_same) close_oldest_of(peer->pid);
  ends_.push_back({fd, inode_of(fd), is_same ? 0 : peer->pid});
}

/// If it has as many as it may. Those that have asked are answered and closed by now.
void FdServer::close_oldest_of(int changed_pid) {
  const auto is_its = [changed_pid](const End& end) { return end.changed_pid == changed_pid; };
  if (std::count_if(ends_.begin(), ends_.end(), is_its) < kEndsOfChangedMax) return;
  drop(static_cast<size_t>(std::find_if(ends_.begin(), ends_.end(), is_its) - ends_.begin()));
}

void FdServer::answer(const End& end) const {
  if (inode_of(end.fd) != end.inode) return;
  FileRequest request{};
  const auto got = recv(end.fd, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (got != sizeof request || request.job_key != job_key_) return;
  // Not before it asks: its own server would look back at the one that looks, and so on.
  if (end.changed_pid != 0 && !has_listened_as(end.changed_pid, who_)) return;
  send_offered_file(end.fd, request.fd, request.inode);
}

}  // namespace pinwire
