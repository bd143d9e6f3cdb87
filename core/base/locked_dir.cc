#include "core/base/locked_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "core/base/remove_tree.h"

namespace pinwire {
namespace {

constexpr std::string_view kNewStart = "pinwire-new-";
constexpr std::string_view kRandomLetters = "XXXXXX";

/// A name must be unmistakable before its directory is removed: others, too, name directories after
/// Pinwire.
bool is_our_name(std::string_view name) {
  for (const auto start : {kJobDirStart, kEalDirStart}) {
    if (name.starts_with(start) && name.size() == start.size() + kRandomLetters.size()) return true;
  }
  return false;
}

/// A descriptor that holds the lock of the directory, or -1.
int lock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int os_error = errno;
  ::close(fd);
  errno = os_error;
  return -1;
}

/// Whether `path` is a directory of mine that nobody has locked. No clock is asked: one has its
/// lock before it has its name.
bool is_left_over(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat facts {};
  const bool is_free = ::fstat(fd, &facts) == 0 && facts.st_uid == ::geteuid() &&
                       ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  ::close(fd);
  return is_free;
}

Error failed(const char* deed, const std::string& path, int os_error) {
  return error("cannot %s the directory %s: %s", deed, path.c_str(), ::strerror(os_error));
}

/// Without links, dots and slashes too many; empty, and errno, if there is none.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), ::free);
  return whole ? whole.get() : "";
}

}  // namespace

Result<LockedDir> make_locked_dir(const std::string& parent, std::string_view start) {
  const auto real = real_path(parent);
  if (real.empty()) return failed("find", parent, errno);
  std::string path = real + "/";
  const size_t folder_bytes = path.size();
  path.append(kNewStart).append(kRandomLetters);
  if (::mkdtemp(path.data()) == nullptr) return failed("make", path, errno);
  const int lock_fd = lock(path);
  if (lock_fd < 0) {
    const int os_error = errno;
    ::rmdir(path.c_str());
    return failed("lock", path, os_error);
  }
  std::string named = path.substr(0, folder_bytes);
  named.append(start).append(path, folder_bytes + kNewStart.size());
  if (::rename(path.c_str(), named.c_str()) != 0) {
    const int os_error = errno;
    ::rmdir(path.c_str());
    ::close(lock_fd);
    return failed("name", named, os_error);
  }
  return LockedDir{std::move(named), lock_fd};
}

void remove_unlocked_dirs(const std::string& parent,
                          const std::function<void(const std::string& path)>& before_removal) {
  const auto real = real_path(parent);  // processes carry that of their directory
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(real.c_str()), ::closedir);
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (!is_our_name(entry->d_name)) continue;
    const std::string path = real + "/" + entry->d_name;
    if (!is_left_over(path)) continue;
    if (before_removal) before_removal(path);
    remove_tree(path);
  }
}

}  // namespace pinwire
