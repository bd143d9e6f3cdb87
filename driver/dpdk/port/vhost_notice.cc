#include "driver/dpdk/port/vhost_notice.h"

#include <rte_vhost.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

namespace pinwire {
namespace {

constexpr rte_vhost_device_ops kNoCallbacks{};

/// A listening socket at `path`, or -1.
int listen_at(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  if (bind(fd, at, sizeof address) == 0 && listen(fd, 1) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

void notice_vhost_socket(const std::string& socket) {
  const std::string path = socket + "+";  // of this port alone
  const int listener = listen_at(path);
  if (listener < 0) return;
  // The library connects, which wakes its thread, and forgets the connection again. Nobody accepts.
  if (rte_vhost_driver_register(path.c_str(),
                                RTE_VHOST_USER_CLIENT | RTE_VHOST_USER_NO_RECONNECT) == 0) {
    if (rte_vhost_driver_callback_register(path.c_str(), &kNoCallbacks) == 0)
      rte_vhost_driver_start(path.c_str());
    rte_vhost_driver_unregister(path.c_str());
  }
  close(listener);
  unlink(path.c_str());
}

}  // namespace pinwire
