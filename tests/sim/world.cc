#include "tests/sim/world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tests/sim/fabric/nics.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kQuietNs = 200'000'000;         ///< without a frame: the network is at rest
constexpr uint64_t kQuietWaitNs = 10'000'000'000;  ///< longest wait for that
constexpr uint64_t kEventsMax = 30'000'000;
constexpr uint64_t kRestNs = 20'000'000;  ///< without progress: ranks poll rarely from then on
constexpr uint64_t kIdleNsMax = 1'000'000;
constexpr uint64_t kArmNs = 10'000;        ///< a rank that would pause longer tries to sleep
constexpr uint64_t kRestSpinNs = 100'000;  ///< of a rank that spins then
constexpr uint64_t kLongRestNs = 1'000'000'000;
constexpr uint64_t kLongIdleNsMax = 5'000'000;
constexpr uint64_t kPostsAloneMax = 20;
constexpr double kAbsenceChance = 0.02;     ///< that a rank computes after a turn
constexpr uint64_t kSpacedNsMax = 100'000;  ///< between posts without a poll
constexpr uint64_t kForever = ~uint64_t{0};

}  // namespace

std::unique_ptr<Driver> World::nic(World& world, Rank rank) {
  NicConfig config = config_of(world.scenario(), rank);
  config.notices = &world.paths().sink(rank);
  return make_nic(world.fabric().port(rank), world.clock(), config);
}

World::World(const Scenario& scenario, DriverMaker maker, bool trace)
    : scenario_(scenario),
      verdict_(schedule_, trace),
      fabric_(scenario_, schedule_, verdict_),
      cluster_(scenario_, schedule_, verdict_),
      paths_(scenario_),
      repeats_(scenario_, schedule_),
      maker_(std::move(maker)),
      random_(scenario.seed ^ 0x3012d),
      paces_(scenario.ranks) {
  fabric_.on_delivery([](void* self, Rank rank) { static_cast<World*>(self)->wake(rank); }, this);
}

World::~World() = default;

bool World::run() {
  open();
  if (!verdict_.failed()) work();
  if (verdict_.failed()) verdict_.trace("it stands so%s", states().c_str());
  if (!verdict_.failed() && scenario_.crime == Crime::kNone) settle();
  if (!verdict_.failed()) close();
  return !verdict_.failed();
}

void World::open() {
  const OpenInfo info{.rank_count = scenario_.ranks,
                      .lanes = scenario_.lanes,
                      .job_key = random_.next() | 1,
                      .network_depth = scenario_.network_depth};
  std::vector<std::vector<std::byte>> addresses;
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    OpenInfo mine = info;
    mine.rank = rank;
    drivers_.push_back(maker_(*this, rank));
    const Status opened = drivers_[rank]->open(mine);
    if (!opened.ok()) return verdict_.fail("open: %s", opened.sentence().c_str());
    addresses.push_back(drivers_[rank]->address());
    cluster_.send_bytes_max =
        std::min(cluster_.send_bytes_max, drivers_[rank]->caps().send_bytes_max);
  }
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    for (Rank peer = 0; peer < scenario_.ranks; ++peer) {
      const Status connected = drivers_[rank]->connect(peer, addresses[peer]);
      if (!connected.ok()) return verdict_.fail("connect: %s", connected.sentence().c_str());
    }
    Memory& memory = *cluster_.memories[rank];
    Result<Region> region = drivers_[rank]->pin(memory.base(), memory.bytes(), -1, 0);
    if (!region.ok()) return verdict_.fail("pin: %s", region.sentence().c_str());
    memory.region = *region;
    clients_.push_back(std::make_unique<Client>(rank, *drivers_[rank], cluster_));
    lendable_.push_back(lendable(rank));
    if (rank >= scenario_.ranks - scenario_.absent_ranks) {
      paces_[rank].absences_left = scenario_.absences;
    }
    poll_at(rank, schedule_.now() + random_.below(scenario_.poll_ns + 1));
  }
  if (scenario_.hostile) hostile_ = std::make_unique<Hostile>(*this, info, addresses);
  if (scenario_.crime != Crime::kNone) crime_ns_ = schedule_.now() + random_.below(300'000);
}

/// Until every client has done its work, or the crime is punished.
void World::work() {
  cluster_.last_progress_ns = schedule_.now();
  while (!verdict_.failed()) {
    if (crime_ns_ != 0 && crime_ns_ != kForever && schedule_.now() >= crime_ns_) start_crime();
    if (crime_ns_ == 0 && all_finished() && cluster_.ledger.undelivered() == 0) return;
    if (crime_ns_ == kForever && crime_solved()) return;
    if (!schedule_.step()) return verdict_.fail("no event is left");
    check_alive();
  }
}

/// The network must come to rest by itself, and stay so; then memory must be what it should be.
void World::settle() {
  if (hostile_) hostile_->stop();
  end_absences();
  const uint64_t start_ns = schedule_.now();
  while (!verdict_.failed()) {
    const uint64_t quiet_since_ns = std::max(fabric_.last_sent_ns(), start_ns);
    const bool quiet = schedule_.now() > quiet_since_ns + kQuietNs && fabric_.in_flight() == 0;
    if (quiet && all_drained()) break;
    if (schedule_.now() > start_ns + kQuietWaitNs) {
      if (quiet) break;  // check_at_rest() tells what is left
      return verdict_.fail("all work is done, but frames are still being sent");
    }
    if (!schedule_.step()) return verdict_.fail("no event is left");
  }
  paths_.check(fabric_, verdict_);
  cluster_.ledger.check_final();
  check_repeats();
  if (cluster_.shadow.unfinished() != 0) {
    verdict_.fail("%zu puts and gets never ended", cluster_.shadow.unfinished());
  }
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    cluster_.atomics.check_final(rank, cluster_.memories[rank]->cells());
    check_at_rest(rank);
  }
}

bool World::all_drained() const {
  for (const auto& driver : drivers_) {
    for (uint32_t lane = 0; lane < scenario_.lanes; ++lane) {
      if (!driver->drained(lane)) return false;
    }
  }
  return true;
}

/// Every buffer is back where it belongs, and nothing waits for anything.
void World::check_at_rest(Rank rank) {
  for (uint32_t lane = 0; lane < scenario_.lanes; ++lane) {
    if (!drivers_[rank]->idle(lane)) {
      verdict_.fail("rank %u, lane %u is not idle at rest", rank, lane);
    }
    if (!drivers_[rank]->drained(lane)) {
      verdict_.fail("rank %u, lane %u is not drained at rest: it would never exit", rank, lane);
    }
  }
  if (fabric_.port(rank).buffers_held() != 0) {
    verdict_.fail("rank %u holds %u receive buffers at rest", rank,
                  fabric_.port(rank).buffers_held());
  }
  const uint64_t lendable_now = lendable(rank);
  if (lendable_now != lendable_[rank]) {
    verdict_.fail("rank %u lends %lu buffers at rest, at first it lent %lu", rank, lendable_now,
                  lendable_[rank]);
  }
}

Repeats::Counted World::counted() const {
  struct Sum final : StatSink {
    Repeats::Counted counted;
    void stat(const char* name, uint64_t value) noexcept override {
      const std::string_view what = name;
      if (what == "frames_sent") counted.frames += value;
      if (what == "retransmits") counted.repeats += value;
      if (what == "rx_drop_refused") counted.refused += value;
      if (what == "rx_drop_tag") counted.damaged += value;
    }
  } sum;
  for (const auto& driver : drivers_) driver->stats(sum);
  return sum.counted;
}

void World::check_repeats() {
  const Repeats::Counted counted = this->counted();
  const uint64_t allowed = repeats_.allowed(fabric_.counts(), counted);
  if (counted.repeats <= allowed) return;
  verdict_.fail("%lu of %lu frames were repeated; what was lost, refused or late explains %lu",
                counted.repeats, counted.frames, allowed);
}

/// How many buffers the rank's driver lends. It gets them back.
uint64_t World::lendable(Rank rank) {
  Driver& driver = *drivers_[rank];
  std::vector<Lent> lent;
  for (uint32_t lane = 0; lane < scenario_.lanes; ++lane) {
    const size_t first = lent.size();
    for (Lent one = driver.lend(lane, rank, 1); one.payload != nullptr;) {
      lent.push_back(one);
      one = driver.lend(lane, rank, 1);
    }
    for (size_t i = first; i < lent.size(); ++i) driver.take_back(lane, lent[i]);
  }
  return lent.size();
}

void World::close() {
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    cluster_.shadow.check_memory(rank, cluster_.memories[rank]->windows());
    cluster_.memories[rank]->check_fences(verdict_);
  }
  if (scenario_.crime != Crime::kNone) return;
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    const Status unpinned = drivers_[rank]->unpin(cluster_.memories[rank]->region);
    if (!unpinned.ok()) return verdict_.fail("unpin: %s", unpinned.sentence().c_str());
    drivers_[rank]->close();
    drivers_[rank]->close();  // idempotent
    fabric_.port(rank).check_closed();
  }
}

void World::fire(uint64_t rank_and_generation) {
  const auto rank = static_cast<Rank>(rank_and_generation >> 32);
  if (paces_[rank].generation == static_cast<uint32_t>(rank_and_generation)) poll(rank);
}

void World::poll(Rank rank) {
  Pace& pace = paces_[rank];
  if (schedule_.now() < pace.absent_until_ns) {
    clients_[rank]->heartbeat();
    return poll_at(rank, next_heartbeat_ns(pace));
  }
  if (pace.absent) cluster_.last_progress_ns = schedule_.now();
  pace.deaf |= pace.absent;
  pace.absent = false;
  const uint64_t reads = schedule_.reads();
  const Turn turn = draw_turn(pace);
  pace.deaf |= turn == Turn::kPost;
  if (turn != Turn::kPost) repeats_.polled(rank, std::exchange(pace.deaf, false));
  const bool moved = clients_[rank]->step(turn);
  // In recv(), in the first post() after it, and in those that double their number.
  constexpr uint64_t kReadsMax = 10;
  if (schedule_.reads() > reads + kReadsMax * scenario_.lanes) {
    verdict_.fail("rank %u read the clock %lu times in one turn", rank, schedule_.reads() - reads);
  }
  check_failure(rank);
  poll_at(rank, schedule_.now() + pause(rank, moved));
}

Turn World::draw_turn(Pace& pace) {
  if (pace.posts_left > 0) {
    --pace.posts_left;
    return Turn::kPost;
  }
  if (random_.chance(scenario_.post_alone)) {
    pace.posts_left = static_cast<uint32_t>(random_.below(kPostsAloneMax));
    return Turn::kPost;
  }
  return random_.chance(scenario_.poll_alone) ? Turn::kPoll : Turn::kWhole;
}

void World::poll_at(Rank rank, uint64_t time_ns) {
  Pace& pace = paces_[rank];
  pace.next_ns = time_ns;
  schedule_.at(time_ns, *this, uint64_t{rank} << 32 | ++pace.generation);
}

/// How long until the next poll. A rank that finds nothing to do polls ever more rarely, as if it
/// had gone to sleep with a timeout; a frame wakes it.
uint64_t World::pause(Rank rank, bool moved) {
  Pace& pace = paces_[rank];
  const bool slow = rank < scenario_.slow_ranks;
  const uint64_t base_ns = scenario_.poll_ns * (slow ? kSlowPollFactor : 1);
  if (random_.chance(scenario_.stall)) {
    pace.absent = true;
    return 1 + random_.below(scenario_.stall_ns_max);
  }
  if (pace.absences_left > 0 && random_.chance(kAbsenceChance)) return draw_absence(pace);
  if (pace.posts_left > 0 && random_.chance(0.5)) {
    pace.absent = true;
    return 1 + random_.below(kSpacedNsMax);
  }
  pace.absent = slow;
  const uint64_t idle_ns = std::max(base_ns, longest_idle_ns());
  pace.interval_ns = moved ? base_ns : std::min(pace.interval_ns * 2 + 1, idle_ns);
  if (pace.interval_ns > kArmNs) {
    const Armed how = clients_[rank]->arm();
    // A rank that spins serves its timers at once; one that sleeps at rest, a little late.
    const bool spins = (how == Armed::kBusy && idle_ns < kLongIdleNsMax) ||
                       (how == Armed::kTimed && idle_ns < kIdleNsMax);
    if (spins) pace.interval_ns = idle_ns < kIdleNsMax ? base_ns : std::max(base_ns, kRestSpinNs);
  }
  return pace.interval_ns / 2 + random_.below(pace.interval_ns + 1);
}

/// The rank computes. When it is back it may post before it polls.
uint64_t World::draw_absence(Pace& pace) {
  --pace.absences_left;
  pace.absent = true;
  pace.posts_left = static_cast<uint32_t>(random_.below(3));
  const double magnitudes = std::log(static_cast<double>(scenario_.absence_ns_max) /
                                     static_cast<double>(scenario_.absence_ns_min));
  const double share = static_cast<double>(random_.below(1'000'000)) / 1e6;
  const double length_ns =
      static_cast<double>(scenario_.absence_ns_min) * std::exp(share * magnitudes);
  pace.absent_until_ns = schedule_.now() + static_cast<uint64_t>(length_ns);
  return next_heartbeat_ns(pace) - schedule_.now();
}

uint64_t World::next_heartbeat_ns(const Pace& pace) const {
  if (scenario_.heartbeat_ns == 0) return pace.absent_until_ns;
  return std::min(pace.absent_until_ns, schedule_.now() + scenario_.heartbeat_ns);
}

uint64_t World::longest_idle_ns() const {
  const uint64_t rest_ns = schedule_.now() - cluster_.last_progress_ns;
  if (rest_ns > kLongRestNs) return kLongIdleNsMax;
  return rest_ns > kRestNs ? kIdleNsMax : scenario_.poll_idle_ns_max;
}

void World::end_absences() {
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    Pace& pace = paces_[rank];
    pace.absences_left = 0;
    pace.absent_until_ns = 0;
    if (pace.absent) poll_at(rank, schedule_.now() + random_.below(kIdleNsMax));
  }
}

bool World::somebody_computes() const {
  return std::any_of(paces_.begin(), paces_.end(), [this](const Pace& pace) {
    return pace.absent_until_ns + kRestNs > schedule_.now();  // and is not back for a moment only
  });
}

void World::wake(Rank rank) {
  Pace& pace = paces_[rank];
  const uint64_t soon_ns = schedule_.now() + scenario_.poll_ns / 2;
  if (!pace.absent && pace.next_ns > soon_ns) {
    pace.interval_ns = scenario_.poll_ns;
    poll_at(rank, soon_ns);
  }
}

void World::check_alive() {
  if (schedule_.fired() > kEventsMax) return verdict_.fail("%lu events: it runs away", kEventsMax);
  if (schedule_.fired() % kDeadlineEvents == 0) cluster_.deadlines.check();
  const uint64_t since_ns = std::max(cluster_.last_progress_ns, computed_ns_);
  if (schedule_.now() < since_ns + scenario_.stuck_ns) return;
  if (somebody_computes()) {
    computed_ns_ = schedule_.now();
    return;
  }
  verdict_.fail("stuck for %lu ms, %lu messages undelivered%s", scenario_.stuck_ns / 1'000'000,
                cluster_.ledger.undelivered(), states().c_str());
}

std::string World::states() const {
  std::string states;
  for (const auto& client : clients_) {
    if (!client->finished() && states.size() < 600) states += "; " + client->state();
  }
  return states;
}

/// Only the criminal may see its driver fail, or, of a cut, both sides of it.
void World::check_failure(Rank rank) {
  const Failure* const failure = drivers_[rank]->failure();
  if (failure == nullptr) return;
  const bool refused = scenario_.crime == Crime::kRemoteAccess && rank == criminal_ &&
                       failure->peer == victim_ && failure->status == WorkStatus::kRemoteAccess;
  const bool cut_off = scenario_.crime == Crime::kUnreachable &&
                       failure->status == WorkStatus::kUnreachable &&
                       (rank == criminal_) != (failure->peer == criminal_);
  if (crime_ns_ != kForever || (!refused && !cut_off)) {
    verdict_.fail("rank %u gave up: %s", rank, failure->sentence);
  }
}

bool World::all_finished() const {
  return std::all_of(clients_.begin(), clients_.end(),
                     [](const auto& client) { return client->finished(); });
}

void World::start_crime() {
  crime_ns_ = kForever;
  crime_start_ns_ = schedule_.now();
  criminal_ = static_cast<Rank>(random_.below(scenario_.ranks));
  victim_ =
      static_cast<Rank>((criminal_ + 1 + random_.below(scenario_.ranks - 1)) % scenario_.ranks);
  const bool cut = scenario_.crime == Crime::kUnreachable;
  if (cut) scenario_.partitions.push_back({0, kForever, uint64_t{1} << criminal_, false});
  verdict_.trace("crime: rank %u against %u", criminal_, victim_);
  clients_[criminal_]->commit_crime(victim_,
                                    cut ? WorkStatus::kUnreachable : WorkStatus::kRemoteAccess);
  cluster_.last_progress_ns = schedule_.now();
}

bool World::crime_solved() {
  const Failure* const failure = drivers_[criminal_]->failure();
  if (scenario_.crime == Crime::kUnreachable &&
      schedule_.now() > crime_start_ns_ + 3 * scenario_.nic.peer_timeout_ns) {
    verdict_.fail("rank %u has not noticed that rank %u is gone", criminal_, victim_);
  }
  // A silent operation that was cut has no end, and its client may never begin another.
  const Client& criminal = *clients_[criminal_];
  const bool has_waited = scenario_.crime == Crime::kUnreachable && criminal.crime_is_due();
  if (failure == nullptr || !(criminal.punished() || has_waited)) return false;
  if (failure->sentence[0] == '\0') verdict_.fail("rank %u failed without a sentence", criminal_);
  return true;
}

}  // namespace pinwire::sim
