// A text, and perhaps a descriptor with it, as one record of a SOCK_SEQPACKET socket (unix(7),
// SCM_RIGHTS).
#pragma once

#include <string>

#include "core/launch/fd.h"

namespace pinwire::launch {

struct FdRecord {
  std::string text;  ///< of at most kFdRecordBytesMax; empty: none came
  Fd fd;
  bool is_cut = false;  ///< there was one, for which this process had no number left
};

inline constexpr size_t kFdRecordBytesMax = 8192;

/// `fd`: -1 if there is none. False if it cannot be sent.
bool send_record(int socket, std::string text, int fd);
/// Waits for one, as long as the socket's SO_RCVTIMEO lets it.
FdRecord receive_record(int socket);

}  // namespace pinwire::launch
