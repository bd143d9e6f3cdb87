// The engine: the drivers of this process, the lanes over them, the route to each peer. Everything
// is set up by attach and constant afterwards, but the lanes.
//
// The meaning of a message or a completion is the business of the room above, which passes a sink.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bits.h"
#include "core/base/no_cancel.h"
#include "core/engine/bound_ranges.h"
#include "core/engine/lane.h"
#include "core/engine/offered_work.h"
#include "core/engine/target.h"
#include "driver/driver.h"

namespace pinwire {

/// How the memory of a peer is reached.
enum class Reach : uint8_t {
  kWhole,     ///< one key covers all that it publishes
  kBuckets,   ///< keys of parts of it, on demand
  kMessages,  ///< from here on: by messages that its CPU carries out (am/on_demand/by_message.h)
  kDevice,    ///< the same, always: it is device memory, which the driver does not reach
};

/// How to reach one endpoint of a peer, and its segment.
struct Route {
  Driver* driver = nullptr;  ///< nullptr: this process itself
  uint8_t driver_index = 0;
  Reach reach = Reach::kWhole;
  bool is_bound = false;   ///< by gex_EP_BindSegment: its keys are here alone
  bool is_device = false;  ///< memory of a device (segment/kinds): no CPU touches it
  uint32_t region_key = kNoRegion;
  uint64_t segment_base = 0;   ///< of GASNET_SEGMENT_EVERYTHING: 0, and ~0 bytes
  uint64_t segment_bytes = 0;  ///< told last: by publish(); read first: by known_bytes()

  /// 0: nothing is known of the segment. Otherwise all that this says of it is there, also for a
  /// thread that met nobody since, as a dispatcher's: pairs with publish().
  uint64_t known_bytes() const noexcept {
    return std::atomic_ref<const uint64_t>(segment_bytes).load(std::memory_order_acquire);
  }
  void publish(uint64_t bytes) noexcept {
    dcheck(segment_base <= ~bytes, "a segment beyond the last address", segment_base, bytes);
    std::atomic_ref(segment_bytes).store(bytes, std::memory_order_release);
  }
  bool covers(const void* address, uint64_t bytes) const noexcept {
    const uint64_t known = known_bytes();
    return inside(reinterpret_cast<uint64_t>(address), bytes, segment_base, known);
  }
};
static_assert(sizeof(Route) == 32);

struct DriverSlot {
  Driver* driver = nullptr;
  Caps caps;
  uint32_t lane_count = 1;
  uint32_t own_key = kNoRegion;       ///< of this process's segment
  uint32_t own_read_key = kNoRegion;  ///< likewise, where it is only read (driver/work.h, Region)
  bool own_stays = true;  ///< what it names is there until close(), so that silent work may read it
  bool meets_all = false;  ///< it connects to all ranks, for atomics: neighbours and this one, too
  char label[16] = "";     ///< in statistics: "verbs", "verbs_rail1"
  DriverLane lanes[kLanesMax];

  /// Nobody is inside a lane between the two; work that may be posted by any thread at once, is.
  /// The caller is in no lane, as are other threads that wait for one: each takes one at a time.
  void lock_lanes(const std::atomic<uint32_t>& spins_before_yield) noexcept {
    for (uint32_t lane = 0; lane < lane_count; ++lane) lanes[lane].lock(spins_before_yield);
  }
  void unlock_lanes() noexcept {
    for (uint32_t lane = 0; lane < lane_count; ++lane) lanes[lane].unlock();
  }
  /// The lane of this driver that a thread of `thread_lane` uses.
  uint32_t lane_of(uint32_t thread_lane) const noexcept {
    if constexpr (!kConcurrent) return 0;
    dcheck(thread_lane != ThreadState::kUnassigned, "a thread without a lane uses one");
    dcheck(lane_count != 0, "a driver without lanes", thread_lane);
    return thread_lane < lane_count ? thread_lane : lane_count - 1;
  }
};

struct Engine {
  Rank rank = 0;
  Rank rank_count = 1;
  Rank target_count = 0;    ///< ranks that may be sent to: none before attach (C1-056)
  uint32_t lane_count = 1;  ///< of the threads: one each, and the last for all further ones
  uint32_t driver_count = 0;
  /// Empty polls before a waiting thread gives up its core: as the wait mode asks, and few while
  /// more threads of this host want to spin than it has cores for.
  std::atomic<uint32_t> spins_wanted{~0u};
  std::atomic<uint32_t> spins_now{~0u};
  uint32_t spinners_max = ~0u;  ///< threads of this process that have a core each
  DriverSlot drivers[kDriversMax];
  /// Drivers of one kind, each over a port of its own, that reach the same peers. The messages
  /// between two ranks go by one of them, large transfers by all (am/long/stripe.h).
  uint32_t rail_first = 0;
  uint32_t rail_count = 1;
  uint64_t stripe_bytes_min = ~uint64_t{0};  ///< of a large transfer; ~0 with one rail
  uint32_t* rail_keys = nullptr;  ///< [peer][rail]: of its segment; nullptr with one rail
  uint32_t* read_keys = nullptr;  ///< [peer][rail]: to get from it; nullptr: as to put to it
  /// The atomics (atomic_bit()s) that the NICs of all ranks have, where they do not meet the CPUs';
  /// and the keys of each rank's segment for the NIC that does its atomics. nullptr, and none,
  /// unless every rank reaches every one so, its own included: then a domain may leave all to the
  /// NICs.
  uint32_t nic_atomics = 0;
  uint32_t* nic_atomic_keys = nullptr;
  /// By Target. All that is known of a peer's further endpoints is how their segments are reached,
  /// once it is known: messages to them take the route to the rank.
  Route* routes = nullptr;
  uint64_t own_base = 0;
  /// Told last, read first: who sees it sees the drivers' keys, too. Release by publish_segments()
  /// pairs with acquire by owns().
  std::atomic<uint64_t> own_bytes{0};
  BoundRanges bound;  ///< this process's memory that gex_EP_BindSegment made known
  std::atomic<bool> has_devices{false};  ///< some of it is, or was, device memory (segment/kinds)
  std::atomic<uint32_t> threads{0};      ///< that have called, dead ones included; up to lane_count
  std::atomic<uint32_t> threads_live{0};  ///< that have called and live
  uint32_t threads_max = 0;               ///< of them; 0: any number

  ThreadState& thread() noexcept {
    ThreadState& state = this_thread;
    if (state.lane == ThreadState::kUnassigned) [[unlikely]]
      adopt(state);
    return state;
  }

  /// The first call of a thread.
  void adopt(ThreadState& state) noexcept;
  /// Gives this thread the lanes that no other thread sends on (info.owned_lanes), for good: to the
  /// first threads one each, of every driver that is open. Not where a dispatcher looks after all.
  void own_lanes(const ThreadState& state) noexcept;

  /// A thread that waits for a peer with a core bridges the gap between two of its frames, a few
  /// microseconds: two switches cost as much. Ranks that outnumber the cores wait for each other's.
  static constexpr uint32_t kSpinsOfCrowd = 64;

  /// Threads of this host's ranks outnumber the cores.
  bool is_crowded() const noexcept {
    return threads_live.load(std::memory_order_relaxed) > spinners_max;
  }

  /// After a change of what it depends on.
  void set_spins() noexcept {
    const uint32_t spins_max = !is_crowded() ? ~0u : spinners_max != 0 ? kSpinsOfCrowd : 0;
    spins_now.store(std::min(spins_wanted.load(std::memory_order_relaxed), spins_max),
                    std::memory_order_relaxed);
  }

  /// Whether it is of this process's own segment.
  bool owns(uint64_t address, uint64_t bytes) const noexcept {
    const uint64_t known = own_bytes.load(std::memory_order_acquire);
    return inside(address, bytes, own_base, known);
  }

  /// The key under which `driver` knows [address, address + bytes), or kNoRegion. To write to; what
  /// is only read has source_key().
  uint32_t local_key(uint32_t driver, const void* address, uint64_t bytes) const noexcept {
    const auto at = reinterpret_cast<uint64_t>(address);
    if (owns(at, bytes)) return drivers[driver].own_key;
    return bound.key(driver, at, bytes);
  }
  uint32_t source_key(uint32_t driver, const void* address, uint64_t bytes) const noexcept {
    const auto at = reinterpret_cast<uint64_t>(address);
    if (owns(at, bytes)) return drivers[driver].own_read_key;
    return bound.key(driver, at, bytes);
  }
  /// The key to get from a peer's segment with, which this route reaches whole.
  uint32_t read_key(Rank peer, const Route& route) const noexcept {
    if (read_keys == nullptr || route.driver_index < rail_first || route.is_bound) [[likely]]
      return route.region_key;
    dcheck(peer < rank_count, "the key of a rank that the job has not", peer, rank_count);
    dcheck(route.driver_index - rail_first < rail_count, "a driver that is no rail",
           route.driver_index);
    return read_keys[uint64_t{peer} * rail_count + (route.driver_index - rail_first)];
  }

  /// Whether messages and transfers may name it: an endpoint of a rank of this job, after attach.
  bool is_target(Target target) const noexcept {
    return rank_of(target) < target_count && endpoint_of(target) < kEndpointsMax;
  }

  /// The same at both ends, so that a handler replies on the lane that it holds.
  uint32_t rail_to(Rank peer) const noexcept { return (rank + peer) % rail_count; }
  /// The one NIC whose atomics the memory of a rank sees, whoever asks: most are atomic with
  /// themselves alone (IBA 9.4.5).
  uint32_t atomic_rail_of(Rank owner) const noexcept { return rail_first + owner % rail_count; }
  /// From this size on a transfer by this route, which reaches all of the peer's segment, goes by
  /// all rails, if they know the local memory: all of them do, if one does. Segments that are bound
  /// later have no keys of the other rails.
  uint64_t stripe_min(const Route& route) const noexcept {
    const bool is_striped = route.driver_index >= rail_first && !route.is_bound;
    return is_striped ? stripe_bytes_min : ~uint64_t{0};
  }
  const Caps& caps_of(const Route& route) const noexcept {
    dcheck(route.driver == nullptr || route.driver == drivers[route.driver_index].driver,
           "a route and its index name two drivers", route.driver_index);
    return drivers[route.driver_index].caps;
  }

  /// Visits the lanes of all drivers in order, as `visit(driver, lane)`, until one returns false.
  /// True: all were visited.
  template <typename Visit>
  bool visit_lanes(Visit&& visit) const noexcept {
    dcheck(driver_count <= kDriversMax, "more drivers than there are places for", driver_count);
    for (uint32_t driver = 0; driver < driver_count; ++driver) {
      dcheck(drivers[driver].lane_count <= kLanesMax, "more lanes than a driver has", driver);
      for (uint32_t lane = 0; lane < drivers[driver].lane_count; ++lane) {
        if (!visit(driver, lane)) return false;
      }
    }
    return true;
  }

  /// Offers one piece of work on a driver's lane, whose lock the caller holds; not so for silent
  /// work of a driver with Caps::concurrent_post. The work keeps the contract of driver/work.h
  /// (core/engine/offered_work.h).
  bool offer(uint32_t driver, uint32_t lane, const Work& work) noexcept {
    DriverSlot& slot = drivers[driver];
    dcheck(driver < driver_count, "work for no driver", driver, driver_count);
    dcheck(lane < slot.lane_count, "work for no lane", lane, slot.lane_count);
    dcheck(work.peer < rank_count, "work for a rank that the job has not", work.peer, rank_count);
    if constexpr (kChecks) {
      const bool is_free = slot.caps.concurrent_post && (work.flags & kWorkSilent) != 0;
      dcheck(is_free || slot.lanes[lane].is_held(), "work is offered without the lock", driver,
             lane);
      check_offered(slot.caps, work);
    }
    if (slot.driver->post(lane, {&work, 1}) == 0) return false;
    if ((work.flags & kWorkSilent) == 0) ++slot.lanes[lane].pending;
    return true;
  }
};

inline constinit Engine engine;

/// Ends the job with what the driver says of its failure, or of this status.
[[noreturn]] void driver_failed(const Driver& driver, WorkStatus status) noexcept;

inline constexpr uint32_t kPollBatch = 32;
/// The batch is smaller while other threads wait for the lane, which handlers keep from them.
inline constexpr uint32_t kPollBatchWaitedFor = 4;

/// One turn of a driver's lane whose lock the caller holds. `sink.message(lane, recv)` runs for
/// each message, `sink.done(cookie)` for each completion. Returns how many there were.
template <typename Sink>
inline uint32_t drain_lane(uint32_t driver, uint32_t lane, RecvFilter filter,
                           Sink&& sink) noexcept {
  DriverSlot& slot = engine.drivers[driver];
  dcheck(lane < slot.lane_count, "a turn of no lane", lane, slot.lane_count);
  if constexpr (kChecks) dcheck(slot.lanes[lane].is_held(), "a turn without the lock", lane);
  Recv batch[kPollBatch];
  const uint32_t batch_max = slot.lanes[lane].is_waited_for() ? kPollBatchWaitedFor : kPollBatch;
  uint32_t found = slot.driver->recv(lane, filter, {batch, batch_max});
  dcheck(found <= batch_max, "a driver handed out more than was asked for", found, batch_max);
  if (found != 0) {
    const NoCancelBesideOthers in_handlers;
    // Replies come first. Their buffers go back before a request's handler, which may wait for room
    // for a reply of its own, runs: else two ranks with few buffers wait for each other (C1-154).
    uint32_t replies = 0;
    while (replies < found && batch[replies].cls == MessageClass::kReply) {
      sink.message(lane, batch[replies++]);
    }
    if (replies != 0) slot.driver->give_back(lane, {batch, replies});
    dcheck(replies == found || filter == RecvFilter::kAll, "a request where replies alone may run",
           replies, found);
    for (uint32_t i = replies; i < found; ++i) {
      dcheck(batch[i].cls == MessageClass::kRequest, "a reply behind a request", i, found);
      sink.message(lane, batch[i]);
    }
    if (replies != found) slot.driver->give_back(lane, {batch + replies, found - replies});
  }
  uint32_t& pending = slot.lanes[lane].pending;
  if (pending == 0) return found;
  Done done[kPollBatch];
  const uint32_t finished = slot.driver->done(lane, done);
  check(finished <= pending, "a driver reported more than it was given", finished, pending);
  dcheck(finished <= kPollBatch, "a driver reported more than was asked for", finished);
  pending -= finished;
  for (uint32_t i = 0; i < finished; ++i) {
    if (done[i].status != WorkStatus::kOk) driver_failed(*slot.driver, done[i].status);
    dcheck(done[i].cookie != 0, "work ends that nobody named", i, finished);
    sink.done(done[i].cookie);
  }
  return found + finished;
}

}  // namespace pinwire
