// The pinned buckets of peers that this rank knows: a hit costs no message. Each peer grants a
// share of its budget (shares.h); within that, the bucket that was not used for longest is given
// back when another is wanted.
//
// Nothing is allocated after open(). Not thread-safe: the caller holds the lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/work.h"
#include "pin/bucket_map.h"
#include "pin/idle_list.h"

namespace pinwire {

class RemoteCache {
 public:
  static constexpr uint32_t kNone = ~0u;

  enum class State : uint8_t {
    kFree,
    kAsked,    ///< the owner's answer is under way
    kReady,    ///< peers' memory may be reached under `key`
    kRefused,  ///< the owner cannot pin it; forgotten when the last user has let go
  };
  struct Entry {
    uint64_t number = 0;
    uint64_t from = 0;  ///< the part that is pinned: [from, to)
    uint64_t to = 0;
    uint32_t key = kNoRegion;
    uint32_t owners_index = kNone;  ///< by which the owner knows it
    uint32_t uses = 0;
    IdleLink idle;
    uint16_t peer = 0;
    State state = State::kFree;
    bool is_wished = false;  ///< one of its uses ends with the owner's answer
  };
  static_assert(sizeof(Entry) <= 64);

  struct Grant {
    uint32_t bucket_shift = 16;
    uint32_t buckets = 0;
  };
  /// By rank: what each peer grants this one.
  void open(std::span<const Grant> grants);

  uint64_t number_of(Rank peer, uint64_t address) const noexcept {
    dcheck(peer < peers_.size(), "a rank that the job has not", peer);
    return address >> peers_[peer].shift;
  }
  uint64_t end_of(Rank peer, uint64_t number) const noexcept {
    return (number + 1) << peers_[peer].shift;
  }

  /// Takes the entry of a bucket into use, or says kNone: ask the owner. The entry may still be
  /// kAsked, or, later, kRefused.
  // Budget: 30 ns with put_back(), both included (bench/pin_hit).
  uint32_t take(Rank peer, uint64_t number) noexcept {
    const uint32_t index = map_.find(key_of(peer, number));
    if (index == kNone) [[unlikely]]
      return kNone;
    Entry& entry = entries_[index];
    dcheck(entry.number == number, "the map leads to the entry of another bucket", index, number);
    dcheck(entry.peer == peer, "the map leads to the entry of another rank", index, peer);
    dcheck(entry.state != State::kFree, "the map leads to a free entry", index);
    dcheck(entry.state != State::kRefused, "the map leads to a bucket that was refused", index);
    ++hits_;
    if (entry.uses++ == 0) peers_[peer].idle.remove(std::span(entries_), index);
    return index;
  }
  void put_back(uint32_t index) noexcept {
    Entry& entry = entries_[index];
    dcheck(entry.uses != 0, "a bucket is put back that is not in use", index);
    if (--entry.uses == 0) end(index);
  }

  /// Room for a bucket that take() did not find; it is in use and kAsked.
  struct Want {
    uint32_t index = kNone;       ///< kNone: all of the share is in use
    uint32_t gives_back = kNone;  ///< the owner's index of the bucket that it replaces
  };
  Want ask(Rank peer, uint64_t number) noexcept;
  /// The same for who will not wait for the answer: nothing is given back for it, and no use of it
  /// is left when the answer is there. forget(): the owner was not even asked; false, as others
  /// wait.
  Want wish(Rank peer, uint64_t number) noexcept;
  bool forget(uint32_t index) noexcept;
  /// The owner's answers. False: nobody asked, or nothing is like that; the bytes are wrong.
  struct Told {
    uint32_t owners_index = kNone;
    uint32_t key = kNoRegion;
    uint32_t from = 0;  ///< offsets in the bucket: what is pinned of it
    uint32_t to = 0;
  };
  bool grant(Rank peer, uint32_t index, const Told& told) noexcept;
  bool refuse(Rank peer, uint32_t index) noexcept;

  const Entry& at(uint32_t index) const noexcept {
    dcheck(index < entries_.size(), "no such bucket of a peer", index);
    return entries_[index];
  }
  uint64_t hits() const noexcept { return hits_; }
  uint64_t misses() const noexcept { return misses_; }
  uint64_t evictions() const noexcept { return evictions_; }

 private:
  friend struct PinModel;  // tests/models/worlds/exchange_world.h

  struct Peer {
    uint32_t share = 0;
    uint32_t shift = 16;
    uint32_t held = 0;  // entries of it that are not kFree
    IdleList idle;
  };

  static uint64_t key_of(Rank peer, uint64_t number) noexcept {
    return uint64_t{peer} << 48 | number;
  }
  bool is_asked(Rank peer, uint32_t index) const noexcept {
    return index < entries_.size() && entries_[index].state == State::kAsked &&
           entries_[index].peer == peer;
  }
  void grant_wish(uint32_t index) noexcept;
  void end(uint32_t index) noexcept;
  void free(uint32_t index) noexcept;

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  std::vector<Peer> peers_;
  BucketMap map_;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace pinwire
