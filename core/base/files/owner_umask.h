// Files that others than Pinwire's code make (DPDK's sockets and directories) for its own user.
#pragma once

#include <sys/stat.h>

#include "core/base/files/number_file.h"

namespace pinwire {

/// The umask, which no system call tells without setting it: other threads would make files under
/// that meanwhile.
inline mode_t current_umask(const char* status_path = "/proc/thread-self/status") noexcept {
  if (const auto shown = octal_number_in(status_path, "Umask:")) return static_cast<mode_t>(*shown);
  const mode_t now = ::umask(S_IRWXU | S_IRWXG | S_IRWXO);  // before Linux 4.7, or without /proc
  ::umask(now);
  return now;
}

/// While it lives, the umask takes no right from the owner of what is made: a program without those
/// cannot connect to its own sockets. The umask is the whole process's, and what it takes from
/// others stays. One that takes nothing from the owner is left alone.
class OwnerUmask {
 public:
  OwnerUmask() noexcept : saved_(current_umask()) {
    if (takes_from_owner()) ::umask(saved_ & ~mode_t{S_IRWXU});
  }
  ~OwnerUmask() {
    if (takes_from_owner()) ::umask(saved_);
  }
  OwnerUmask(const OwnerUmask&) = delete;
  OwnerUmask& operator=(const OwnerUmask&) = delete;

 private:
  bool takes_from_owner() const noexcept { return (saved_ & S_IRWXU) != 0; }
  const mode_t saved_;
};

}  // namespace pinwire
