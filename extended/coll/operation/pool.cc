#include "extended/coll/operation/pool.h"

#include <mutex>
#include <utility>

#include "core/base/check.h"
#include "pin/lock.h"

namespace pinwire {
namespace {

/// For each team: as many as its window has, and more of what is small, for clients that call
/// ahead.
constexpr uint32_t kWorkspacesEach = kWindowOps;
constexpr uint32_t kOperationsEach = 16 * kWindowOps;

template <typename T>
class KeptList {
 public:
  /// nullptr: none is kept.
  T* take() noexcept {
    dcheck((first_ == nullptr) == (count_ == 0), "a list of another length", count_);
    if (first_ == nullptr) return nullptr;
    --count_;
    return std::exchange(first_, first_->next);
  }
  void give(T& item) noexcept {
    dcheck(&item != first_, "it was given back twice", count_);
    item.next = std::exchange(first_, &item);
    ++count_;
  }
  /// One that is too many; nullptr: there is none.
  T* take_above(uint32_t bound) noexcept { return count_ > bound ? take() : nullptr; }
  uint32_t count() const noexcept { return count_; }

 private:
  T* first_ = nullptr;
  uint32_t count_ = 0;
};

struct CollectivePool {
  PinLock lock;
  uint32_t teams = 0;
  KeptList<Collective> operations;
  KeptList<Workspace> workspaces;
};
CollectivePool coll_pool;

template <typename T>
T& take_or_make(KeptList<T>& list) noexcept {
  {
    const std::lock_guard<PinLock> guard(coll_pool.lock);
    if (T* item = list.take()) return *item;
  }
  return *new T;
}

template <typename T>
void drop_extra(KeptList<T>& list, uint32_t each) noexcept {
  T* extra = nullptr;
  do {
    delete extra;
    const std::lock_guard<PinLock> guard(coll_pool.lock);
    extra = list.take_above(coll_pool.teams * each);
  } while (extra != nullptr);
}

}  // namespace

Collective& take_operation() noexcept { return take_or_make(coll_pool.operations); }
void take_workspace(Collective& c) noexcept {
  dcheck(c.workspace == nullptr, "an operation comes into the window twice", c.number);
  c.workspace = &take_or_make(coll_pool.workspaces);
}

void recycle(Collective& c) noexcept {
  dcheck(c.workspace != nullptr, "an operation that was never at work ends", c.number);
  dcheck(c.is_live, "an operation ends that was not in the window", c.number);
  if constexpr (kChecks) {
    dcheck(c.running_streams.load(std::memory_order_relaxed) == nullptr, "its streams run on",
           c.number);
  }
  Workspace& workspace = *std::exchange(c.workspace, nullptr);
  workspace.scratch.release_large();
  Workspace* extra_workspace = nullptr;
  Collective* extra = nullptr;
  {
    const std::lock_guard<PinLock> guard(coll_pool.lock);
    coll_pool.workspaces.give(workspace);
    coll_pool.operations.give(c);
    extra_workspace = coll_pool.workspaces.take_above(coll_pool.teams * kWorkspacesEach);
    extra = coll_pool.operations.take_above(coll_pool.teams * kOperationsEach);
  }
  delete extra_workspace;
  delete extra;
}

void widen_pool() noexcept {
  const std::lock_guard<PinLock> guard(coll_pool.lock);
  ++coll_pool.teams;
}

void narrow_pool() noexcept {
  {
    const std::lock_guard<PinLock> guard(coll_pool.lock);
    check(coll_pool.teams != 0, "more teams end than begin");
    --coll_pool.teams;
  }
  drop_extra(coll_pool.workspaces, kWorkspacesEach);
  drop_extra(coll_pool.operations, kOperationsEach);
}

PoolCounts kept_in_pool() noexcept {
  const std::lock_guard<PinLock> guard(coll_pool.lock);
  return {coll_pool.operations.count(), coll_pool.workspaces.count()};
}

}  // namespace pinwire
