// Ranks that lend each other parts of their memory, as one value: the production tables of pin/
// over devices that only remember what is registered, the messages between them in any order, and
// the transfers of each rank. The work of am/on_demand/exchange.cc between its waits is one step
// here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pin/buckets.h"
#include "pin/remote_cache.h"
#include "tests/support/idle_driver.h"

namespace pinwire {

/// Sees what the tables keep to themselves: a model copies them, and tells their states apart.
struct PinModel {
  static void copy(Buckets& to, const Buckets& from, Driver& driver) {
    to.driver_ = &driver;
    to.table_ = from.table_;
    to.base_ = from.base_;
    to.end_ = from.end_;
    to.counters_ = from.counters_;
    to.has_told_ = true;  // that a device refuses is what the model is about
  }
  static const OwnerTable& table(const Buckets& of) { return of.table_; }

  /// `key_name`: of a key of the device, the same in all runs.
  template <typename Add, typename KeyName>
  static void describe(const OwnerTable& table, Add&& add, KeyName&& key_name) {
    for (const OwnerTable::Entry& entry : table.entries_) {
      add(entry.number);
      add(entry.holders);
      add(entry.uses);
      add(key_name(entry.region.remote_key));
    }
    for (uint32_t at = table.idle_.first(); at != OwnerTable::kNone;
         at = table.entries_[at].idle.after) {
      add(at);
    }
    add(~uint64_t{0});
    for (const uint32_t index : table.free_) add(index);
    for (const uint32_t held : table.held_by_) add(held);
    add(table.in_use_);
  }
  template <typename Add, typename KeyName>
  static void describe(const RemoteCache& cache, Add&& add, KeyName&& key_name) {
    for (const RemoteCache::Entry& entry : cache.entries_) {
      add(entry.number);
      add(uint64_t{entry.peer} << 8 | static_cast<uint64_t>(entry.state));
      add(entry.uses);
      add(entry.owners_index);
      add(key_name(entry.peer, entry.key));
    }
    for (const RemoteCache::Peer& peer : cache.peers_) {
      add(peer.held);
      for (uint32_t at = peer.idle.first(); at != RemoteCache::kNone;
           at = cache.entries_[at].idle.after) {
        add(at);
      }
      add(~uint64_t{0});
    }
    for (const uint32_t index : cache.free_) add(index);
  }
  static const std::vector<RemoteCache::Entry>& entries(const RemoteCache& cache) {
    return cache.entries_;
  }
  static uint32_t held(const RemoteCache& cache, Rank peer) { return cache.peers_[peer].held; }
};

namespace model {

/// Remembers what is registered, and has room for so much.
class KeyDevice final : public test::IdleDriver {
 public:
  uint32_t keys_max = ~0u;
  std::map<uint32_t, Region> keys;  // a key is never given out twice

  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    if (keys.size() >= keys_max) return error("it has no more");
    const uint32_t key = ++last_key_;
    const Region region{reinterpret_cast<uint64_t>(base), bytes, key, key};
    keys.emplace(key, region);
    return region;
  }
  Status unpin(const Region& region) override {
    if (keys.erase(region.remote_key) == 0) return error("what is not registered is unpinned");
    return success();
  }

 private:
  uint32_t last_key_ = 0;
};

/// Faults on purpose, to see that the exploration finds it.
enum class Mutant : uint8_t {
  kNone,
  kPutsBackEarly,    ///< a part is given up for others while its transfer is under way
  kForgetsGiveBack,  ///< a request does not name what it replaces
  kAsksTwice,        ///< a request arrives twice
  kUnpinsAtOnce,     ///< what a peer gives back is unpinned whoever else has it
  kOldKey,           ///< an answer names the key before
  kSilentRefusal,    ///< who cannot have a part is not told
  kNeverAgain,       ///< who found all parts in use does not try again
  kForgetsUse,       ///< own transfers never say that they are done
  kCount
};

struct Plan {
  uint32_t ranks = 2;
  uint32_t buckets = 3;    ///< of each rank
  uint32_t share = 1;      ///< that one peer may hold at once
  uint32_t own_share = 1;  ///< that own transfers may use at once
  uint32_t transfers = 3;  ///< of each rank, one after the other and
  uint32_t at_once = 2;    ///< so many together
  bool has_own = false;    ///< also with own memory
  uint32_t keys_max = ~0u;
  Mutant mutant = Mutant::kNone;
};

class World {
 public:
  explicit World(const Plan& plan);
  World(const World& other);
  World& operator=(const World&) = delete;

  /// Every step that can be taken from here, by number; false: there is no such one.
  bool step(uint32_t which);
  /// The promise that does not hold; empty: all do.
  std::string broken() const;
  /// All transfers are done and all messages arrived.
  bool is_over() const;
  /// Worlds of the same hash: what comes from here on is the same.
  uint64_t hash() const;
  const std::string& last_step() const { return last_; }

 private:
  static constexpr uint32_t kShift = 16;
  enum class Phase : uint8_t { kWanting, kWaiting, kUnderWay, kOwn };
  struct Transfer {
    Phase phase;
    Rank peer;
    uint64_t number;
    uint32_t index = ~0u;  ///< of the cache's entry, or of the own bucket
    uint32_t key = 0;      ///< under way
    bool is_held = true;   ///< a mutant put it back
    auto operator<=>(const Transfer&) const = default;
  };
  struct Letter {
    enum class Kind : uint8_t { kWanted, kGranted, kRefused } kind;
    Rank from, to;
    uint64_t number;
    uint32_t asker_index;
    uint32_t gives_back = ~0u;
    uint32_t owners_index = ~0u;
    uint32_t key = 0;
    auto operator<=>(const Letter&) const = default;
  };
  struct Node {
    KeyDevice device;
    Buckets own;
    RemoteCache cache;
    std::vector<Transfer> transfers;
    uint32_t left = 0;
  };

  static uint64_t first_number(Rank rank) { return (uint64_t{rank} + 1) << 8; }
  bool is(Mutant mutant) const { return plan_.mutant == mutant; }
  /// Counts the steps that can be taken; true: this is the wanted one, which is then taken.
  bool is_turn() { return wanted_-- == 0; }

  bool start(Rank rank);
  bool go_on(Rank rank, Transfer& transfer, bool& is_over);
  bool try_to_hold(Rank rank, Transfer& transfer);
  bool may_hold(Rank rank, const Transfer& transfer) const;
  void read_entry(Node& node, Transfer& transfer, bool& is_over);
  void deliver(const Letter& letter);
  void fail(const std::string& what);
  std::string end() const;

  Plan plan_;
  Node nodes_[3];
  std::vector<Letter> network_;
  std::string broken_, last_;
  uint32_t wanted_ = 0;
};

}  // namespace model
}  // namespace pinwire
