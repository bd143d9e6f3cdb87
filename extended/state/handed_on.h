// Memory of threads that have ended, for threads that begin: it is reserved once, and stays
// reserved as long as the process lives, because others may still use it.
#pragma once

#include <mutex>

#include "core/base/check.h"
#include "pin/lock.h"

namespace pinwire {

/// T has a member `T* next_left`. In library calls, which no handler interrupts.
template <typename T>
class HandedOn {
 public:
  /// Returns an item that an ended thread has left; nullptr: none of them fits.
  template <typename Fits>
  T* take(Fits&& fits) noexcept {
    const std::lock_guard<PinLock> guard(lock_);
    for (T** at = &first_; *at != nullptr; at = &(*at)->next_left) {
      T* item = *at;
      if (!fits(*item)) continue;
      *at = item->next_left;
      return item;
    }
    return nullptr;
  }
  void give(T& item) noexcept {
    const std::lock_guard<PinLock> guard(lock_);
    dcheck(&item != first_, "memory of a thread is handed on twice", &item);
    item.next_left = first_;
    first_ = &item;
  }

 private:
  PinLock lock_;
  T* first_ = nullptr;
};

}  // namespace pinwire
