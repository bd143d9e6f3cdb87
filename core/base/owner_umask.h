// Files that others than Pinwire's code make (DPDK's sockets and directories) for its own user.
#pragma once

#include <sys/stat.h>

namespace pinwire {

/// While it lives, the umask takes no right from the owner of what is made: a program without those
/// cannot connect to its own sockets. The umask is the whole process's, and what it takes from
/// others stays.
class OwnerUmask {
 public:
  OwnerUmask() noexcept : saved_(::umask(S_IRWXU | S_IRWXG | S_IRWXO)) {
    ::umask(saved_ & ~mode_t{S_IRWXU});
  }
  ~OwnerUmask() { ::umask(saved_); }
  OwnerUmask(const OwnerUmask&) = delete;
  OwnerUmask& operator=(const OwnerUmask&) = delete;

 private:
  const mode_t saved_;
};

}  // namespace pinwire
