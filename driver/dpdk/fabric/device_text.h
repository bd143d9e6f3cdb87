// Which texts can be part of DPDK's device arguments ("iface=/run/x,queues=1"), which know no
// quoting. Header only: the launcher asks before it starts anything.
#pragma once

#include <sys/un.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace pinwire {

/// Ports that a pinwire_switch can have, one for each rank of the host.
inline constexpr uint32_t kSwitchPortsMax = 64;

/// A sentence if DPDK would take `text` for something else: a comma ends a value, brackets enclose
/// a list, and blanks, quotes and control characters mean different things to different drivers.
/// `what` names the text, `fix` says what to set.
inline Status check_device_text(const char* what, const std::string& text, const char* fix) {
  constexpr std::string_view kUnfit = ",[]\"'\\ \x7f";
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) >= ' ' && kUnfit.find(letter) == std::string_view::npos)
      continue;
    return error(
        "%s \"%s\" cannot be part of DPDK's arguments, which take no comma, bracket, quote, "
        "backslash or blank; %s",
        what, text.c_str(), fix);
  }
  return success();
}

/// The same of a socket's path. DPDK cuts one that is too long, and makes the socket where nobody
/// looks for it, and perhaps where others may write.
inline Status check_socket_path(const std::string& path, const char* fix) {
  constexpr size_t kBytesMax = sizeof(sockaddr_un::sun_path) - 1;
  if (Status fits = check_device_text("the socket path", path, fix); !fits) return fits;
  if (path.size() <= kBytesMax) return success();
  return error("the socket path %s has %zu bytes, %zu more than a Unix socket's may; %s",
               path.c_str(), path.size(), path.size() - kBytesMax, fix);
}

}  // namespace pinwire
