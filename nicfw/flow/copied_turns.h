// Whose turn it is among the copied puts of one flow, of which some were refused, and its records.
//
// All frames of a copied put are built at once, or none. Where the window gives back a few frames
// from poll to poll, a put that needs few takes them, and a large one would never find all it
// needs. Puts of one size, in frames, therefore have a turn. Frames of others count meanwhile:
// after kLeadMax frames they wait until a put of that size is taken. The next turn is for the next
// size of which some were refused, upwards; the smallest follows the largest. A size that nobody
// offers any more loses its turn after a few polls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

#include "core/base/check.h"

namespace pinwire {

class CopiedTurns {
 public:
  /// The largest copied put has so many.
  static constexpr uint32_t kFramesMax = 128;

  void start() noexcept { *this = CopiedTurns{}; }

  /// Must all but those whose turn it is wait? Each of the threads that share a lane polls in its
  /// turn, and then offers again.
  bool is_due() const noexcept { return was_offered_lately() && lead_ >= kLeadMax; }
  bool is_turn(uint32_t frames) const noexcept { return frames == turn_; }
  bool was_offered_lately() const noexcept { return polls_left_ + kLatelyPolls > kPolls; }

  /// A put of so many frames was refused. Where nobody has a turn it has.
  void refuse(uint32_t frames) noexcept {
    dcheck(frames != 0 && frames <= kFramesMax, "a copied put of no size", frames);
    if (turn_ == 0) {
      give(frames);
    } else if (is_turn(frames)) {
      polls_left_ = kPolls;
    } else {
      refused_[(frames - 1) / 64] |= bit_of(frames);
    }
  }

  /// One was taken. False: no other was refused meanwhile, all is forgotten.
  bool accept(uint32_t frames) noexcept {
    refused_[(frames - 1) / 64] &= ~bit_of(frames);
    if (!is_turn(frames)) {
      lead(frames);
      return true;
    }
    const uint32_t next = next_refused();
    if (next == 0) return false;
    refused_[(next - 1) / 64] &= ~bit_of(next);
    give(next);
    return true;
  }

  /// Others have built so many frames.
  void lead(uint32_t frames) noexcept {
    lead_ = static_cast<uint8_t>(std::min(lead_ + frames, kLeadMax));
  }
  /// The put that has its turn lacks nothing that its flow holds, so that others need not wait.
  void forget_lead() noexcept { lead_ = 0; }

  /// Once a poll. False: nobody has offered what has its turn for long, all is forgotten.
  bool pass_poll() noexcept { return --polls_left_ != 0; }

 private:
  static constexpr uint32_t kLeadMax = 15;
  static constexpr uint8_t kPolls = 15, kLatelyPolls = 12;

  static uint64_t bit_of(uint32_t frames) noexcept { return uint64_t{1} << ((frames - 1) % 64); }

  void give(uint32_t frames) noexcept {
    turn_ = static_cast<uint8_t>(frames);
    polls_left_ = kPolls;
    lead_ = 0;
  }

  /// The first that is larger than those whose turn it is, or else the smallest; 0: none.
  uint32_t next_refused() const noexcept {
    for (const uint32_t from : {uint32_t{turn_}, 0u}) {
      uint64_t skipped = from % 64 == 0 ? 0 : (uint64_t{1} << (from % 64)) - 1;
      for (uint32_t word = from / 64; word < std::size(refused_); ++word, skipped = 0) {
        const uint64_t left = refused_[word] & ~skipped;
        if (left != 0) return word * 64 + static_cast<uint32_t>(std::countr_zero(left)) + 1;
      }
    }
    return 0;
  }

  uint64_t refused_[kFramesMax / 64] = {};  ///< bit frames - 1: some are, whose turn it is not
  uint8_t turn_ = 0;                        ///< frames of those whose turn it is; 0: nobody's
  uint8_t polls_left_ = kPolls;             ///< since one of them was refused
  uint8_t lead_ = 0;  ///< frames that others have built in this turn, saturating
};

}  // namespace pinwire
