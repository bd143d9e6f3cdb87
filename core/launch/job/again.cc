#include "core/launch/job/again.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/launch/loop/fd.h"
#include "core/launch/loop/signals.h"

namespace pinwire::launch {

namespace {

/// Empty for what is no file, or too much: a rank may put a pipe there, or a link to a device.
std::string read_small_file(const std::string& path) {
  constexpr size_t kBytesMax = 64 << 10;
  const EndsBySignal reading;  // perhaps of a file server that does not answer
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return "";
  std::string text(kBytesMax + 1, '\0');
  const ssize_t got = ::read(fd.get(), text.data(), text.size());
  if (got < 0 || static_cast<size_t>(got) > kBytesMax) return "";
  text.resize(static_cast<size_t>(got));
  return text;
}

}  // namespace

std::string again_path(const std::string& job_dir) { return job_dir + "/again"; }

std::vector<std::string> read_again(const std::string& path) {
  std::vector<std::string> assignments;
  const std::string text = read_small_file(path);
  for (size_t at = 0, end; (end = text.find('\0', at)) != std::string::npos; at = end + 1) {
    const auto one = text.substr(at, end - at);
    if (one.find('=') != 0 && one.find('=') != std::string::npos) assignments.push_back(one);
  }
  return assignments;
}

}  // namespace pinwire::launch
