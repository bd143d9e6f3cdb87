// The state that collectives keep for one member of a team in this process, that is for one
// gex_TM_t: the operations in progress, and the data that has arrived for them, perhaps before they
// were called here.
//
// The operations of a team are numbered by the order of their calls, which is the same on all
// members. Messages name the member by its seat in the process, the operation, and the letter box,
// of which each operation has a fixed number. Therefore a message needs no match and no memory but
// its letter box: these exist for a window of kWindowOps operations. A member works at operation n
// only once all members have finished operation n - kWindowOps. It knows that by epochs: a member
// that has finished kEpochOps more operations enters a dissemination barrier beside them, and the
// first barrier but one before the epoch of n must be over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "am/poll/deferred.h"
#include "core/api_types.h"
#include "core/base/check.h"
#include "driver/work.h"
#include "extended/barrier/barrier.h"

namespace pinwire {

inline constexpr uint32_t kEpochOps = 8;
inline constexpr uint32_t kWindowOps = 2 * kEpochOps;
inline constexpr uint32_t kRoundsMax = 24;            ///< a team has at most 2^24 members
inline constexpr uint32_t kDataMax = kRoundsMax + 2;  ///< messages with data for one operation
inline constexpr size_t kEagerBytesMax = 16384;       ///< of a message that carries its data
inline constexpr size_t kSmallBytesMax = 1024;        ///< of one that lies with other small ones
inline constexpr uint32_t kSeatsMax = 65536;          ///< live teams of a process

/// A line more than a letter, lest all of them begin in the same set of a cache.
inline constexpr size_t kLargeStride = kEagerBytesMax + 64;

struct Collective;

/// Messages carry the lower half of an operation's number. `near`: less than 2^31 operations from
/// it.
constexpr uint64_t whole_number(uint32_t low, uint64_t near) noexcept {
  const auto distance = static_cast<int32_t>(low - static_cast<uint32_t>(near));
  return near + static_cast<uint64_t>(int64_t{distance});
}

/// One message that has arrived, for one operation.
struct LetterBox {
  static constexpr uint32_t kNoOffer = ~0u;

  /// The operation's number + 1, which is never that of another one. release in the handler pairs
  /// with the acquire of has_arrived().
  std::atomic<uint64_t> arrived{0};
  uint64_t bytes = 0;
  uint64_t source = 0;  ///< of an offer: where the data is
  uint32_t sender_seat = 0;
  uint32_t sender_send = kNoOffer;

  /// The letter offers data that is too much for a message, and is to be pulled.
  bool is_offer() const noexcept { return sender_send != kNoOffer; }
};

/// Lives as long as the process, and has a team now and then.
struct Member : Deferred {
  uint32_t seat = 0;
  std::atomic<bool> is_open{false};
  gex_TM_t tm = nullptr;
  Rank rank = 0;
  Rank size = 1;
  uint32_t rounds = 0;              ///< ceil(log2(size))
  const uint32_t* seats = nullptr;  ///< of all members; nullptr: as this one's

  // The client's calls, in their order.
  uint64_t called = 0;
  std::atomic<Collective*> submitted{nullptr};

  // State of the thread that runs deferred work: one thread at a time.
  Collective* first = nullptr;  ///< not finished, in order
  Collective* last = nullptr;
  uint64_t admitted = 0;
  uint64_t epochs = 0;         ///< barriers of epochs that are over
  uint32_t epoch_round = 0;    ///< of the next: rounds sent
  uint32_t gets = 0;           ///< in progress, whose ends are not announced
  uint32_t scratch_parts = 0;  ///< a bit for each part of the team's scratch that is in use

  NamedBarrier barrier;

  /// `epochs`, for close_seat(). release there pairs with its acquire.
  std::atomic<uint64_t> epochs_over{0};

  /// Operations. release in finish() pairs with the acquires of is_quiet() and of handlers.
  std::atomic<uint64_t> finished{0};

  // State that handlers use.
  std::atomic<uint32_t> epoch_arrivals[kRoundsMax] = {};
  std::atomic<Collective*> live[kWindowOps] = {};
  std::unique_ptr<LetterBox[]> boxes;
  std::unique_ptr<std::byte[]> payloads;        ///< up to kSmallBytesMax
  std::unique_ptr<std::byte[]> large_payloads;  ///< up to kEagerBytesMax

  /// Boxes of one operation: of data, of its barrier before, of its barrier after.
  uint32_t data_boxes() const noexcept { return rounds + 2; }
  uint32_t boxes_each() const noexcept { return data_boxes() + 2 * rounds; }
  LetterBox& box(uint64_t number, uint32_t letter) noexcept {
    dcheck(letter < boxes_each(), "a letter that no box is for", letter, boxes_each());
    return boxes[number % kWindowOps * boxes_each() + letter];
  }
  /// Where a letter of so many bytes lies.
  std::byte* payload(uint64_t number, uint32_t letter, size_t bytes) noexcept {
    dcheck(letter < data_boxes(), "data for the box of a barrier", letter, data_boxes());
    dcheck(bytes <= kEagerBytesMax, "more data than a message carries", bytes);
    const size_t place = number % kWindowOps * data_boxes() + letter;
    return bytes <= kSmallBytesMax ? &payloads[place * kSmallBytesMax]
                                   : &large_payloads[place * kLargeStride];
  }
  Rank jobrank_of(Rank member) const noexcept;
  uint32_t seat_of(Rank member) const noexcept {
    dcheck(member < size, "the seat of no member", member, size);
    return seats != nullptr ? seats[member] : seat;
  }
};

/// The one that a peer names; nullptr: there is none.
Member* find_seat(uint32_t seat) noexcept;
/// find_seat() finds it from now on, by `member.seat`, once it is open.
void list_seat(Member& member) noexcept;

}  // namespace pinwire
