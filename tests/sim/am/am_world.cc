#include "tests/sim/am/am_world.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "am/handlers/handlers.h"
#include "am/on_demand/by_message.h"
#include "core/engine/engine.h"
#include "tests/sim/am/am_node.h"
#include "tests/sim/fabric/nics.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kQuietNs = 200'000'000;
constexpr uint64_t kQuietWaitNs = 10'000'000'000;
constexpr uint64_t kIdleNsMax = 1'000'000;
constexpr double kAbsenceChance = 0.02;  ///< that a rank computes after a turn

/// A Medium carries 512 bytes at least (C1-130).
Scenario with_room_for_messages(Scenario scenario) {
  scenario.frame_bytes_max = std::max(scenario.frame_bytes_max, 720u);
  scenario.mixed_mtu = false;  // am_limits() knows this rank's port only
  return scenario;
}

AmWorld* running = nullptr;  ///< handlers are plain functions

template <size_t>
using Argument = int32_t;

template <size_t... I>
void handle_short(pinwire_token* token, Argument<I>... args) {
  const int32_t list[] = {args..., 0};
  running->handle(*token, Category::kShort, {list, sizeof...(I)}, {});
}

template <Category kCategory, size_t... I>
void handle_payload(pinwire_token* token, void* payload, size_t bytes, Argument<I>... args) {
  const int32_t list[] = {args..., 0};
  running->handle(*token, kCategory, {list, sizeof...(I)},
                  {static_cast<std::byte*>(payload), bytes});
}

template <typename Function>
HandlerFunction erased(Function* function) {
  return reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(function));
}

template <size_t... I>
void add_handlers(std::index_sequence<I...>) {
  constexpr uint32_t kFirst = kClientHandlersFirst + sizeof...(I);
  constexpr uint32_t kStep = kAmArgsMax + 1;
  handler_table[kFirst] = erased(&handle_short<I...>);
  handler_table[kFirst + kStep] = erased(&handle_payload<Category::kMedium, I...>);
  handler_table[kFirst + 2 * kStep] = erased(&handle_payload<Category::kLong, I...>);
}

template <size_t... Argc>
void add_all_handlers(std::index_sequence<Argc...>) {
  (add_handlers(std::make_index_sequence<Argc>()), ...);
}

}  // namespace

std::unique_ptr<Driver> AmWorld::nic(AmWorld& world, Rank rank) {
  return make_nic(world.fabric().port(rank), world.clock(), config_of(world.scenario(), rank));
}

AmWorld::AmWorld(const Scenario& scenario, DriverMaker maker, bool trace)
    : scenario_(with_room_for_messages(scenario)),
      verdict_(schedule_, trace),
      fabric_(scenario_, schedule_, verdict_),
      shadow_(scenario_.ranks, scenario_.window_bytes * scenario_.ranks, verdict_),
      ledger_(verdict_),
      deadlines_(scenario_, schedule_, verdict_),
      maker_(std::move(maker)),
      random_(scenario.seed ^ 0xa3) {
  running = this;
  add_all_handlers(std::make_index_sequence<kAmArgsMax + 1>());
  if (handler_table[kHandlerPut] == nullptr) register_message_carriers();
  fabric_.on_delivery([](void* self, Rank rank) { static_cast<AmWorld*>(self)->wake(rank); }, this);
}

AmWorld::~AmWorld() { running = nullptr; }

bool AmWorld::run() {
  open();
  last_progress_ns_ = schedule_.now();
  uint64_t finished_ns = 0;
  while (!verdict_.failed()) {
    if (!schedule_.step()) verdict_.fail("no event is left");
    if (schedule_.fired() % kDeadlineEvents == 0) deadlines_.check();
    if (ledger_.runs() != runs_seen_) {
      runs_seen_ = ledger_.runs();
      last_progress_ns_ = schedule_.now();
    }
    if (finished_ns == 0 && finished()) finished_ns = schedule_.now();
    if (finished_ns == 0) {
      if (schedule_.now() > std::max(last_progress_ns_, absent_until_ns_) + scenario_.stuck_ns) {
        verdict_.fail("no handler ran for %lu ms, %lu messages are missing",
                      scenario_.stuck_ns / 1'000'000, ledger_.missing());
      }
      continue;
    }
    const uint64_t quiet_since_ns = std::max(fabric_.last_sent_ns(), finished_ns);
    if (schedule_.now() > quiet_since_ns + kQuietNs && fabric_.in_flight() == 0) break;
    if (schedule_.now() > finished_ns + kQuietWaitNs) {
      verdict_.fail("all work is done, but frames are still being sent");
    }
  }
  if (!verdict_.failed()) check_end();
  return !verdict_.failed();
}

void AmWorld::fire(uint64_t rank_and_generation) {
  const auto rank = static_cast<Rank>(rank_and_generation >> 32);
  if (nodes_[rank]->generation == static_cast<uint32_t>(rank_and_generation)) run_node(rank);
}

/// The node's globals go in before it runs, and out again afterwards: the same exchange.
void AmWorld::exchange(Node& node) {
  alignas(Engine) std::byte other[sizeof(Engine)];
  std::memcpy(other, static_cast<void*>(&engine), sizeof engine);
  std::memcpy(static_cast<void*>(&engine), node.engine, sizeof engine);
  std::memcpy(node.engine, other, sizeof other);
  std::swap(this_thread, node.thread);
}

void AmWorld::run_node(Rank rank) {
  Node& node = *nodes_[rank];
  exchange(node);
  node.fiber->resume();
  exchange(node);
  if (const Failure* failure = node.nic->failure()) {
    verdict_.fail("rank %u gave up: %s", rank, failure->sentence);
  }
}

void AmWorld::poll_at(Rank rank, uint64_t time_ns) {
  Node& node = *nodes_[rank];
  node.next_ns = time_ns;
  schedule_.at(time_ns, *this, uint64_t{rank} << 32 | ++node.generation);
}

void AmWorld::pause(Rank rank, bool moved) {
  Node& node = *nodes_[rank];
  if (over_) return;
  const bool slow = rank < scenario_.slow_ranks;
  const uint64_t base_ns = scenario_.poll_ns * (slow ? kSlowPollFactor : 1);
  const bool at_rest = schedule_.now() > last_progress_ns_ + 20'000'000;
  const uint64_t idle_ns = std::max(base_ns, at_rest ? kIdleNsMax : scenario_.poll_idle_ns_max);
  node.absent = slow;
  node.interval_ns = moved ? base_ns : std::min(node.interval_ns * 2 + 1, idle_ns);
  uint64_t pause_ns = node.interval_ns / 2 + random_.below(node.interval_ns + 1);
  if (random_.chance(scenario_.stall)) {
    node.absent = true;
    pause_ns = 1 + random_.below(scenario_.stall_ns_max);
  }
  if (scenario_.burst == 0 && node.absences_left > 0 && random_.chance(kAbsenceChance)) {
    return compute(rank);
  }
  poll_at(rank, schedule_.now() + pause_ns);
  node.fiber->suspend();
}

/// For a while the rank does not poll.
void AmWorld::compute(Rank rank) {
  Node& node = *nodes_[rank];
  --node.absences_left;
  node.absent = true;
  const uint64_t back_ns = schedule_.now() + draw_absence();
  absent_until_ns_ = std::max(absent_until_ns_, back_ns);
  poll_at(rank, back_ns);
  node.fiber->suspend();
}

/// Nobody polls for a rank that computes here, so it is back before its peers give it up.
uint64_t AmWorld::draw_absence() {
  const uint64_t longest_ns = std::min(scenario_.absence_ns_max, scenario_.nic.peer_timeout_ns / 2);
  const double magnitudes =
      std::log(static_cast<double>(longest_ns) / static_cast<double>(scenario_.absence_ns_min));
  const double share = static_cast<double>(random_.below(1'000'000)) / 1e6;
  return static_cast<uint64_t>(static_cast<double>(scenario_.absence_ns_min) *
                               std::exp(share * magnitudes));
}

void AmWorld::wake(Rank rank) {
  Node& node = *nodes_[rank];
  const uint64_t soon_ns = schedule_.now() + scenario_.poll_ns / 2;
  if (!node.absent && node.next_ns > soon_ns) {
    node.interval_ns = scenario_.poll_ns;
    poll_at(rank, soon_ns);
  }
}

bool AmWorld::finished() const {
  const bool sent =
      std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->sent_all; });
  return sent && ledger_.missing() == 0;
}

void AmWorld::check_end() {
  ledger_.check_final();
  over_ = true;
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    Node& node = *nodes_[rank];
    while (!node.fiber->ended()) run_node(rank);
    if (fabric_.port(rank).buffers_held() != 0) {
      verdict_.fail("rank %u holds %u receive buffers at rest", rank,
                    fabric_.port(rank).buffers_held());
    }
    shadow_.check_memory(rank, node.memory->windows());
    node.memory->check_fences(verdict_);
    if (!node.nic->unpin(node.memory->region).ok()) verdict_.fail("rank %u: unpin", rank);
    node.nic->close();
    fabric_.port(rank).check_closed();
  }
  if (shadow_.unfinished() != 0) verdict_.fail("%zu Longs never arrived", shadow_.unfinished());
}

}  // namespace pinwire::sim
