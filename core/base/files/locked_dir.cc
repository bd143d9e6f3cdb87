#include "core/base/files/locked_dir.h"

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

#include "core/base/files/dir_letters.h"
#include "core/base/files/own_dir.h"
#include "core/base/files/private_dir.h"
#include "core/base/files/remove_tree.h"

namespace pinwire {
namespace {

constexpr std::string_view kNewStart = "pinwire-new-";
constexpr ino_t kNoInode = 0;  // in the letters of those that have no other name yet
constexpr int kTriesMax = 100;

std::string path_of(const std::string& folder, std::string_view start, const std::string& letters) {
  return (folder + "/").append(start).append(letters);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool may_be_name(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() == start.size() + kDirLetters;
}

/// A descriptor that holds the lock of the directory, or -1. `is_it` looks at what is there before
/// open_own_dir() may change its mode.
template <typename IsIt>
int lock_if(const std::string& path, IsIt is_it) {
  const int found_fd = find_dir(AT_FDCWD, path.c_str());
  if (found_fd < 0) return -1;
  struct stat facts {};
  const int fd = ::fstat(found_fd, &facts) == 0 && is_it(facts) ? open_own_dir(found_fd) : -1;
  int os_error = errno;
  ::close(found_fd);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    os_error = errno;
    ::close(fd);
    errno = os_error;
    return -1;
  }
  errno = os_error;
  return fd;
}

/// Its lock, if `path` is a directory of mine with its own name that nobody else has locked, else
/// -1. No clock is asked: one has its lock before it has its name.
int lock_left_over(const std::string& path, bool has_name = true) {
  return lock_if(path, [&](const struct stat& facts) {
    return facts.st_uid == ::geteuid() && proves(name_of(path), has_name ? facts.st_ino : kNoInode);
  });
}

Error failed(const char* deed, const std::string& path, int os_error) {
  return error("cannot %s the directory %s: %s", deed, path.c_str(), ::strerror(os_error));
}

/// Without links, dots and slashes too many; empty, and errno, if there is none.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), ::free);
  return whole ? whole.get() : "";
}

/// Is rename(2) with EEXIST where `to` is there: that takes the place of an empty directory.
int rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  struct stat facts {};
  if (::lstat(to.c_str(), &facts) != 0) return ::rename(from.c_str(), to.c_str());
  errno = EEXIST;
  return -1;
}

/// One try. Nothing, without an error, if a launcher that looks for what is left came between: it
/// removes what has no lock yet, and is empty.
Result<LockedDir> make_once(const std::string& real_parent, std::string_view start,
                            bool& try_again) {
  const std::string random = random_letters();
  const std::string path = path_of(real_parent, kNewStart, with_proof(random, kNoInode));
  if (::mkdir(path.c_str(), S_IRWXU) != 0) {
    const int os_error = errno;
    try_again = os_error == EEXIST;
    return failed("make", path, os_error);
  }
  const int lock_fd = lock_if(path, [](const struct stat&) { return true; });
  if (lock_fd < 0) {
    const int os_error = errno;
    try_again = os_error == ENOENT || os_error == EWOULDBLOCK;
    ::rmdir(path.c_str());
    return failed("lock", path, os_error);
  }
  take_own_rights(lock_fd);  // from the umask
  struct stat facts {};
  ::fstat(lock_fd, &facts);
  std::string named = path_of(real_parent, start, with_proof(random, facts.st_ino));
  if (rename_to_new(path, named) == 0) return LockedDir{std::move(named), lock_fd};
  const int os_error = errno;
  try_again = ::rmdir(path.c_str()) != 0 && errno == ENOENT;
  ::close(lock_fd);
  return failed("name", named, os_error);
}

/// The caller holds its lock, so its maker finds it locked, and makes another.
void remove_unnamed(const std::string& path) {
  const int lock_fd = lock_left_over(path, false);
  if (lock_fd < 0) return;
  ::rmdir(path.c_str());
  ::close(lock_fd);
}

/// The paths of those in `parent` that have such a name; none where others may give names.
std::vector<std::string> named_dirs(const std::string& parent,
                                    std::span<const std::string_view> starts) {
  std::vector<std::string> paths;
  const auto real = real_path(parent);  // processes carry that of their directory
  if (real.empty() || !check_names_in(real)) return paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(real.c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    const auto has_name = [name](std::string_view start) { return may_be_name(name, start); };
    if (std::any_of(starts.begin(), starts.end(), has_name))
      paths.push_back(real + "/" + entry->d_name);
  }
  return paths;
}

bool is_to_be_kept(const std::string& path) { return may_be_name(name_of(path), kKeepDirStart); }

/// The name of one that is kept, and others for where a user has given that.
std::string kept_path(const std::string& path, int tries) {
  const auto kept = path_of(path.substr(0, path.rfind('/')), kKeptDirStart,
                            path.substr(path.size() - kDirLetters));
  return tries == 1 ? kept : kept + "-" + std::to_string(tries);
}

Status keep(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return success();
  for (int tries = 1; tries <= kTriesMax; ++tries) {
    if (rename_to_new(path, kept_path(path, tries)) == 0 || errno == ENOENT) return success();
    if (errno != EEXIST) break;
  }
  return failed("keep", path, errno);
}

}  // namespace

Result<LockedDir> make_locked_dir(const std::string& parent, std::string_view start) {
  const auto real = real_path(parent);
  if (real.empty()) return failed("find", parent, errno);
  if (auto safe = check_names_in(real); !safe) return safe.error();
  for (int tries = 1;; ++tries) {
    bool try_again = false;
    auto made = make_once(real, start, try_again);
    if (made || !try_again || tries == kTriesMax) return made;
  }
}

Status finish_locked_dir(const std::string& path) {
  return is_to_be_kept(path) ? keep(path) : remove_tree(path);
}

std::string where_kept(const std::string& path, int lock_fd) {
  struct stat wanted {
  }, facts{};
  if (!is_to_be_kept(path) || ::fstat(lock_fd, &wanted) != 0) return "";
  for (int tries = 1; tries <= kTriesMax; ++tries) {
    auto kept = kept_path(path, tries);
    if (::lstat(kept.c_str(), &facts) != 0) break;
    if (facts.st_ino == wanted.st_ino && facts.st_dev == wanted.st_dev) return kept;
  }
  return "";
}

std::vector<std::string> left_over_dirs(const std::string& parent,
                                        std::span<const std::string_view> starts) {
  auto paths = named_dirs(parent, starts);
  std::erase_if(paths, [](const std::string& path) {
    const int lock_fd = lock_left_over(path);
    if (lock_fd >= 0) ::close(lock_fd);
    return lock_fd < 0;
  });
  return paths;
}

void finish_left_over(std::span<const std::string> paths) {
  for (const auto& path : paths) {
    const int lock_fd = lock_left_over(path);
    if (lock_fd < 0) continue;
    [[maybe_unused]] const auto finished = finish_locked_dir(path);
    ::close(lock_fd);
  }
}

void finish_unlocked_dirs(const std::string& parent, std::span<const std::string_view> starts) {
  for (const auto& path : named_dirs(parent, std::span(&kNewStart, 1))) remove_unnamed(path);
  finish_left_over(left_over_dirs(parent, starts));
}

}  // namespace pinwire
