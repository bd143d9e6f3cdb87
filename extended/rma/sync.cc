#include "extended/rma/sync.h"

#include "am/wait/wait.h"
#include "core/base/log.h"
#include "core/engine/client_usage.h"

namespace pinwire {
namespace {

void free_op(pinwire_op* op) noexcept {
  if constexpr (kChecks) dcheck(op->finished(), "an operation under way is given back", op);
  if constexpr (kUsageChecks) op->started = kFreed;
  op->life.store(op->life.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  auto& mine = thread_ops().explicit_ops;
  if (mine.owns(op)) [[likely]] {
    mine.give(op);
  } else {
    arena_of(op).returned.push(op);
  }
}

void check_handle(const pinwire_op* op) noexcept {
  if constexpr (kUsageChecks)
    check_once_and_here(events_move || thread_ops().explicit_ops.owns(op), *op);
}

constexpr uintptr_t kLeafBit = 1;
constexpr unsigned kLifeShift = 48;

bool is_leaf(const pinwire_op* event) noexcept {
  return (reinterpret_cast<uintptr_t>(event) & kLeafBit) != 0;
}
bool leaf_finished(const pinwire_op* leaf) noexcept {
  const auto bits = reinterpret_cast<uintptr_t>(leaf);
  const auto* op =
      reinterpret_cast<const pinwire_op*>(bits & ((uintptr_t{1} << kLifeShift) - 1) & ~kLeafBit);
  // In this order: an Op that has begun another life meanwhile is seen at the second look.
  return op->finished() ||
         (op->life.load(std::memory_order_relaxed) & 0xffff) != bits >> kLifeShift;
}

/// `what` may not be inside an access region.
void check_no_region(const ThreadOps& mine, const char* what) noexcept {
  if constexpr (kUsageChecks) {
    if (mine.region != nullptr)
      breach("C1-297", "%s, which began at %s", what, PlaceText(client_usage.region.place).text());
  }
}

/// Place of the first handle from `at` on that names an operation. An operation inside a host is
/// done when it is started: whole arrays of handles name none, so they are looked at by eights.
size_t next_valid(pinwire_op* const* ops, size_t at, size_t count) noexcept {
  constexpr size_t kStep = 8;
  dcheck(at <= count, "a look behind the last handle", at, count);
  for (; count - at >= kStep; at += kStep) {
    uintptr_t any = 0;
    for (size_t i = 0; i < kStep; ++i) any |= reinterpret_cast<uintptr_t>(ops[at + i]);
    if (any != 0) break;
  }
  while (at < count && ops[at] == nullptr) ++at;
  return at;
}

/// Frees what has finished; a leaf is its root's.
bool finish(pinwire_op* op) noexcept {
  dcheck(op != nullptr, "no operation is synchronised");
  if (is_leaf(op)) [[unlikely]]
    return leaf_finished(op);
  check_handle(op);
  if (!op->finished()) return false;
  free_op(op);
  return true;
}

struct Sweep {
  size_t valid = 0;     ///< entries that named an operation
  size_t finished = 0;  ///< of them, now overwritten
};

Sweep sweep(pinwire_op** ops, size_t count) noexcept {
  Sweep result;
  for (size_t i = 0; i < count; ++i) {
    if (ops[i] == nullptr) continue;
    ++result.valid;
    if (!finish(ops[i])) continue;
    ops[i] = nullptr;
    ++result.finished;
  }
  return result;
}

bool all_finished(const Sweep& s) noexcept { return s.finished == s.valid; }
// With no valid handle there is nothing to wait for (C1-240).
bool some_finished(const Sweep& s) noexcept { return s.valid == 0 || s.finished != 0; }

bool implicit_finished(unsigned sets) noexcept {
  ThreadOps& mine = thread_ops();
  check_no_region(mine, "implicit synchronisation inside an access region");
  check(mine.region == nullptr, "implicit synchronisation inside an access region (C1-252)");
  return (!(sets & kPuts) || mine.puts.finished()) && (!(sets & kGets) || mine.gets.finished()) &&
         (!(sets & (kPuts | kLocals)) || mine.locals.finished()) &&
         (!(sets & kAms) || mine.ams.finished()) && (!(sets & kRmws) || mine.rmws.finished());
}

pinwire_op& region_or(pinwire_op ThreadOps::*set) noexcept {
  ThreadOps& mine = thread_ops();
  return mine.region != nullptr ? *mine.region : mine.*set;
}

}  // namespace

pinwire_op* take_op() noexcept {
  auto& mine = thread_ops().explicit_ops;
  pinwire_op* op = mine.take();
  if (op == nullptr) [[unlikely]] {
    take_returned(mine);
    op = mine.take();
  }
  if (op != nullptr) {
    op->done.store(0, std::memory_order_relaxed);
    op->started = 0;
    op->is_local = false;
  }
  return op;
}

pinwire_op* handle_of(pinwire_op* op) noexcept {
  if (!op->finished()) return op;
  free_op(op);
  return nullptr;
}

void check_once_and_here(bool is_mine, const pinwire_op& op) noexcept {
  if (!is_mine) breach("C1-297", "a handle is synchronised by another thread than got it");
  if (op.started == kFreed)
    breach("C1-297", "a handle is synchronised that was synchronised before");
}

pinwire_op* leaf_of(pinwire_op* root) noexcept {
  dcheck(!is_leaf(root), "the leaf of a leaf", root);
  dcheck(reinterpret_cast<uintptr_t>(root) >> kLifeShift == 0, "an address leaves no room", root);
  const uintptr_t life = root->life.load(std::memory_order_relaxed);
  return reinterpret_cast<pinwire_op*>(reinterpret_cast<uintptr_t>(root) | kLeafBit |
                                       life << kLifeShift);
}

void wait_op(pinwire_op* op) noexcept {
  wait_until([op] { return finish(op); });
}

bool try_op(pinwire_op* op) noexcept {
  poll_for_client();
  return op == nullptr || finish(op);
}

bool test_op(pinwire_op* op) noexcept { return finish(op); }

void wait_all(pinwire_op** ops, size_t count) noexcept {
  for (size_t i = next_valid(ops, 0, count); i < count; i = next_valid(ops, i + 1, count)) {
    wait_op(ops[i]);
    ops[i] = nullptr;
  }
}

bool try_all(pinwire_op** ops, size_t count) noexcept {
  poll_for_client();
  return all_finished(sweep(ops, count));
}

void wait_some(pinwire_op** ops, size_t count) noexcept {
  wait_until([=] { return some_finished(sweep(ops, count)); });
}

bool try_some(pinwire_op** ops, size_t count) noexcept {
  poll_for_client();
  return some_finished(sweep(ops, count));
}

bool test_all(pinwire_op** ops, size_t count) noexcept { return all_finished(sweep(ops, count)); }
bool test_some(pinwire_op** ops, size_t count) noexcept { return some_finished(sweep(ops, count)); }

void wait_implicit(unsigned sets) noexcept {
  wait_until([=] { return implicit_finished(sets); });
}

bool try_implicit(unsigned sets) noexcept {
  poll_for_client();
  return implicit_finished(sets);
}

bool test_implicit(unsigned sets) noexcept { return implicit_finished(sets); }

pinwire_op& implicit_puts() noexcept { return region_or(&ThreadOps::puts); }
pinwire_op& implicit_gets() noexcept { return region_or(&ThreadOps::gets); }
pinwire_op& implicit_locals() noexcept { return region_or(&ThreadOps::locals); }
pinwire_op& implicit_ams() noexcept { return region_or(&ThreadOps::ams); }
pinwire_op& implicit_rmws() noexcept { return region_or(&ThreadOps::rmws); }

void begin_region() noexcept {
  ThreadOps& mine = thread_ops();
  check_no_region(mine, "access regions do not nest, and this one begins inside one");
  check(mine.region == nullptr, "access regions do not nest (C1-252)");
  mine.region = take_op();
  if constexpr (kUsageChecks) client_usage.region = {};
  check(mine.region != nullptr, "an access region needs a handle and all are in flight");
}

void note_region_place(const Place& place) noexcept { client_usage.region.place = place; }

pinwire_op* end_region() noexcept {
  ThreadOps& mine = thread_ops();
  if constexpr (kUsageChecks) {
    if (mine.region == nullptr) breach("C1-297", "an access region ends that did not begin");
  }
  check(mine.region != nullptr, "an access region ends that did not begin (C1-252)");
  return end_group(nullptr);
}

pinwire_op* begin_group() noexcept {
  ThreadOps& mine = thread_ops();
  pinwire_op* outer = mine.region;
  mine.region = take_op();
  check(mine.region != nullptr, "66,000 operations are in flight; synchronise some");
  return outer;
}

pinwire_op* end_group(pinwire_op* outer) noexcept {
  ThreadOps& mine = thread_ops();
  check(mine.region != nullptr, "a group of operations ends that did not begin");
  pinwire_op* op = mine.region;
  dcheck(mine.explicit_ops.owns(op), "the group of another thread ends", op);
  mine.region = outer;
  return handle_of(op);
}

}  // namespace pinwire
