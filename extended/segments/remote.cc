#include "extended/segments/remote.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "am/handlers/handlers.h"
#include "am/message/message.h"
#include "am/send/send.h"
#include "am/wait/wait.h"
#include "core/api_types.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/segments/publish.h"
#include "extended/state/job.h"
#include "segment/memory.h"

namespace pinwire {
namespace {

static_assert(kEndpointsMax <= ShmDriver::kBoundRegionsMax && kEndpointsMax == GASNET_MAXEPS);

/// Two threads may want the same segment first.
std::mutex learning;

/// The latest state of an endpoint's segment that this process was told.
struct KnownSegment {
  uint64_t serial;
  SegmentMemory mapped;  ///< where it is in this process; or nothing
};
std::unordered_map<Target, KnownSegment> known_segments;  // under `learning`

/// A key for the shared-memory driver, or leave to send messages.
Status reach_by_shm(Rank peer, const BoundFacts& facts, Route& route, SegmentMemory& kept) {
  ShmDriver& shm = *job()->shm;
  if (facts.fd >= 0) {
    auto mapped = map_peer_memory(facts.pid, facts.fd, facts.inode, facts.bytes);
    if (!mapped) return error("rank %u: %s", peer, mapped.sentence().c_str());
    kept = *mapped;
    route.region_key =
        shm.map_bound_region(peer, facts.endpoint, facts.base, facts.bytes, mapped->base);
    let_headers_reach(target_of(peer, facts.endpoint), facts.base, facts.bytes,
                      reinterpret_cast<uint64_t>(mapped->base) - facts.base);
    return success();
  }
  if (shm.reach_peer_process(peer)) {
    route.region_key = ShmDriver::kCmaKey;
  } else {
    route.reach = Reach::kMessages;
  }
  return success();
}

/// The owner destroyed it: no transfer names it any more (EX-058), and its pages are gone already.
void forget(Target to) noexcept {
  const auto known = known_segments.find(to);
  if (known == known_segments.end()) return;
  if constexpr (kChecks) {
    dcheck(engine.routes[to].known_bytes() != 0, "a known segment that was not published", to);
  }
  forget_headers_reach(to);
  engine.routes[to].publish(0);
  release_segment_memory(known->second.mapped);
  known_segments.erase(known);
}

bool is_sane(const BoundFacts& facts) noexcept {
  if (facts.endpoint >= kEndpointsMax || facts.bytes > ~facts.base) return false;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Reach reach = facts.reach[d];
    if (reach != Reach::kWhole && reach != Reach::kMessages && reach != Reach::kDevice)
      return false;
  }
  return true;
}

/// The answer that an asker waits for; lives on its stack.
struct SegmentAnswer {
  std::atomic<bool> is_there{false};
  BoundFacts facts{};
};

void on_question(pinwire_token* token, int32_t endpoint, int32_t answer_low, int32_t answer_high) {
  const BoundFacts facts = own_bound_facts(static_cast<uint32_t>(endpoint));
  const int32_t args[] = {answer_low, answer_high};
  reply_medium(*token, {kHandlerSegmentAnswer, 2, args}, &facts, sizeof facts);
}

void on_segment_answer(pinwire_token* token, void* payload, size_t bytes, int32_t answer_low,
                       int32_t answer_high) {
  auto* answer = reinterpret_cast<SegmentAnswer*>(join_halves(answer_low, answer_high));
  if (bytes != sizeof answer->facts) {
    fatal("rank %u tells malformed facts of a segment; run the same build on every rank",
          token->source);
  }
  std::memcpy(&answer->facts, payload, sizeof answer->facts);
  answer->is_there.store(true, std::memory_order_release);  // pairs with ask()
}

BoundFacts ask(Target to) noexcept {
  dcheck(rank_of(to) != engine.rank, "a process asks itself", to);
  dcheck(!this_thread.in_handler, "a handler waits for an answer", to);
  SegmentAnswer answer;
  const auto at = reinterpret_cast<uint64_t>(&answer);
  const int32_t args[] = {static_cast<int32_t>(endpoint_of(to)), low_half(at), high_half(at)};
  request_short(rank_of(to), {kHandlerSegmentQuestion, 3, args});
  wait_until([&] { return answer.is_there.load(std::memory_order_acquire); });
  return answer.facts;
}

/// The caller holds `learning`.
Status reach_now(Rank peer, const BoundFacts& facts) {
  if (!is_sane(facts)) return error("rank %u tells malformed facts of a segment", peer);
  const Target to = target_of(peer, facts.endpoint);
  if (const auto known = known_segments.find(to); known != known_segments.end()) {
    if (known->second.serial == facts.serial) return success();  // EX-077: published once more
    forget(to);
  }
  if (facts.bytes == 0) return success();
  KnownSegment told{facts.serial, {}};
  Route route = engine.routes[peer];
  check((route.driver == nullptr) == (peer == engine.rank), "a peer without a driver, or this rank",
        peer);
  check(engine.routes[to].known_bytes() == 0, "a route is written while it may be read", to);
  route.is_bound = true;
  route.segment_base = facts.base;
  route.segment_bytes = 0;
  route.region_key = facts.keys[route.driver_index];
  route.reach = facts.reach[route.driver_index];
  route.is_device = facts.is_device;
  if (facts.is_device) {
    // NICs may reach it; otherwise the owner's CPU calls the vendor's library for every rank.
    if (route.driver == nullptr) route.reach = Reach::kDevice;
  } else if (route.driver == nullptr) {
    route.reach = Reach::kWhole;
    let_headers_reach(to, facts.base, facts.bytes, 0);
  } else if (job()->shm != nullptr && route.driver_index == job()->shm_index) {
    if (auto reached = reach_by_shm(peer, facts, route, told.mapped); !reached) return reached;
  }
  engine.routes[to] = route;
  engine.routes[to].publish(facts.bytes);
  known_segments.insert_or_assign(to, told);
  trace_line('O', "segment of endpoint %u of rank %u is known", facts.endpoint, peer);
  return success();
}

}  // namespace

Status reach_bound(Rank peer, const BoundFacts& facts) {
  const std::lock_guard guard(learning);
  return reach_now(peer, facts);
}

bool learn_segment(Target to) noexcept {
  const Rank peer = rank_of(to);
  if (!engine.is_target(to)) return false;
  if (engine.routes[to].known_bytes() != 0 || this_thread.in_handler) return false;
  const BoundFacts facts = peer == engine.rank ? own_bound_facts(endpoint_of(to)) : ask(to);
  const std::lock_guard guard(learning);
  if (engine.routes[to].known_bytes() != 0) return true;  // another thread was first
  if (const Status reached = reach_now(peer, facts); !reached) {
    fatal("%s", reached.sentence().c_str());
  }
  return facts.bytes != 0;
}

void register_segment_questions() noexcept {
  register_internal(kHandlerSegmentQuestion, on_question);
  register_internal(kHandlerSegmentAnswer, on_segment_answer);
}

}  // namespace pinwire
