// A directory whose maker was killed, as the next process that looks for such ones finds it.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/files/locked_dir.h"

namespace pinwire::test {

/// In `parent`; its path.
inline std::string leave_dir(const std::string& parent, std::string_view start) {
  auto made = make_locked_dir(parent, start);
  check(made.ok(), "no directory to leave");
  ::close(made->lock_fd);
  return made->path;
}

}  // namespace pinwire::test
