// A file that lines go to, through a buffer of fixed size.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace pinwire {

class TraceFile {
 public:
  /// "-" and "stderr", "stdout"; else a path, in which % stands for the rank. Empties the file.
  /// Lines of ranks that share it are not torn.
  Status open(const char* variable, const std::string& name, uint32_t rank);
  bool is_open() const noexcept { return fd_ >= 0; }
  void write_line(const char* line, size_t bytes, bool at_once) noexcept;
  void flush() noexcept;
  void close() noexcept;

 private:
  int fd_ = -1;
  size_t used_ = 0;
  char buffer_[65536];
};

}  // namespace pinwire
