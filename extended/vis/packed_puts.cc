#include "extended/vis/packed_puts.h"

#include <algorithm>

#include "am/send/post.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "extended/rma/transfer.h"
#include "extended/vis/place.h"

namespace pinwire::vis {
namespace {

/// One driver reaches all endpoints of a rank; this process itself has none, and gets no list.
uint32_t list_bytes_max(Target to) noexcept {
  const Route& route = engine.routes[rank_of(to)];
  if (route.driver == nullptr) return 0;
  const uint64_t bytes_max = engine.caps_of(route).scatter_bytes_max;
  return static_cast<uint32_t>(std::min<uint64_t>(bytes_max, PackedPuts::kListBytesMax));
}

}  // namespace

// list_ stays as it is: it is written as pieces come.
PackedPuts::PackedPuts(Target to, pinwire_op& op) noexcept
    : to_(to), op_(op), pieces_(list_, list_bytes_max(to)) {}

/// Only memory that one key covers, and no device's: the CPU reads the one end, the other's writes.
bool PackedPuts::is_packed(const std::byte* dest, size_t bytes) const noexcept {
  if (pieces_.bytes_max() < scatter_stride(kPieceBytesMax)) return false;
  if (bytes > kPieceBytesMax || engine.has_devices.load(std::memory_order_relaxed)) return false;
  check_bounds("put", to_, dest, bytes);  // from here on the route is known
  const Route& route = engine.routes[to_];
  return route.driver != nullptr && route.reach == Reach::kWhole;
}

void PackedPuts::put(const std::byte* source, std::byte* dest, size_t bytes) noexcept {
  dcheck(bytes != 0, "a piece of no bytes", dest);
  if (void* direct = place_of_piece("a piece of a put", to_, dest, source, bytes)) {
    pinwire_put_direct(direct, source, bytes);
    return;
  }
  if (!is_packed(dest, bytes)) {
    start_put(to_, dest, source, bytes, SourceUntil::kDone, op_);
    return;
  }
  const auto remote = reinterpret_cast<uint64_t>(dest);
  const auto count = static_cast<uint32_t>(bytes);
  if (pieces_.add(remote, source, count)) return;
  finish();
  check(pieces_.add(remote, source, count), "a small piece has room in an empty list", bytes);
}

void PackedPuts::finish() noexcept {
  if (pieces_.is_empty()) return;
  const Route& route = engine.routes[to_];
  dcheck(route.driver != nullptr, "a list for this process itself", to_);
  dcheck(route.reach == Reach::kWhole, "a list for memory that no one key covers", to_);
  dcheck(pieces_.bytes() <= pieces_.bytes_max(), "a list that is too long", pieces_.bytes());
  Work work{};
  work.op = Op::kScatter;
  work.cls = MessageClass::kRequest;
  work.flags = kWorkCopied;
  work.peer = rank_of(to_);
  work.cookie = cookie_of(op_.done);
  work.local = list_;
  work.bytes = pieces_.bytes();
  work.remote = pieces_.base();
  work.remote_key = route.region_key;
  post_waiting(route, work);
  ++op_.started;
  pieces_.clear();
}

}  // namespace pinwire::vis
