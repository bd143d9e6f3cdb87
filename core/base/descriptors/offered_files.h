// The descriptors that this process gives to its peers if they ask (fd_passing.h): files of the
// library's memory and its pipes. A client's own files are never among them, for in a privileged
// program they may be such that its user must not have them.
#pragma once

#include <cstdint>

namespace pinwire {

/// From now on peers may have it. Any thread.
void offer_file(int fd);

/// Takes that back, and closes the descriptor, offered or not. Nothing for fd < 0.
void close_offered_file(int fd) noexcept;

/// Sends the descriptor through the socket with SCM_RIGHTS, if it is offered and its file has that
/// inode; else a word that it is not. Does not wait for room in the socket.
void send_offered_file(int socket_fd, int fd, uint64_t inode) noexcept;

}  // namespace pinwire
