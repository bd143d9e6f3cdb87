#include "extended/vis/remote_copy.h"

#include <atomic>

#include "am/handlers/handlers.h"
#include "am/handlers/own_memory.h"
#include "am/message/call.h"
#include "am/message/message.h"
#include "am/message/token.h"
#include "am/poll/deferred.h"
#include "am/send/send.h"
#include "am/wait/wait.h"
#include "core/base/log.h"
#include "core/base/memory/reserve.h"
#include "core/engine/engine.h"
#include "extended/rma/transfer.h"
#include "extended/vis/place.h"
#include "extended/vis/transfer.h"
#include "segment/kinds/device_memory.h"

namespace pinwire::vis {
namespace {

using Sources = VectorPieces<CopyPiece, &CopyPiece::source, &CopyPiece::bytes>;
using Dests = VectorPieces<CopyPiece, &CopyPiece::dest, &CopyPiece::bytes>;

enum class SlotState : uint8_t { kFree, kAsked, kUnderWay };

/// A request at the source's rank. It begins as zeros. The handler fills a free one, which nobody
/// else touches, and defers it; from then on it belongs to the thread that runs deferred work,
/// until the answer is sent. The list of deferred work orders what both write.
struct CopySlot : Deferred {
  SlotState state;
  Rank asker;
  uint32_t index;
  Target to;
  uint32_t count;
  uint32_t next;  ///< of the pieces: those before have begun
  uint64_t cookie;
  pinwire_op op;
  DeferredRoom room;
  CopyPiece pieces[kCopyPiecesMax];
};

struct CopyTables {
  CopySlot* slots = nullptr;               ///< of this rank as a source: kCopySlots for each asker
  std::atomic<uint32_t>* taken = nullptr;  ///< of this rank as an asker: a bit per slot, by source
};
constinit CopyTables tables;

constexpr uint32_t kAllTaken = (1u << kCopySlots) - 1;

/// kCopySlots: none is free.
uint32_t try_take_slot(Rank source) noexcept {
  std::atomic<uint32_t>& taken = tables.taken[source];
  uint32_t bits = taken.load(std::memory_order_relaxed);
  while (bits != kAllTaken) {
    const auto index = static_cast<uint32_t>(__builtin_ctz(~bits));
    // acquire pairs with the release of on_copied(): the source has answered the last request
    if (taken.compare_exchange_weak(bits, bits | 1u << index, std::memory_order_acquire,
                                    std::memory_order_relaxed))
      return index;
  }
  return kCopySlots;
}

uint32_t take_slot(Rank source) noexcept {
  uint32_t index = kCopySlots;
  wait_until([&] { return (index = try_take_slot(source)) != kCopySlots; });
  return index;
}

void request_copies(Target to, Rank source, const CopyPiece* pieces, uint32_t count,
                    pinwire_op& op) noexcept {
  dcheck(count != 0 && count <= kCopyPiecesMax, "a request of no copies, or of too many", count);
  const uint32_t index = take_slot(source);
  const uint64_t cookie = cookie_of(op.done);
  const int32_t args[] = {static_cast<int32_t>(index), static_cast<int32_t>(to), low_half(cookie),
                          high_half(cookie)};
  ++op.started;
  request_medium(source, call_with(kHandlerCopy, args), pieces, count * sizeof(CopyPiece));
}

/// Starts pieces as long as there is room. False: not all have begun. A run that waited would keep
/// its thread, and all else that is deferred, from going on until the destination polls.
bool start_pieces(CopySlot& slot) noexcept {
  for (; slot.next < slot.count; ++slot.next) {
    const CopyPiece& piece = slot.pieces[slot.next];
    if (piece.bytes == 0) continue;
    constexpr const char* kPiece = "a piece of a copy for another rank";
    if (void* direct = place_of_piece(kPiece, slot.to, piece.dest, piece.source, piece.bytes)) {
      pinwire_put_direct(direct, piece.source, piece.bytes);
    } else if (!start_put(slot.to, piece.dest, piece.source, piece.bytes, SourceUntil::kDone,
                          slot.op, Patience::kTries)) {
      return false;
    }
  }
  return true;
}

/// The answer is sent last: the asker may use the slot again at once. False: there is no room.
bool answer_asker(CopySlot& slot) noexcept {
  const int32_t args[] = {static_cast<int32_t>(slot.index), low_half(slot.cookie),
                          high_half(slot.cookie)};
  AmCall call = call_with(kHandlerCopied, args);
  call.patience = Patience::kTries;
  slot.state = SlotState::kFree;
  if (request_short(slot.asker, call)) return true;
  slot.state = SlotState::kUnderWay;
  return false;
}

uint32_t run_slot(Deferred& work) noexcept {
  auto& slot = static_cast<CopySlot&>(work);
  if (slot.state == SlotState::kFree) return 0;
  bool has_room = true;
  if (slot.state == SlotState::kAsked) {
    has_room = start_pieces(slot);
    if (has_room) slot.state = SlotState::kUnderWay;
  }
  if (slot.state == SlotState::kUnderWay && slot.op.finished()) {
    slot.room.has(true);
    if (answer_asker(slot)) return 1;
    has_room = false;
  }
  slot.room.has(has_room);
  defer(slot);  // polls look again
  return 0;
}

/// The asker may not be trusted to stay inside.
void check_source(Rank asker, const CopyPiece& piece) noexcept {
  if (device_at(piece.source, piece.bytes) != nullptr) return;
  own_memory(asker, "copy", reinterpret_cast<uint64_t>(piece.source), piece.bytes);
}

void on_copy(pinwire_token* token, void* payload, size_t bytes, int32_t index, int32_t to,
             int32_t cookie_low, int32_t cookie_high) {
  const auto at = static_cast<uint32_t>(index);
  const size_t count = bytes / sizeof(CopyPiece);
  if (at >= kCopySlots || count > kCopyPiecesMax ||
      tables.slots[token->source * kCopySlots + at].state != SlotState::kFree) {
    fatal("rank %u asked for a copy that has no room; run the same build on every rank",
          token->source);
  }
  CopySlot& slot = tables.slots[token->source * kCopySlots + at];
  std::memcpy(slot.pieces, payload, count * sizeof(CopyPiece));
  for (size_t i = 0; i < count; ++i) check_source(token->source, slot.pieces[i]);
  slot.run = run_slot;
  slot.asker = token->source;
  slot.index = at;
  slot.to = static_cast<Target>(to);
  slot.count = static_cast<uint32_t>(count);
  slot.next = 0;
  slot.op.done.store(0, std::memory_order_relaxed);
  slot.op.started = 0;
  slot.cookie = join_halves(cookie_low, cookie_high);
  slot.state = SlotState::kAsked;
  defer(slot);
}

void on_copied(pinwire_token* token, int32_t index, int32_t cookie_low, int32_t cookie_high) {
  // release pairs with try_take_slot()
  tables.taken[token->source].fetch_and(~(1u << index), std::memory_order_release);
  count_done(*reinterpret_cast<DoneCount*>(join_halves(cookie_low, cookie_high)));
}

/// True: both ends are mapped here, and the bytes are copied.
bool copy_here(Target to, Target from, const CopyPiece& piece) noexcept {
  constexpr const char* kPiece = "a piece of a copy";
  const void* source = place_of_piece(kPiece, from, piece.source, nullptr, piece.bytes);
  if (source == nullptr) return false;
  void* dest = place_of_piece(kPiece, to, piece.dest, source, piece.bytes);
  if (dest == nullptr) return false;
  pinwire_put_direct(dest, source, piece.bytes);
  return true;
}

/// Collects what goes to the source's rank.
class CopyRequests {
 public:
  CopyRequests(Target to, Rank source, pinwire_op& op) noexcept
      : to_(to), source_(source), op_(op) {}
  CopyRequests(const CopyRequests&) = delete;

  void add(const CopyPiece& piece) noexcept {
    if (count_ == kCopyPiecesMax) send();
    pieces_[count_++] = piece;
  }
  void send() noexcept {
    if (count_ == 0) return;
    request_copies(to_, source_, pieces_, count_, op_);
    count_ = 0;
  }

 private:
  Target to_;
  Rank source_;
  pinwire_op& op_;
  uint32_t count_ = 0;
  CopyPiece pieces_[kCopyPiecesMax];
};

/// Neither end is this rank's.
void start_between_others(Target to, Target from, const CopyPiece* pieces, size_t count,
                          pinwire_op& op) noexcept {
  CopyRequests requests(to, rank_of(from), op);
  for (size_t i = 0; i < count; ++i) {
    if (pieces[i].bytes == 0 || copy_here(to, from, pieces[i])) continue;
    check_bounds("copy from it", from, pieces[i].source, pieces[i].bytes);
    check_bounds("copy to it", to, pieces[i].dest, pieces[i].bytes);
    requests.add(pieces[i]);
  }
  requests.send();
}

}  // namespace

void start_copies(Target to, Target from, const CopyPiece* pieces, size_t count,
                  pinwire_op& op) noexcept {
  constexpr const char* kCall = "pinwire_copy";
  if (rank_of(from) == engine.rank) {
    start_put_of(kCall, to, Sources(pieces, count), Dests(pieces, count), op);
  } else if (rank_of(to) == engine.rank) {
    start_get_of(kCall, from, Dests(pieces, count), Sources(pieces, count), op);
  } else {
    start_between_others(to, from, pieces, count, op);
  }
}

void prepare_remote_copies() noexcept {
  constexpr const char* kWhat = "the copies between other ranks";
  tables.slots = reserve_table<CopySlot>(size_t{engine.rank_count} * kCopySlots, kWhat);
  tables.taken = reserve_table<std::atomic<uint32_t>>(engine.rank_count, kWhat);
  register_internal(kHandlerCopy, on_copy);
  register_internal(kHandlerCopied, on_copied);
}

}  // namespace pinwire::vis
