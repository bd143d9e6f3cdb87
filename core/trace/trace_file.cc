#include "core/trace/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/no_cancel.h"

namespace pinwire {

Status TraceFile::open(const char* variable, const std::string& name, uint32_t rank) {
  std::string path;
  for (const char letter : name)
    path += letter == '%' ? std::to_string(rank) : std::string(1, letter);
  if (path == "-" || path == "stderr") {
    fd_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  } else if (path == "stdout") {
    fd_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  }
  if (fd_ >= 0) return success();
  return error("%s names %s, which cannot be opened: %s", variable, path.c_str(),
               std::strerror(errno));
}

void TraceFile::write_line(const char* line, size_t bytes, bool at_once) noexcept {
  if (used_ + bytes > sizeof buffer_) flush();
  std::memcpy(buffer_ + used_, line, bytes);
  used_ += bytes;
  if (at_once) flush();
}

void TraceFile::flush() noexcept {
  const NoCancel whole;  // under the lock of the trace
  for (size_t at = 0; at < used_;) {
    const ssize_t wrote = ::write(fd_, buffer_ + at, used_ - at);
    if (wrote <= 0 && errno != EINTR) break;  // a full disk must not stop the job
    if (wrote > 0) at += static_cast<size_t>(wrote);
  }
  used_ = 0;
}

void TraceFile::close() noexcept {
  if (fd_ < 0) return;
  flush();
  ::close(fd_);
  fd_ = -1;
}

}  // namespace pinwire
