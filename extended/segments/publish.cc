#include "extended/segments/publish.h"

#include <algorithm>
#include <cstring>

#include "core/api_types.h"
#include "core/base/check.h"
#include "core/base/files/file_inode.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/segments/pin.h"
#include "pin/demand.h"
#include "pin/kernel/populate.h"

namespace pinwire {
namespace {

/// The facts that every rank sends to every other about its segment. Arrays are by driver index,
/// which is the same on all ranks.
struct SegmentFacts {
  uint64_t base;
  uint64_t bytes;
  int32_t pid;
  int32_t fd;
  uint64_t inode;  ///< of the file
  uint32_t keys[kDriversMax];
  uint32_t read_keys[kDriversMax];  ///< to get with
  Reach reach[kDriversMax];
  RemoteCache::Grant grants[kDriversMax];  ///< of Reach::kBuckets
  uint32_t atomic64[kDriversMax];          ///< as in Caps
  bool atomics_meet_cpu[kDriversMax];      ///< likewise
  bool meets_all[kDriversMax];             ///< DriverSlot's
};

/// All memory is EVERYTHING's segment (C1-114).
void state_range(const Job& job, SegmentFacts& facts) noexcept {
  const bool is_all = job.kind == SegmentKind::kEverything;
  facts.base = is_all ? 0 : reinterpret_cast<uint64_t>(job.segment.base);
  facts.bytes = is_all ? ~uint64_t{0} : job.segment_bytes;
  facts.pid = job.ranks[engine.rank].pid;
  facts.fd = job.segment.fd;
  facts.inode = inode_of(job.segment.fd);
}

/// Pages that a device keeps in place must all be there.
Status make_present(const Job& job, const Caps& caps) {
  if (!caps.needs_local_key) return success();
  return populate(job.segment.base, job.segment_bytes, engine.spinners_max);
}

Publication publication_by(const Job& job, const Caps& caps, const SegmentFacts& facts) noexcept {
  return publication(job.kind, caps, fits_whole(job.may_pin, facts.bytes, engine.rail_count));
}

/// Also of a rank whose own segment is empty: it may reach its peers' in parts.
void open_pins(const Job& job, SegmentFacts& facts) {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Caps& caps = engine.drivers[d].caps;
    if (!pins_on_demand(caps)) continue;
    const bool in_parts = job.kind == SegmentKind::kLarge && facts.bytes != 0 &&
                          publication_by(job, caps, facts) == Publication::kWithheld;
    facts.grants[d] = open_own_pins(job, d, in_parts);
  }
}

Status publish_by(const Job& job, uint32_t index, SegmentFacts& facts) {
  DriverSlot& slot = engine.drivers[index];
  const Publication way = publication_by(job, slot.caps, facts);
  const bool is_withheld = way == Publication::kWithheld;
  facts.reach[index] = !is_withheld                       ? Reach::kWhole
                       : facts.grants[index].buckets != 0 ? Reach::kBuckets
                                                          : Reach::kMessages;
  if (is_withheld) return success();
  void* base = reinterpret_cast<void*>(facts.base);
  const bool is_pinned = way == Publication::kPinned;
  if (auto present = is_pinned ? make_present(job, slot.caps) : success(); !present) return present;
  auto region = is_pinned ? slot.driver->pin(base, facts.bytes, job.segment.fd, 0)
                          : slot.driver->expose(base, facts.bytes);
  if (!region && is_pinned) return region.error();
  if (!region) {
    facts.reach[index] = Reach::kMessages;  // which are always there
    if (engine.rank == 0 || job.settings.verbose_env) {
      log_note("messages carry puts and gets to this rank: %s", region.sentence().c_str());
    }
    return success();
  }
  check(region->base <= facts.base, "a driver knows less than the segment", region->base);
  check(region->bytes >= facts.bytes, "a driver knows less than the segment", region->bytes,
        facts.bytes);
  check(slot.own_key == kNoRegion, "a segment is published twice", index);
  slot.own_key = region->local_key;
  slot.own_read_key = region->key_of_source();
  slot.own_stays = is_pinned;
  facts.keys[index] = region->remote_key;
  facts.read_keys[index] = region->key_to_get();
  return success();
}

/// A driver's capabilities may depend on its use. They change only if all memory is a segment,
/// which is settled before any thread polls; otherwise nothing is written, as a dispatcher may be
/// reading them. The target executes its atomics, so a driver offers only those that all ranks
/// have.
void learn_caps(const std::vector<SegmentFacts>& facts) noexcept {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    Caps caps = engine.drivers[d].driver->caps();
    for (const SegmentFacts& of : facts) {
      caps.atomic64 &= of.atomic64[d];
      caps.atomics_meet_cpu = caps.atomics_meet_cpu && of.atomics_meet_cpu[d];
    }
    if (caps != engine.drivers[d].caps) engine.drivers[d].caps = caps;
  }
}

void state_atomics(SegmentFacts& facts) noexcept {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Caps caps = engine.drivers[d].driver->caps();
    facts.atomic64[d] = caps.atomic64;
    facts.atomics_meet_cpu[d] = caps.atomics_meet_cpu;
    facts.meets_all[d] = engine.drivers[d].meets_all;
  }
}

/// Where the NICs' atomics meet the CPU's nothing need go out of its way. After learn_caps(). The
/// same on all ranks, as each decides by what all have told.
void agree_on_nic_atomics(const std::vector<SegmentFacts>& facts) {
  uint32_t codes = kAllAtomics;
  bool meet_cpu = true;
  for (uint32_t rail = 0; rail < engine.rail_count; ++rail) {
    const uint32_t d = engine.rail_first + rail;
    codes &= engine.drivers[d].caps.atomic64;
    meet_cpu = meet_cpu && engine.drivers[d].caps.atomics_meet_cpu;
    for (const SegmentFacts& of : facts) {
      if (!of.meets_all[d] || (of.bytes != 0 && of.reach[d] != Reach::kWhole)) return;
    }
  }
  if (codes == 0 || meet_cpu) return;
  check(engine.nic_atomic_keys == nullptr, "the NICs' atomics are agreed on twice");
  engine.nic_atomics = codes;
  engine.nic_atomic_keys = new uint32_t[engine.rank_count];
  for (Rank rank = 0; rank < engine.rank_count; ++rank) {
    engine.nic_atomic_keys[rank] = facts[rank].keys[engine.atomic_rail_of(rank)];
  }
}

Result<SegmentFacts> publish_own(const Job& job) {
  static constexpr const char* kWays[] = {"by the driver", "in parts", "by messages"};
  SegmentFacts facts{};
  state_range(job, facts);
  open_pins(job, facts);
  for (uint32_t d = 0; d < engine.driver_count && facts.bytes != 0; ++d) {
    if (auto published = publish_by(job, d, facts); !published) return published.error();
    const char* name = engine.drivers[d].driver->name();
    const char* way = kWays[static_cast<int>(facts.reach[d])];
    trace_line('O', "own memory is reached over %s %s", name, way);
    if (job.settings.verbose_env && job.kind != SegmentKind::kFast) {
      log_note("own memory is reached over %s %s", name, way);
    }
  }
  state_atomics(facts);
  check(engine.own_bytes.load(std::memory_order_relaxed) == 0, "a process publishes once");
  engine.own_base = facts.base;
  engine.own_bytes.store(facts.bytes, std::memory_order_release);  // pairs with Engine::owns()
  return facts;
}

Status map_peer(Job& job, Rank peer, const SegmentFacts& facts) {
  check(peer != engine.rank, "a process maps its own segment", peer);
  auto mapped = map_peer_memory(facts.pid, facts.fd, facts.inode, facts.bytes);
  if (!mapped) return error("rank %u: %s", peer, mapped.sentence().c_str());
  job.shm->map_peer_region(peer, facts.base, facts.bytes, mapped->base);
  let_headers_reach(peer, facts.base, facts.bytes,
                    reinterpret_cast<uint64_t>(mapped->base) - facts.base);
  return success();
}

bool is_by_shm(const Job& job, const Route& route) noexcept {
  return route.driver != nullptr && job.shm != nullptr && route.driver_index == job.shm_index;
}

/// Keeps the key of each rail; false: not every rail reaches the whole segment. Done for this rank,
/// too, as stripes come from its own memory.
bool keep_rail_keys(Rank peer, const SegmentFacts& facts) noexcept {
  const Route& route = engine.routes[peer];
  if (engine.rail_keys == nullptr) return true;
  if (route.driver != nullptr && route.driver_index < engine.rail_first) return true;
  bool is_whole = true;
  for (uint32_t rail = 0; rail < engine.rail_count; ++rail) {
    const uint32_t index = engine.rail_first + rail;
    engine.rail_keys[uint64_t{peer} * engine.rail_count + rail] = facts.keys[index];
    is_whole = is_whole && facts.reach[index] == Reach::kWhole;
  }
  return is_whole || facts.bytes == 0;
}

/// Keeps the keys to get with, if any rank has keys of its own for that.
void keep_read_keys(const std::vector<SegmentFacts>& facts) {
  const auto has_two = [](const SegmentFacts& of) {
    return !std::equal(of.keys, of.keys + kDriversMax, of.read_keys);
  };
  if (std::none_of(facts.begin(), facts.end(), has_two)) return;
  check(engine.read_keys == nullptr, "keys are kept twice");
  engine.read_keys = new uint32_t[uint64_t{engine.rank_count} * engine.rail_count];
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    std::copy_n(facts[peer].read_keys + engine.rail_first, engine.rail_count,
                engine.read_keys + uint64_t{peer} * engine.rail_count);
  }
}

/// Sets up the access of this process to the memory of a rank, itself included.
Status reach_peer(Job& job, Rank peer, const SegmentFacts& facts) {
  Route& route = engine.routes[peer];
  check((route.driver == nullptr) == (peer == engine.rank), "a peer without a driver, or this rank",
        peer);
  check(route.segment_bytes == 0, "a route to a segment is written while it may be read", peer);
  route.segment_base = facts.base;
  route.region_key = facts.keys[route.driver_index];
  if (facts.bytes == 0) return success();
  if (route.driver == nullptr) {
    let_headers_reach(peer, facts.base, facts.bytes, 0);
    return success();
  }
  route.reach = facts.reach[route.driver_index];
  if (route.reach > Reach::kMessages) return error("rank %u sent malformed facts", peer);
  if (route.reach != Reach::kWhole || !is_by_shm(job, route)) return success();
  if (job.kind != SegmentKind::kEverything) return map_peer(job, peer, facts);
  const Status reached = job.shm->reach_peer_process(peer);
  if (reached) return success();
  route.reach = Reach::kMessages;  // which are always there
  if (engine.rank == 0 || job.settings.verbose_env) {
    log_note("messages carry puts and gets: %s", reached.sentence().c_str());
  }
  return success();
}

/// Takes the grants of the peers that are reached by buckets over this driver.
Status take_grants(uint32_t index, const std::vector<SegmentFacts>& facts) {
  std::vector<RemoteCache::Grant> grants(engine.rank_count);
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    const Route& route = engine.routes[peer];
    const bool is_reached = route.driver != nullptr && route.driver_index == index;
    if (is_reached && route.reach == Reach::kBuckets) grants[peer] = facts[peer].grants[index];
  }
  return open_peers_pins(index, grants);
}

}  // namespace

void let_headers_reach(Target to, uint64_t base, uint64_t bytes, uint64_t delta) noexcept {
  check(to < kTargetsMax, "the memory of no endpoint", to);
  check(base <= ~bytes, "a segment beyond the last address", base, bytes);
  struct pinwire_reach& reach = ::pinwire_reach[to];
  check(reach.mapped == 0, "headers reach other memory of the endpoint already", to);
  reach.size = 0;
  reach.base = base;
  reach.delta = delta;
  // A thread that finds the bytes of an entry that was empty finds where they are: pairs with the
  // acquire in word_here().
  std::atomic_ref(reach.mapped).store(bytes, std::memory_order_release);
  // With a size of 0 nothing is inlined: what is inlined cannot be traced.
  if (watches('G') || watches('P') || watches('R') || watches('D')) return;
  // The size comes last for the same reason: pairs with the acquire in the headers'
  // pinwire_direct(), which reads it first, and in pinwire_checked_direct().
  if (engine.has_devices.load(std::memory_order_relaxed)) return;
  std::atomic_ref(reach.size).store(bytes, std::memory_order_release);
}

void forget_headers_reach(Target to) noexcept { ::pinwire_reach[to] = {}; }

void keep_headers_out() noexcept {
  for (uint32_t endpoint = 0; endpoint < kEndpointsMax; ++endpoint) {
    for (Rank rank = 0; rank < engine.rank_count; ++rank) {
      struct pinwire_reach& reach = ::pinwire_reach[target_of(rank, endpoint)];
      if (reach.size != 0) reach.size = 0;
    }
  }
}

Status publish_segments(Job& job, const Gather& gather) {
  auto mine = publish_own(job);
  if (!mine) return mine.error();
  const auto* bytes = reinterpret_cast<const std::byte*>(&*mine);
  auto all = gather({bytes, sizeof(SegmentFacts)});
  if (!all) return all.error();
  check(all->size() == engine.rank_count, "the facts of another number of ranks", all->size());
  std::vector<SegmentFacts> facts(engine.rank_count);
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    if ((*all)[peer].size() != sizeof facts[peer]) {
      return error("rank %u sent malformed facts", peer);
    }
    std::memcpy(&facts[peer], (*all)[peer].data(), sizeof facts[peer]);
    if (auto reached = reach_peer(job, peer, facts[peer]); !reached) return reached;
    engine.routes[peer].publish(facts[peer].bytes);
    if (!keep_rail_keys(peer, facts[peer])) engine.stripe_bytes_min = ~uint64_t{0};
  }
  keep_read_keys(facts);
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    if (demands[d] == nullptr) continue;
    if (auto taken = take_grants(d, facts); !taken) return taken;
  }
  learn_caps(facts);
  agree_on_nic_atomics(facts);
  return success();
}

}  // namespace pinwire
