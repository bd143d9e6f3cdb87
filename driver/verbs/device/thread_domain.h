// A lane's queue pairs and receive queues are made in a domain of its own. One thread at a time
// posts to them (the engine's lane lock sees to that), so the provider needs no lock of its own:
// where it can be told so, by a thread domain (ibv_alloc_td(3)), libmlx5 saves one at each post,
// and gives the lane a doorbell register of its own.
#pragma once

#include "driver/verbs/device/device.h"

namespace pinwire::verbs {

/// The function of the library's header has no external linkage; this one does.
inline void free_thread_domain(ibv_td* domain) noexcept { ibv_dealloc_td(domain); }

class ThreadDomain {
 public:
  /// Without a thread domain, where there is none to be had, the protection domain serves.
  void open(const Device& device) noexcept;
  void close() noexcept {
    parent_.reset();
    domain_.reset();
  }
  bool is_open() const noexcept { return static_cast<bool>(parent_); }
  /// For queue pairs and receive queues; memory is registered in the device's own domain.
  ibv_pd* pd(const Device& device) const noexcept {
    return parent_ ? parent_.get() : device.pd.get();
  }

 private:
  Owned<ibv_td, free_thread_domain> domain_;
  Owned<ibv_pd, ibv_dealloc_pd> parent_;  // after it, as it stands on it
};

}  // namespace pinwire::verbs
