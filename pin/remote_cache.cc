#include "pin/remote_cache.h"

#include <numeric>
#include <utility>

namespace pinwire {

void RemoteCache::open(std::span<const Grant> grants) {
  check(grants.size() <= 1u << 16, "more ranks than a bucket's key tells apart", grants.size());
  uint64_t total = 0;
  peers_.assign(grants.size(), Peer{});
  for (size_t peer = 0; peer < grants.size(); ++peer) {
    peers_[peer].share = grants[peer].buckets;
    peers_[peer].shift = grants[peer].bucket_shift;
    total += grants[peer].buckets;
  }
  const auto count = static_cast<uint32_t>(total);
  check(count == total, "more buckets than indices", total);
  entries_.assign(count, Entry{});
  free_.resize(count);
  std::iota(free_.rbegin(), free_.rend(), 0u);
  map_.open(count);
}

RemoteCache::Want RemoteCache::ask(Rank peer, uint64_t number) noexcept {
  Peer& of = peers_[peer];
  Want want;
  if (of.held >= of.share) {
    const uint32_t victim = of.idle.first();
    if (victim == kNone) return want;
    check(entries_[victim].state == State::kReady, "a bucket is given back that is not held",
          victim, static_cast<int>(entries_[victim].state));
    check(entries_[victim].uses == 0, "a bucket is given back that is in use", victim);
    of.idle.remove(std::span(entries_), victim);
    want.gives_back = entries_[victim].owners_index;
    map_.erase(key_of(peer, entries_[victim].number));
    ++evictions_;
    free(victim);
  }
  ++misses_;
  check(!free_.empty(), "a share has room, and there is no entry for it", peer, of.held);
  want.index = free_.back();
  free_.pop_back();
  ++of.held;
  check(of.held <= of.share, "more buckets of a peer than its share", of.held, of.share);
  Entry& entry = entries_[want.index];
  check(entry.state == State::kFree, "a bucket gets an entry that another one has", want.index);
  entry.number = number;
  entry.peer = static_cast<uint16_t>(peer);
  entry.uses = 1;
  entry.state = State::kAsked;
  map_.put(key_of(peer, number), want.index);
  return want;
}

RemoteCache::Want RemoteCache::wish(Rank peer, uint64_t number) noexcept {
  if (peers_[peer].held >= peers_[peer].share) return {};
  const Want want = ask(peer, number);
  check(want.index != kNone, "a share has room, and a wish finds none", peer);
  check(want.gives_back == kNone, "a bucket is given back for a wish", peer, want.gives_back);
  entries_[want.index].is_wished = true;
  return want;
}

bool RemoteCache::forget(uint32_t index) noexcept {
  const Entry& entry = entries_[index];
  check(entry.is_wished, "an entry is forgotten that is no wish", index);
  check(entry.state == State::kAsked, "a wish is forgotten that was answered", index);
  if (entry.uses != 1) return false;
  map_.erase(key_of(entry.peer, entry.number));
  free(index);
  return true;
}

void RemoteCache::grant_wish(uint32_t index) noexcept {
  if (!std::exchange(entries_[index].is_wished, false)) return;
  put_back(index);
}

bool RemoteCache::grant(Rank peer, uint32_t index, const Told& told) noexcept {
  if (!is_asked(peer, index)) return false;
  const uint32_t shift = peers_[peer].shift;
  if (told.from >= told.to || told.to > uint64_t{1} << shift) return false;
  Entry& entry = entries_[index];
  check(entry.uses != 0, "a bucket is granted that nobody waits for", index);
  entry.from = (entry.number << shift) + told.from;
  entry.to = (entry.number << shift) + told.to;
  entry.key = told.key;
  entry.owners_index = told.owners_index;
  entry.state = State::kReady;
  grant_wish(index);
  return true;
}

bool RemoteCache::refuse(Rank peer, uint32_t index) noexcept {
  if (!is_asked(peer, index)) return false;
  Entry& entry = entries_[index];
  check(entry.uses != 0, "a bucket is refused that nobody waits for", index);
  map_.erase(key_of(peer, entry.number));
  entry.state = State::kRefused;
  grant_wish(index);
  return true;
}

void RemoteCache::end(uint32_t index) noexcept {
  Entry& entry = entries_[index];
  switch (entry.state) {
    case State::kRefused:  // the owner holds nothing for us
      free(index);
      return;
    case State::kReady:
      peers_[entry.peer].idle.add_last(std::span(entries_), index);
      return;
    case State::kAsked:
    case State::kFree:
      check(false, "a bucket was put back before the owner answered", index);
  }
}

void RemoteCache::free(uint32_t index) noexcept {
  check(entries_[index].state != State::kFree, "an entry is freed twice", index);
  check(peers_[entries_[index].peer].held != 0, "more buckets are freed than a peer has granted",
        index, entries_[index].peer);
  --peers_[entries_[index].peer].held;
  entries_[index] = Entry{};
  free_.push_back(index);
}

}  // namespace pinwire
