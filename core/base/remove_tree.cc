#include "core/base/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/number_file.h"
#include "core/base/own_dir.h"

namespace pinwire {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

Folder folder_of(int fd) {
  DIR* const folder = fd >= 0 ? ::fdopendir(fd) : nullptr;
  if (fd >= 0 && folder == nullptr) ::close(fd);
  return {folder, ::closedir};
}

/// The number of the mount that an open directory lies in; 0 if it is not known. Kernels before 5.8
/// tell it in /proc alone (proc(5), fdinfo), and there may be no /proc.
uint64_t mount_of(int fd) {
  struct statx known {};
  const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(fd, "", flags, STATX_MNT_ID, &known) == 0 && (known.stx_mask & STATX_MNT_ID) != 0)
    return known.stx_mnt_id;
  const auto facts = "/proc/self/fdinfo/" + std::to_string(fd);
  return number_in(facts.c_str(), "mnt_id:");
}

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

/// One that is gone is as good as removed: another process may be about to remove the same.
Status removed_or(int os_error, const std::string& path) {
  if (os_error == ENOENT) return success();
  return error("cannot remove %s: %s", path.c_str(), ::strerror(os_error));
}

Status remove_entry(int parent_fd, uint64_t mount, const std::string& path);

/// Removes what is in the directory that find_dir() has found at `path`.
Status empty_dir(int found_fd, uint64_t mount, const std::string& path) {
  // An unknown mount counts as another one: a directory that stays harms nobody.
  if (mount == 0)
    return error("cannot remove %s: neither statx(2) nor /proc tells of mounts", path.c_str());
  if (mount_of(found_fd) != mount)
    return error("cannot remove %s: something is mounted there", path.c_str());
  const auto folder = folder_of(open_own_dir(found_fd));
  if (!folder) return removed_or(errno, path);
  take_own_rights(::dirfd(folder.get()));
  Status emptied = success();
  for (const auto& one : names_in(folder)) {
    Status removed = remove_entry(::dirfd(folder.get()), mount, path + "/" + one);
    if (emptied && !removed) emptied = std::move(removed);
  }
  return emptied;
}

/// `path` is for the sentence; its last part is the name in the parent.
Status remove_entry(int parent_fd, uint64_t mount, const std::string& path) {
  const char* const name = path.c_str() + path.rfind('/') + 1;
  if (::unlinkat(parent_fd, name, 0) == 0) return success();  // it was no directory
  const int os_error = errno;
  const int found_fd = find_dir(parent_fd, name);
  if (found_fd < 0) return removed_or(errno == ENOTDIR ? os_error : errno, path);
  Status emptied = empty_dir(found_fd, mount, path);
  ::close(found_fd);
  if (!emptied || ::unlinkat(parent_fd, name, AT_REMOVEDIR) == 0) return emptied;
  return removed_or(errno, path);
}

}  // namespace

Status remove_tree(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int parent_fd = ::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (parent_fd < 0) return removed_or(errno, path);
  Status removed = remove_entry(parent_fd, mount_of(parent_fd), path);
  ::close(parent_fd);
  return removed;
}

}  // namespace pinwire
