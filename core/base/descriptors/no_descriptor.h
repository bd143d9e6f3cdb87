// Advice for a user where the kernel gives a process no descriptor: it goes by the errno.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace pinwire {

/// The error, and what to do about it where that is known.
inline std::string no_descriptor(int os_error) {
  const std::string what = std::strerror(os_error);
  switch (os_error) {
    case EMFILE:
      return what + "; raise the limit of open files (ulimit -n)";
    case ENFILE:
      return what + "; raise the limit of open files of the whole host (sysctl fs.file-max)";
    case EPERM:
    case EACCES:
    case ENOSYS:
      return what + "; a seccomp profile or a sandbox refuses the call: have it allow that";
    default:
      return what;
  }
}

}  // namespace pinwire
