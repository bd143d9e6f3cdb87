#include "core/base/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/number_file.h"

namespace pinwire {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

Folder open_folder(int parent_fd, const char* name, int more_flags) {
  const int fd = ::openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more_flags);
  DIR* const folder = fd >= 0 ? ::fdopendir(fd) : nullptr;
  if (fd >= 0 && folder == nullptr) ::close(fd);
  return {folder, ::closedir};
}

/// The number of the mount that an open directory lies in; 0 if it is not known. Kernels before 5.8
/// tell it in /proc alone (proc(5), fdinfo), and there may be no /proc.
uint64_t mount_of(const Folder& folder) {
  struct statx known {};
  const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(::dirfd(folder.get()), "", flags, STATX_MNT_ID, &known) == 0 &&
      (known.stx_mask & STATX_MNT_ID) != 0)
    return known.stx_mnt_id;
  const auto facts = "/proc/self/fdinfo/" + std::to_string(::dirfd(folder.get()));
  return number_in(facts.c_str(), "mnt_id:");
}

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

void remove_entry(const Folder& parent, uint64_t mount, const char* name) {
  const int parent_fd = ::dirfd(parent.get());
  if (::unlinkat(parent_fd, name, 0) == 0) return;  // it was no directory
  const auto folder = open_folder(parent_fd, name, O_NOFOLLOW);
  if (!folder) return;
  // An unknown mount counts as another one: a directory that stays harms nobody.
  if (mount == 0 || mount_of(folder) != mount) return;
  for (const auto& one : names_in(folder)) remove_entry(folder, mount, one.c_str());
  ::unlinkat(parent_fd, name, AT_REMOVEDIR);
}

}  // namespace

void remove_tree(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const auto parent = open_folder(AT_FDCWD, above.c_str(), 0);
  if (!parent) return;
  remove_entry(parent, mount_of(parent), path.substr(slash + 1).c_str());
}

}  // namespace pinwire
