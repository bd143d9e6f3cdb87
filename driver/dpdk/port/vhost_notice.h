// A net_vhost port that has just started does not answer at once: the thread of DPDK's vhost
// library that accepts its peer looks for new sockets when something happens, or after a second
// (lib/vhost/fd_man.c up to DPDK 23.11, whose fdset_add() wakes nobody).
#pragma once

#include <string>

namespace pinwire {

/// Lets vhost's thread look at `socket`, on which a port listens, now: a connection that the
/// library makes itself wakes it. Where that fails the peer waits up to 1 s, and nothing else is
/// lost.
void notice_vhost_socket(const std::string& socket);

}  // namespace pinwire
