// A directory of one test alone, mode 0700; it goes with all in it.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "core/base/check.h"

namespace pinwire::test {

class ScratchDir {
 public:
  ScratchDir() { check(::mkdtemp(path_.data()) != nullptr, "no directory in /tmp", errno); }
  ~ScratchDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_ = "/tmp/pinwire-test-XXXXXX";
};

}  // namespace pinwire::test
