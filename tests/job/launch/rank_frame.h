// A rank that sends one frame of any kind to its launcher: a command line of bash(1).
#pragma once

#include <cstdio>
#include <cstring>
#include <string>

#include "core/bootstrap/wire.h"

namespace pinwire::test {

/// The socket keeps records, and bash's printf writes what it prints at once.
inline std::string line_that_sends(bootstrap::FrameKind kind, Rank rank = 0, int code = 0) {
  const bootstrap::FrameHeader header{
      bootstrap::kFrameMagic, bootstrap::kFrameVersion, kind, rank, 0, code, 0, 0, 0};
  unsigned char bytes[sizeof header];
  std::memcpy(bytes, &header, sizeof header);
  std::string line = "printf '";
  for (const unsigned byte : bytes) {
    char letters[8];
    std::snprintf(letters, sizeof letters, "\\x%02x", byte);
    line += letters;
  }
  return line + "' >&$GASNET_JOB_FD";
}

}  // namespace pinwire::test
