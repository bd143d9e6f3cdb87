// Ranks that ask each other for buckets, as am/ does it, over a network that delivers when it
// likes: whoever exhausts the other's budget, all transfers end, and no transfer ever reaches a
// bucket that its owner has unpinned.
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "core/base/random.h"
#include "pin/owner_table.h"
#include "pin/remote_cache.h"

namespace pinwire {
namespace {

constexpr uint32_t kRanks = 3;
constexpr uint32_t kTransfersEach = 300;
constexpr uint32_t kUnderWayMax = 6;  // of one rank; more than any share

struct Letter {
  Rank from, to;
  bool is_answer;
  uint64_t number;
  uint32_t asker_index;  // of the asker's entry
  uint32_t index;        // asked: what is given back; answered: the owner's entry
  uint32_t key;
};

struct Node {
  RemoteCache cache;
  OwnerTable table;
  std::set<uint32_t> keys;  // of the device, at present
  uint32_t next_key = 1;
  struct Transfer {
    Rank to;
    uint64_t number;
    uint32_t entry = RemoteCache::kNone;
    bool is_posted = false;
  };
  std::vector<Transfer> under_way;
  uint32_t started = 0, finished = 0;
};

class Exchange {
 public:
  Exchange(uint64_t seed, uint32_t share) : random_(seed) {
    for (Rank rank = 0; rank < kRanks; ++rank) {
      RemoteCache::Grant grants[kRanks];
      for (Rank peer = 0; peer < kRanks; ++peer) grants[peer] = {16, peer == rank ? 0 : share};
      nodes_[rank].cache.open(grants);
      nodes_[rank].table.open({16, share, share * (kRanks - 1), 1}, kRanks);
    }
  }

  void run() {
    for (uint64_t step = 0; !all_done(); ++step) {
      ASSERT_LT(step, 2'000'000u) << "no progress";
      if (!network_.empty() && random_.below(2) == 0) {
        deliver();
      } else {
        turn(static_cast<Rank>(random_.below(kRanks)));
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  bool all_done() const {
    for (const Node& node : nodes_) {
      if (node.finished != kTransfersEach) return false;
    }
    return true;
  }

  void turn(Rank rank) {
    Node& node = nodes_[rank];
    if (node.started < kTransfersEach && node.under_way.size() < kUnderWayMax) {
      const Rank to = (rank + 1 + static_cast<Rank>(random_.below(kRanks - 1))) % kRanks;
      node.under_way.push_back({to, random_.below(10)});
      ++node.started;
    }
    if (node.under_way.empty()) return;
    const size_t which = random_.below(node.under_way.size());
    Node::Transfer& one = node.under_way[which];
    if (one.entry == RemoteCache::kNone) {
      one.entry = node.cache.take(one.to, one.number);
      if (one.entry != RemoteCache::kNone) return;
      const auto want = node.cache.ask(one.to, one.number);
      if (want.index == RemoteCache::kNone) return;  // waits for its own to end
      one.entry = want.index;
      network_.push_back({rank, one.to, false, one.number, want.index, want.gives_back, 0});
      return;
    }
    const auto& entry = node.cache.at(one.entry);
    if (entry.state == RemoteCache::State::kAsked) return;
    if (!one.is_posted) {
      one.is_posted = true;  // it is carried out a while later
      return;
    }
    ASSERT_TRUE(nodes_[one.to].keys.contains(entry.key)) << "unpinned under a transfer";
    node.cache.put_back(one.entry);
    node.under_way.erase(node.under_way.begin() + static_cast<std::ptrdiff_t>(which));
    ++node.finished;
  }

  /// Those between two ranks may overtake each other: the contract orders one class on one lane.
  void deliver() {
    const size_t which = random_.below(network_.size());
    const Letter letter = network_[which];
    network_.erase(network_.begin() + static_cast<std::ptrdiff_t>(which));
    Node& node = nodes_[letter.to];
    if (letter.is_answer) {
      RemoteCache::Told told;
      told.to = 1;
      told.owners_index = letter.index;
      told.key = letter.key;
      ASSERT_TRUE(node.cache.grant(letter.from, letter.asker_index, told));
      return;
    }
    if (letter.index != RemoteCache::kNone) {
      ASSERT_TRUE(node.table.let_go(letter.index, letter.from));
    }
    uint32_t index = node.table.find(letter.number);
    if (index == OwnerTable::kNone) {
      const auto victim = node.table.make_room();
      if (victim.is_any) {
        ASSERT_EQ(node.keys.erase(victim.region.remote_key), 1u);
      }
      const uint32_t key = node.next_key++;
      node.keys.insert(key);
      index = node.table.add(letter.number, {letter.number << 16, 1 << 16, key, key});
    }
    ASSERT_TRUE(node.table.hold(index, letter.from)) << "beyond the share";
    network_.push_back({letter.to, letter.from, true, letter.number, letter.asker_index, index,
                        node.table.at(index).region.remote_key});
  }

  Random random_;
  Node nodes_[kRanks];
  std::deque<Letter> network_;
};

TEST(Exchange, RanksThatExhaustEachOthersBudgetAtOnceMakeProgress) {
  for (const uint32_t share : {1u, 2u, 5u}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", share " << share);
      auto exchange = std::make_unique<Exchange>(seed, share);
      exchange->run();
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace pinwire
