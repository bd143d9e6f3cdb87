#include "tests/models/worlds/exchange_world.h"

#include <algorithm>

namespace pinwire::model {
namespace {

std::string sentence(const char* what, Rank rank, Rank peer, uint64_t number) {
  return "rank " + std::to_string(rank) + " " + what + " part " + std::to_string(number & 0xff) +
         " of rank " + std::to_string(peer);
}

}  // namespace

World::World(const Plan& plan) : plan_(plan) {
  const uint32_t peers = plan.ranks - 1;
  Shares shares;
  shares.bucket_shift = kShift;
  shares.buckets_per_peer = plan.share;
  shares.buckets_of_peers = plan.share * peers;
  shares.buckets_own = plan.own_share;
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    Node& node = nodes_[rank];
    node.device.keys_max = plan.keys_max;
    Buckets fresh;
    fresh.open(node.device, shares, plan.ranks, first_number(rank) << kShift,
               uint64_t{plan.buckets} << kShift);
    PinModel::copy(node.own, fresh, node.device);
    std::vector<RemoteCache::Grant> grants(plan.ranks);
    for (Rank peer = 0; peer < plan.ranks; ++peer) {
      grants[peer] = {kShift, peer == rank ? 0 : plan.share};
    }
    node.cache.open(grants);
    node.left = plan.transfers;
  }
}

World::World(const World& other) : plan_(other.plan_), network_(other.network_) {
  for (Rank rank = 0; rank < plan_.ranks; ++rank) {
    Node& node = nodes_[rank];
    const Node& its = other.nodes_[rank];
    node.device = its.device;
    PinModel::copy(node.own, its.own, node.device);
    node.cache = its.cache;
    node.transfers = its.transfers;
    node.left = its.left;
  }
}

bool World::step(uint32_t which) {
  wanted_ = which;
  for (Rank rank = 0; rank < plan_.ranks; ++rank) {
    Node& node = nodes_[rank];
    if (start(rank)) return true;
    for (size_t at = 0; at < node.transfers.size(); ++at) {
      bool is_over = false;
      if (!go_on(rank, node.transfers[at], is_over)) continue;
      if (is_over) node.transfers.erase(node.transfers.begin() + static_cast<ptrdiff_t>(at));
      std::sort(node.transfers.begin(), node.transfers.end());
      return true;
    }
  }
  for (size_t at = 0; at < network_.size(); ++at) {
    if (!is_turn()) continue;
    const Letter letter = network_[at];
    network_.erase(network_.begin() + static_cast<ptrdiff_t>(at));
    deliver(letter);
    std::sort(network_.begin(), network_.end());
    return true;
  }
  return false;
}

/// A new transfer, with any part of anyone.
bool World::start(Rank rank) {
  Node& node = nodes_[rank];
  if (node.left == 0 || node.transfers.size() == plan_.at_once) return false;
  for (Rank peer = 0; peer < plan_.ranks; ++peer) {
    if (peer == rank && !plan_.has_own) continue;
    for (uint64_t number = first_number(peer); number < first_number(peer) + plan_.buckets;
         ++number) {
      if (!is_turn()) continue;
      --node.left;
      last_ = sentence("begins with", rank, peer, number);
      if (peer != rank) {
        Transfer transfer{Phase::kWanting, peer, number};
        try_to_hold(rank, transfer);
        node.transfers.push_back(transfer);
      } else if (const auto used = node.own.use(reinterpret_cast<void*>(number << kShift), true);
                 used.index != Buckets::kNone) {
        node.transfers.push_back({Phase::kOwn, peer, number, used.index, used.key});
      }  // else it is copied
      std::sort(node.transfers.begin(), node.transfers.end());
      return true;
    }
  }
  return false;
}

bool World::go_on(Rank rank, Transfer& transfer, bool& is_over) {
  Node& node = nodes_[rank];
  switch (transfer.phase) {
    case Phase::kWanting:
      if (is(Mutant::kNeverAgain) || !may_hold(rank, transfer) || !is_turn()) return false;
      last_ = sentence("tries again for", rank, transfer.peer, transfer.number);
      return try_to_hold(rank, transfer);
    case Phase::kWaiting:
      if (node.cache.at(transfer.index).state == RemoteCache::State::kAsked || !is_turn()) {
        return false;
      }
      read_entry(node, transfer, is_over);
      last_ = sentence(is_over ? "was refused" : "posts to", rank, transfer.peer, transfer.number);
      return true;
    case Phase::kUnderWay:
      if (!is_turn()) return false;
      if (transfer.is_held) node.cache.put_back(transfer.index);
      last_ = sentence("is done with", rank, transfer.peer, transfer.number);
      return is_over = true;
    case Phase::kOwn:
      if (!is_turn()) return false;
      if (!is(Mutant::kForgetsUse)) node.own.done(transfer.index);
      last_ = sentence("is done with", rank, rank, transfer.number);
      return is_over = true;
  }
  return false;
}

/// is_in_hand() of am/on_demand/exchange.cc, and its message.
bool World::try_to_hold(Rank rank, Transfer& transfer) {
  RemoteCache& cache = nodes_[rank].cache;
  transfer.index = cache.take(transfer.peer, transfer.number);
  if (transfer.index == RemoteCache::kNone) {
    const auto want = cache.ask(transfer.peer, transfer.number);
    transfer.index = want.index;
    if (want.index == RemoteCache::kNone) return false;
    network_.push_back({Letter::Kind::kWanted, rank, transfer.peer, transfer.number, want.index,
                        is(Mutant::kForgetsGiveBack) ? RemoteCache::kNone : want.gives_back});
    if (is(Mutant::kAsksTwice)) network_.push_back(network_.back());
    std::sort(network_.begin(), network_.end());
  }
  transfer.phase = Phase::kWaiting;
  return true;
}

/// Whether trying again would come to anything.
bool World::may_hold(Rank rank, const Transfer& transfer) const {
  RemoteCache cache = nodes_[rank].cache;
  return cache.take(transfer.peer, transfer.number) != RemoteCache::kNone ||
         cache.ask(transfer.peer, transfer.number).index != RemoteCache::kNone;
}

/// As in am/on_demand/exchange.cc; whoever is refused sends messages, which are no business of this
/// model.
void World::read_entry(Node& node, Transfer& transfer, bool& is_over) {
  const RemoteCache::Entry& entry = node.cache.at(transfer.index);
  is_over = entry.state == RemoteCache::State::kRefused;
  transfer.phase = Phase::kUnderWay;
  transfer.key = entry.key;
  transfer.is_held = !is(Mutant::kPutsBackEarly);
  if (is_over || !transfer.is_held) node.cache.put_back(transfer.index);
}

/// on_wanted(), on_granted() and on_refused() of am/on_demand/exchange.cc.
void World::deliver(const Letter& letter) {
  Node& node = nodes_[letter.to];
  const bool is_request = letter.kind == Letter::Kind::kWanted;
  last_ = sentence(is_request ? "is asked for" : "hears of", letter.to,
                   is_request ? letter.to : letter.from, letter.number);
  if (letter.kind == Letter::Kind::kRefused) {
    if (!node.cache.refuse(letter.from, letter.asker_index)) fail("a refusal is malformed");
    return;
  }
  if (letter.kind == Letter::Kind::kGranted) {
    RemoteCache::Told told;
    told.owners_index = letter.owners_index;
    told.key = letter.key;
    told.to = 1u << kShift;
    if (!node.cache.grant(letter.from, letter.asker_index, told)) fail("a grant is malformed");
    return;
  }
  if (is(Mutant::kUnpinsAtOnce) && letter.gives_back != RemoteCache::kNone) {
    const OwnerTable& table = PinModel::table(node.own);
    node.device.keys.erase(table.at(letter.gives_back).region.remote_key);
  }
  Buckets::Granted granted;
  const auto answer = node.own.grant(letter.from, letter.number, letter.gives_back, granted);
  if (answer == Buckets::Answer::kMalformed) return fail("a request is malformed");
  Letter reply{Letter::Kind::kRefused, letter.to, letter.from, letter.number, letter.asker_index};
  if (answer == Buckets::Answer::kGranted) {
    reply.kind = Letter::Kind::kGranted;
    reply.owners_index = granted.index;
    reply.key = granted.key - (is(Mutant::kOldKey) ? 1 : 0);
  }
  if (answer == Buckets::Answer::kRefused && is(Mutant::kSilentRefusal)) return;
  network_.push_back(reply);
}

void World::fail(const std::string& what) {
  if (broken_.empty()) broken_ = what;
}

std::string World::broken() const {
  if (!broken_.empty()) return broken_;
  const auto covers = [&](Rank owner, uint32_t key, uint64_t number) {
    const auto found = nodes_[owner].device.keys.find(key);
    return found != nodes_[owner].device.keys.end() && found->second.base >> kShift == number;
  };
  for (Rank rank = 0; rank < plan_.ranks; ++rank) {
    const Node& node = nodes_[rank];
    for (const Transfer& transfer : node.transfers) {
      if (transfer.phase >= Phase::kUnderWay &&
          !covers(transfer.peer, transfer.key, transfer.number))
        return sentence("reads and writes what is not registered any more,", rank, transfer.peer,
                        transfer.number);
    }
    for (const RemoteCache::Entry& entry : PinModel::entries(node.cache)) {
      if (entry.state == RemoteCache::State::kReady && !covers(entry.peer, entry.key, entry.number))
        return sentence("takes for registered what is not,", rank, entry.peer, entry.number);
    }
    const uint64_t budget = plan_.share * (plan_.ranks - 1) + plan_.own_share;
    if (node.device.keys.size() > budget) return "more is registered than the budget has";
  }
  return is_over() ? end() : std::string();
}

bool World::is_over() const {
  return network_.empty() && std::all_of(nodes_, nodes_ + plan_.ranks, [](const Node& node) {
           return node.left == 0 && node.transfers.empty();
         });
}

/// Once all is done: what the owner thinks that a peer holds is what the peer thinks.
std::string World::end() const {
  for (Rank rank = 0; rank < plan_.ranks; ++rank) {
    const OwnerTable& table = PinModel::table(nodes_[rank].own);
    for (Rank peer = 0; peer < plan_.ranks; ++peer) {
      const auto& entries = PinModel::entries(nodes_[peer].cache);
      const auto ready = std::count_if(entries.begin(), entries.end(), [&](const auto& entry) {
        return entry.state == RemoteCache::State::kReady && entry.peer == rank;
      });
      if (table.held_by(peer) != ready || PinModel::held(nodes_[peer].cache, rank) != ready) {
        return "at the end rank " + std::to_string(peer) + " leaks a part of rank " +
               std::to_string(rank);
      }
    }
    if (table.pinned() != nodes_[rank].device.keys.size()) return "a registration leaked";
    for (uint32_t index = 0; index < plan_.share * (plan_.ranks - 1) + plan_.own_share; ++index) {
      if (table.at(index).uses != 0) return "an own bucket stays in use";
    }
  }
  return {};
}

uint64_t World::hash() const {
  uint64_t hash = 0;
  const auto add = [&](uint64_t more) {
    hash = (hash ^ more) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
    hash ^= hash >> 29;
  };
  // Keys are never given out twice, so what they are called says nothing: only of what they are.
  const auto name = [&](Rank owner, uint32_t key) -> uint64_t {
    const auto found = nodes_[owner].device.keys.find(key);
    return found == nodes_[owner].device.keys.end() ? 0 : found->second.base;
  };
  for (Rank rank = 0; rank < plan_.ranks; ++rank) {
    const Node& node = nodes_[rank];
    add(node.left);
    PinModel::describe(PinModel::table(node.own), add,
                       [&](uint32_t key) { return name(rank, key); });
    PinModel::describe(node.cache, add, name);
    for (const Transfer& one : node.transfers) {
      add(uint64_t{one.peer} << 32 | one.number << 8 | static_cast<uint64_t>(one.phase));
      add(uint64_t{one.index} << 1 | one.is_held);
      add(one.phase >= Phase::kUnderWay ? name(one.peer, one.key) : 0);
    }
    add(~uint64_t{0});
  }
  uint64_t letters = 0;  // their order says nothing
  for (const Letter& one : network_) {
    const uint64_t before = hash;
    hash = 0;
    add(uint64_t{one.from} << 40 | uint64_t{one.to} << 32 | one.number << 8 |
        static_cast<uint64_t>(one.kind));
    add(uint64_t{one.asker_index} << 32 | one.gives_back);
    add(one.owners_index);
    add(one.kind == Letter::Kind::kGranted ? name(one.from, one.key) : 0);
    letters += hash;
    hash = before;
  }
  add(letters);
  return hash;
}

}  // namespace pinwire::model
