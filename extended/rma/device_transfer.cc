#include "extended/rma/device_transfer.h"

#include <algorithm>

#include "extended/rma/explicit.h"
#include "extended/segments/bounce.h"
#include "segment/kinds/device_memory.h"

namespace pinwire {
namespace {

constexpr size_t kBouncePieceBytes = Bounce::kHalfBytes;

/// Between two devices, of one vendor or two.
void copy_between(DeviceMemory& to, std::byte* dest, DeviceMemory& from, const std::byte* source,
                  size_t bytes) noexcept {
  dcheck(&to != &from, "a device copies by itself", bytes);
  const Bounce bounce;
  for (size_t at = 0; at < bytes; at += kBouncePieceBytes) {
    const size_t piece = std::min(bytes - at, kBouncePieceBytes);
    from.copy(bounce.half(0), source + at, piece);
    to.copy(dest + at, bounce.half(0), piece);
  }
}

DeviceEnd copy_here(void* dest, const void* source, size_t bytes) noexcept {
  DeviceMemory* to = device_at(dest, bytes);
  DeviceMemory* from = device_at(source, bytes);
  if (to == nullptr && from == nullptr) return DeviceEnd::kNone;
  if (to == nullptr || from == nullptr || to == from) {
    (to != nullptr ? to : from)->copy(dest, source, bytes);
  } else {
    copy_between(*to, static_cast<std::byte*>(dest), *from, static_cast<const std::byte*>(source),
                 bytes);
  }
  return DeviceEnd::kDone;
}

/// While a piece is on its way, the next one leaves the device.
void put_staged(DeviceMemory& device, Target to, std::byte* dest, const std::byte* source,
                size_t bytes, StartPiecePut start) noexcept {
  dcheck(bytes != 0, "a put of no bytes", to);
  const Bounce bounce;
  pinwire_op under_way[2]{};
  size_t turn = 0;
  for (size_t at = 0; at < bytes; at += kBouncePieceBytes, turn ^= 1) {
    const size_t piece = std::min(bytes - at, kBouncePieceBytes);
    wait_here(under_way[turn]);  // that half's last piece
    device.copy(bounce.half(turn), source + at, piece);
    start(to, dest + at, bounce.half(turn), piece, under_way[turn]);
  }
  wait_here(under_way[0]);
  wait_here(under_way[1]);
}

/// While a piece goes to the device, the next one is on its way.
void get_staged(DeviceMemory& device, Target from, const std::byte* source, std::byte* dest,
                size_t bytes, StartPieceGet start) noexcept {
  dcheck(bytes != 0, "a get of no bytes", from);
  const Bounce bounce;
  pinwire_op under_way[2]{};
  const auto piece_at = [bytes](size_t at) { return std::min(bytes - at, kBouncePieceBytes); };
  const auto begin = [&](size_t at, size_t turn) {
    if (at < bytes) start(from, source + at, bounce.half(turn), piece_at(at), under_way[turn]);
  };
  begin(0, 0);
  size_t turn = 0;
  for (size_t at = 0; at < bytes; at += kBouncePieceBytes, turn ^= 1) {
    begin(at + kBouncePieceBytes, turn ^ 1);
    wait_here(under_way[turn]);
    device.copy(dest + at, bounce.half(turn), piece_at(at));
  }
}

/// Whether the NIC moves it, from or to memory of a device here.
bool is_direct(Target target, const void* here, size_t bytes) noexcept {
  const Route& route = engine.routes[target];
  return route.reach == Reach::kWhole &&
         engine.local_key(route.driver_index, here, bytes) != kNoRegion;
}

}  // namespace

DeviceEnd put_with_device(Target to, void* dest, const void* source, size_t bytes,
                          StartPiecePut start) noexcept {
  if (rank_of(to) == engine.rank) return copy_here(dest, source, bytes);
  DeviceMemory* device = device_at(source, bytes);
  if (device == nullptr) return DeviceEnd::kNone;
  if (is_direct(to, source, bytes)) return DeviceEnd::kDirect;
  put_staged(*device, to, static_cast<std::byte*>(dest), static_cast<const std::byte*>(source),
             bytes, start);
  return DeviceEnd::kDone;
}

DeviceEnd get_with_device(Target from, const void* source, void* dest, size_t bytes,
                          StartPieceGet start) noexcept {
  if (rank_of(from) == engine.rank) return copy_here(dest, source, bytes);
  DeviceMemory* device = device_at(dest, bytes);
  if (device == nullptr) return DeviceEnd::kNone;
  if (is_direct(from, dest, bytes)) return DeviceEnd::kDirect;
  get_staged(*device, from, static_cast<const std::byte*>(source), static_cast<std::byte*>(dest),
             bytes, start);
  return DeviceEnd::kDone;
}

}  // namespace pinwire
