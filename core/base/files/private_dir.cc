#include "core/base/files/private_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

namespace pinwire {
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

/// The owner of the root directory stands for root: in a user namespace without a number for root
/// that is the overflow number.
bool is_trusted(uid_t owner) {
  struct stat root {};
  return owner == 0 || owner == ::geteuid() || (::stat("/", &root) == 0 && owner == root.st_uid);
}

Status check_itself(const std::string& path, const struct stat& facts) {
  if (!S_ISDIR(facts.st_mode)) {
    return error("%s is %s, no directory", path.c_str(),
                 S_ISLNK(facts.st_mode) ? "a symbolic link" : "a file");
  }
  if (facts.st_uid != ::geteuid()) {
    return error("%s belongs to user %u, and this process acts for user %u", path.c_str(),
                 facts.st_uid, ::geteuid());
  }
  if ((facts.st_mode & kOthersWrite) == 0) return success();
  return error("others may write to %s (its mode is %04o)", path.c_str(), facts.st_mode & 07777u);
}

/// "/a" for "/a/b", "/" for "/a".
std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status check_names_in(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0)
    return error("cannot look at %s: %s", path.c_str(), ::strerror(errno));
  if (!is_trusted(facts.st_uid)) {
    return error("user %u, to whom %s belongs, may replace what is in it", facts.st_uid,
                 path.c_str());
  }
  if ((facts.st_mode & kOthersWrite) == 0 || (facts.st_mode & S_ISVTX) != 0) return success();
  return error("others may replace what is in %s (its mode is %04o)", path.c_str(),
               facts.st_mode & 07777u);
}

Result<std::string> resolve_private_dir(const std::string& path) {
  // With a slash at its end the name of a link means the directory that it leads to.
  const std::string name = path.substr(0, path.find_last_not_of('/') + 1);
  struct stat facts {};
  const std::unique_ptr<char, void (*)(void*)> whole(
      ::lstat(name.c_str(), &facts) == 0 ? ::realpath(name.c_str(), nullptr) : nullptr, ::free);
  if (!whole) return error("cannot look at %s: %s", path.c_str(), ::strerror(errno));
  if (Status good = check_itself(name, facts); !good) return good.error();
  std::string resolved = whole.get();
  // The links on the way may have changed since: what counts is the path without them.
  if (::lstat(resolved.c_str(), &facts) != 0)
    return error("cannot look at %s: %s", resolved.c_str(), ::strerror(errno));
  if (Status good = check_itself(resolved, facts); !good) return good.error();
  for (std::string above = resolved; above != "/";) {
    above = parent_of(above);
    if (Status good = check_names_in(above); !good) return good.error();
  }
  return resolved;
}

}  // namespace pinwire
