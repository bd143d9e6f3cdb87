// The flags by which the handlers of a stream (stream.h) and the script of its operation notify
// each other: at the sender the grants of its receiver, at the receiver which pieces are in place.
//
// The handler of a stream's last message ends with the access that lets the script go on: from then
// on the stream may carry another operation. Templates over their memory: tests/models tries every
// interleaving.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

/// Granted and not taken, of one stream.
inline constexpr uint32_t kWindowPieces = 16;
/// Instead of a number of turns: the receiver fetches the pieces.
inline constexpr uint32_t kFetches = ~0u;

/// At the sender. Memory order: `granted` release -> acquire in may_send(): where the pieces go;
/// `is_fetched` release -> acquire in is_over(): nobody reads the source any more.
template <typename Memory>
class BasicGrants {
 public:
  void reset() noexcept {
    granted_.store(0, std::memory_order_relaxed);
    base_.store(0, std::memory_order_relaxed);
    turns_.store(0, std::memory_order_relaxed);
    is_fetched_.store(false, std::memory_order_relaxed);
  }

  /// For the handler of a grant of `more` pieces; the stream has `all`. False: fewer pieces are
  /// left to grant.
  bool grant(uint32_t more, uint32_t all, uint64_t base, uint32_t turns) noexcept {
    if (more == 0 || more > all || granted_.load(std::memory_order_relaxed) > all - more) {
      return false;
    }
    base_.store(base, std::memory_order_relaxed);
    turns_.store(turns, std::memory_order_relaxed);
    const uint32_t before = granted_.fetch_add(more, std::memory_order_acq_rel);
    dcheck(before <= all - more, "more pieces are granted than there are", before, more, all);
    return true;
  }
  /// For the handler of the message that the receiver has fetched all pieces. A receiver that was
  /// told by the offer that all pieces are there has granted nothing before.
  void end_fetching(uint32_t all) noexcept {
    turns_.store(kFetches, std::memory_order_relaxed);
    granted_.store(all, std::memory_order_release);
    is_fetched_.store(true, std::memory_order_release);  // last: the script ends by it
  }

  bool may_send(uint32_t sent) const noexcept {
    return sent < granted_.load(std::memory_order_acquire);
  }
  // Once something is granted.
  uint64_t base() const noexcept { return base_.load(std::memory_order_relaxed); }
  uint32_t turns() const noexcept { return turns_.load(std::memory_order_relaxed); }
  bool is_for_fetching() const noexcept { return turns() == kFetches; }

  bool is_over(uint32_t sent, uint32_t all) const noexcept {
    return sent == all && (!is_for_fetching() || is_fetched_.load(std::memory_order_acquire));
  }

 private:
  typename Memory::template Atomic<uint32_t> granted_{};
  typename Memory::template Atomic<uint64_t> base_{};
  typename Memory::template Atomic<uint32_t> turns_{};
  typename Memory::template Atomic<bool> is_fetched_{};
};

/// At the receiver. Memory order: `granted` release -> acquire in the handlers: how the pieces
/// come, and places anew empty; `filled` and `there` release -> acquire in the script: the data.
template <typename Memory>
class BasicArrivals {
 public:
  void reset() noexcept {
    granted_.store(0, std::memory_order_relaxed);
    there_.store(0, std::memory_order_relaxed);
  }

  // For the script.
  uint32_t granted() const noexcept { return granted_.load(std::memory_order_relaxed); }
  /// Empties the places of pieces up to `end`.
  void grant_places(uint32_t end) noexcept {
    const uint32_t first = granted();
    dcheck(first <= end, "grants go back", first, end);
    dcheck(end - first <= kWindowPieces, "more places than a window has", first, end);
    for (uint32_t piece = first; piece < end; ++piece) {
      filled_[piece % kWindowPieces].store(0, std::memory_order_relaxed);
    }
    granted_.store(end, std::memory_order_release);
  }
  /// The receiver fetches all of them: no place is filled by a message.
  void grant_fetching(uint32_t all) noexcept { granted_.store(all, std::memory_order_release); }
  /// The same, as the offer said that all of them are there.
  void have_all(uint32_t all) noexcept {
    there_.store(all, std::memory_order_relaxed);
    grant_fetching(all);
  }
  bool is_filled(uint32_t piece, size_t bytes) const noexcept {
    return filled_[piece % kWindowPieces].load(std::memory_order_acquire) == bytes;
  }
  uint32_t there() const noexcept { return there_.load(std::memory_order_acquire); }

  // For handlers.
  bool is_granted(uint32_t piece) const noexcept {
    return piece < granted_.load(std::memory_order_acquire);
  }
  /// Whether a granted piece has so many bytes left to come.
  bool has_left(uint32_t piece, size_t bytes, size_t whole) const noexcept {
    const uint32_t filled = filled_[piece % kWindowPieces].load(std::memory_order_relaxed);
    return filled <= whole && bytes <= whole - filled;
  }
  /// They are in place. True: the piece is.
  bool fill(uint32_t piece, uint32_t bytes, size_t whole) noexcept {
    const uint32_t before =
        filled_[piece % kWindowPieces].fetch_add(bytes, std::memory_order_acq_rel);
    dcheck(before + bytes <= whole, "more has arrived than the piece has", before, bytes, whole);
    return before + bytes == whole;
  }
  /// False: there are not so many more.
  bool add_there(uint32_t more, uint32_t all) noexcept {
    if (more > all - there_.load(std::memory_order_relaxed)) return false;
    there_.fetch_add(more, std::memory_order_acq_rel);
    return true;
  }

 private:
  typename Memory::template Atomic<uint32_t> granted_{};
  typename Memory::template Atomic<uint32_t> filled_[kWindowPieces]{};
  typename Memory::template Atomic<uint32_t> there_{};
};

}  // namespace pinwire
