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

#include <algorithm>
#include <memory>

#include "core/base/private_dir.h"
#include "core/base/remove_tree.h"

namespace pinwire {
namespace {

constexpr std::string_view kNewStart = "pinwire-new-";
constexpr std::string_view kRandomLetters = "XXXXXX";
constexpr int kTriesMax = 100;
/// On a directory that only its owner may write to, the sticky bit changes nothing.
constexpr mode_t kKeepMark = S_ISVTX;

/// A name must be unmistakable before its directory is removed: others, too, name directories after
/// Pinwire.
bool is_name(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() == start.size() + kRandomLetters.size();
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

/// Its lock, if `path` is a directory of mine that nobody else has locked, else -1. No clock is
/// asked: one has its lock before it has its name.
int lock_left_over(const std::string& path) {
  struct stat facts {};
  const int fd = lock(path);
  if (fd < 0 || (::fstat(fd, &facts) == 0 && facts.st_uid == ::geteuid())) return fd;
  ::close(fd);
  return -1;
}

Error failed(const char* deed, const std::string& path, int os_error) {
  return error("cannot %s the directory %s: %s", deed, path.c_str(), ::strerror(os_error));
}

/// Without links, dots and slashes too many; empty, and errno, if there is none.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), ::free);
  return whole ? whole.get() : "";
}

/// One try. Nothing, without an error, if a launcher that looks for what is left came between: it
/// removes what has no lock yet, and is empty.
Result<LockedDir> make_once(const std::string& real_parent, std::string_view start,
                            bool& was_removed) {
  std::string path = real_parent + "/";
  const size_t folder_bytes = path.size();
  path.append(kNewStart).append(kRandomLetters);
  if (::mkdtemp(path.data()) == nullptr) return failed("make", path, errno);
  const int lock_fd = lock(path);
  if (lock_fd < 0) {
    const int os_error = errno;
    was_removed = os_error == ENOENT || os_error == EWOULDBLOCK;
    ::rmdir(path.c_str());
    return failed("lock", path, os_error);
  }
  std::string named = path.substr(0, folder_bytes);
  named.append(start).append(path, folder_bytes + kNewStart.size());
  if (::rename(path.c_str(), named.c_str()) == 0) return LockedDir{std::move(named), lock_fd};
  const int os_error = errno;
  was_removed = ::rmdir(path.c_str()) != 0 && errno == ENOENT;
  ::close(lock_fd);
  return failed("name", named, os_error);
}

/// The caller holds its lock, so its maker finds it locked, and makes another.
void remove_unnamed(const std::string& path) {
  const int lock_fd = lock_left_over(path);
  if (lock_fd < 0) return;
  ::rmdir(path.c_str());
  ::close(lock_fd);
}

}  // namespace

Result<LockedDir> make_locked_dir(const std::string& parent, std::string_view start) {
  const auto real = real_path(parent);
  if (real.empty()) return failed("find", parent, errno);
  if (auto safe = check_names_in(real); !safe) return safe.error();
  for (int tries = 1;; ++tries) {
    bool was_removed = false;
    auto made = make_once(real, start, was_removed);
    if (made || !was_removed || tries == kTriesMax) return made;
  }
}

Status keep_locked_dir(const LockedDir& directory) {
  struct stat facts {};
  if (::fchmod(directory.lock_fd, S_IRWXU | kKeepMark) != 0 ||
      ::fstat(directory.lock_fd, &facts) != 0)
    return failed("mark", directory.path, errno);
  if ((facts.st_mode & kKeepMark) != 0) return success();
  return error(
      "its file system does not keep the sticky bit by which the directory %s is marked to be kept",
      directory.path.c_str());
}

void finish_locked_dir(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return;
  if ((facts.st_mode & kKeepMark) == 0) return remove_tree(path);
  const auto slash = path.rfind('/') + 1;
  const auto letters = path.substr(path.size() - kRandomLetters.size());
  ::rename(path.c_str(), path.substr(0, slash).append(kKeptDirStart).append(letters).c_str());
}

void finish_unlocked_dirs(const std::string& parent, std::span<const std::string_view> starts,
                          const std::function<void(const std::string& path)>& before_removal) {
  const auto real = real_path(parent);  // processes carry that of their directory
  if (real.empty() || !check_names_in(real)) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(real.c_str()), ::closedir);
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    const std::string path = real + "/" + entry->d_name;
    if (is_name(name, kNewStart)) remove_unnamed(path);
    const auto has_name = [name](std::string_view start) { return is_name(name, start); };
    if (std::none_of(starts.begin(), starts.end(), has_name)) continue;
    const int lock_fd = lock_left_over(path);
    if (lock_fd < 0) continue;
    if (before_removal) before_removal(path);
    finish_locked_dir(path);
    ::close(lock_fd);
  }
}

}  // namespace pinwire
