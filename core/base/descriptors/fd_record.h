// A text, and perhaps a descriptor with it, as one record of a SOCK_SEQPACKET socket (unix(7),
// SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pinwire {

struct FdRecord {
  std::string text;     ///< of at most kFdRecordBytesMax; empty: none came
  int fd = -1;          ///< the caller closes it
  bool is_cut = false;  ///< there was one, for which this process had no number left
  int os_error = 0;     ///< why no text came; 0: the other end is closed
};

inline constexpr size_t kFdRecordBytesMax = 8192;

/// `fd`: -1 if there is none; `flags`: more of sendmsg(2). False if it cannot be sent.
bool send_record(int socket, std::string_view text, int fd, int flags = 0) noexcept;
/// Waits for one, as long as the socket's SO_RCVTIMEO lets it. `flags`: more of recvmsg(2).
FdRecord receive_record(int socket, int flags = 0);

}  // namespace pinwire
