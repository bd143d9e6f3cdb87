// The buckets of this rank's memory that are pinned: for peers, which hold them until they let go,
// and for this rank's own transfers while they are under way. A bucket that is neither stays
// pinned, until its room is needed.
//
// Not thread-safe: the caller holds the lock, and does all registration and deregistration.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/work.h"
#include "pin/bucket_map.h"
#include "pin/idle_list.h"
#include "pin/shares.h"

namespace pinwire {

class OwnerTable {
 public:
  static constexpr uint32_t kNone = ~0u;

  struct Entry {
    uint64_t number = 0;  ///< address >> bucket_shift
    Region region{};
    uint32_t holders = 0;  ///< peers
    uint32_t uses = 0;     ///< own transfers under way
    IdleLink idle;
  };

  void open(const Shares& shares, uint32_t rank_count);

  /// The entry of a bucket, or kNone.
  uint32_t find(uint64_t number) const noexcept { return map_.find(number); }
  const Entry& at(uint32_t index) const noexcept {
    dcheck(index < entries_.size(), "no such bucket", index);
    return entries_[index];
  }

  /// The bucket that must be unpinned before another one is pinned: the longest idle, or kNone
  /// while there is room. It is forgotten by this call.
  struct Victim {
    bool is_any = false;
    Region region{};
  };
  Victim make_room() noexcept;
  /// The same, though there is room: the device refused more.
  Victim evict() noexcept;
  /// Remembers a bucket just pinned, of which there was no entry. There is room: make_room().
  uint32_t add(uint64_t number, const Region& region) noexcept;

  /// False: the peer has its whole share.
  bool hold(uint32_t index, Rank peer) noexcept;
  /// False: no peer may say so; the bytes are wrong.
  bool let_go(uint32_t index, Rank peer) noexcept;
  /// False: own transfers have their half.
  bool use(uint32_t index) noexcept;
  bool may_use_another() const noexcept { return in_use_ < shares_.buckets_own; }
  void done(uint32_t index) noexcept;

  const Shares& shares() const noexcept { return shares_; }
  uint32_t pinned() const noexcept { return pinned_; }
  uint32_t held_by(Rank peer) const noexcept {
    dcheck(peer < held_by_.size(), "a rank that the job has not", peer);
    return held_by_[peer];
  }

 private:
  friend struct PinModel;  // tests/models/worlds/exchange_world.h

  bool is_idle(const Entry& entry) const noexcept { return entry.holders == 0 && entry.uses == 0; }
  void begin(uint32_t index) noexcept;
  void end(uint32_t index) noexcept;

  Shares shares_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> held_by_;  // by rank
  BucketMap map_;
  IdleList idle_;
  uint32_t pinned_ = 0;
  uint32_t in_use_ = 0;
};

}  // namespace pinwire
