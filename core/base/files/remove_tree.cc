#include "core/base/files/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/files/number_file.h"
#include "core/base/files/own_dir.h"

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

/// A sentence has room for the reason beside a path of any length.
std::string shown(const std::string& path) {
  constexpr size_t kEnd = 400;
  return path.size() <= 2 * kEnd ? path
                                 : path.substr(0, kEnd) + "..." + path.substr(path.size() - kEnd);
}

/// One that is gone is as good as removed: another process may be about to remove the same.
Status removed_or(int os_error, const std::string& path) {
  if (os_error == ENOENT) return success();
  return error("cannot remove %s: %s", shown(path).c_str(), ::strerror(os_error));
}

/// Removes a tree whose depth has no bound by a stack and descriptors that have one: what lies too
/// deep moves up to the top of the tree, and goes from there.
class Removal {
 public:
  /// Nothing outside of this mount goes.
  explicit Removal(uint64_t mount) : mount_(mount) {}

  /// `path` is for the sentence; its last part is the name in the parent.
  Status remove(int parent_fd, const std::string& path) {
    const char* const name = name_in(path);
    if (::unlinkat(parent_fd, name, 0) == 0) return success();  // it was no directory
    const int os_error = errno;
    const int found_fd = find_dir(parent_fd, name);
    if (found_fd < 0) return removed_or(errno == ENOTDIR ? os_error : errno, path);
    Status emptied = is_of_mount(found_fd, path);
    const auto folder = folder_of(emptied ? open_own_dir(found_fd) : -1);
    const int open_error = errno;
    ::close(found_fd);
    if (emptied) emptied = folder ? empty(folder, path) : removed_or(open_error, path);
    if (!emptied || ::unlinkat(parent_fd, name, AT_REMOVEDIR) == 0) return emptied;
    return removed_or(errno, path);
  }

 private:
  static constexpr int kDepthMax = 32;

  static const char* name_in(const std::string& path) { return path.c_str() + path.rfind('/') + 1; }

  Status is_of_mount(int found_fd, const std::string& path) const {
    // An unknown mount counts as another one: a directory that stays harms nobody.
    if (mount_ == 0)
      return error("cannot remove %s: neither statx(2) nor /proc tells of mounts",
                   shown(path).c_str());
    if (mount_of(found_fd) == mount_) return success();
    return error("cannot remove %s: something is mounted there", shown(path).c_str());
  }

  Status empty(const Folder& folder, const std::string& path) {
    const int fd = ::dirfd(folder.get());
    take_own_rights(fd);
    if (depth_ == 0) top_fd_ = fd;
    Status emptied = success();  // of the last pass, which meets all that is left
    uint64_t moved_before;
    do {
      moved_before = moved_;
      emptied = success();
      ::rewinddir(folder.get());
      ++depth_;
      for (const auto& one : names_in(folder)) {
        const auto at = path + "/" + one;
        Status removed = depth_ < kDepthMax ? remove(fd, at) : move_up(fd, at);
        if (emptied && !removed) emptied = std::move(removed);
      }
      --depth_;
    } while (depth_ == 0 && moved_ != moved_before);
    return emptied;
  }

  /// A mount point cannot move, and stays.
  Status move_up(int parent_fd, const std::string& path) {
    const char* const name = name_in(path);
    if (::unlinkat(parent_fd, name, 0) == 0) return success();
    give_rights(parent_fd, name);  // a directory that changes its parent is written to
    for (;;) {
      const auto up = "deep-" + std::to_string(next_++);
      if (::renameat(parent_fd, name, top_fd_, up.c_str()) == 0) break;
      const bool is_taken = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
      if (!is_taken) return removed_or(errno, path);
    }
    ++moved_;
    return success();
  }

  void give_rights(int parent_fd, const char* name) const {
    const int found_fd = find_dir(parent_fd, name);
    const bool is_here = found_fd >= 0 && mount_of(found_fd) == mount_;
    const int fd = is_here ? open_own_dir(found_fd) : -1;
    if (fd >= 0) take_own_rights(fd);
    for (const int one : {fd, found_fd})
      if (one >= 0) ::close(one);
  }

  const uint64_t mount_;
  int top_fd_ = -1;
  int depth_ = 0;
  uint64_t moved_ = 0;  // so many have moved up
  uint64_t next_ = 0;   // the next name there
};

}  // namespace

Status remove_tree(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int parent_fd = ::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (parent_fd < 0) return removed_or(errno, path);
  Status removed = Removal(mount_of(parent_fd)).remove(parent_fd, path);
  ::close(parent_fd);
  return removed;
}

}  // namespace pinwire
