#include "tests/sim/scenario.h"

#include <algorithm>
#include <array>

#include "core/base/random.h"

namespace pinwire::sim {
namespace {

double between(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.next() >> 11) * 0x1.0p-53;
}

template <typename T, size_t kCount>
T pick(Random& random, const T (&choices)[kCount]) {
  return choices[random.below(kCount)];
}

/// Settings that vary in every scenario.
Scenario base(Random& random) {
  Scenario s;
  s.ranks = pick(random, {2u, 2u, 2u, 3u, 3u, 4u, 4u, 5u, 8u, 16u});
  s.frame_bytes_max = pick(random, {600u, 1514u, 1514u, 1514u, 4200u, 9014u});
  s.rx_buffers = pick(random, {128u, 512u, 1024u});
  s.tx_ring_frames = pick(random, {32u, 256u, 1024u});
  s.tx_burst_max = pick(random, {4u, 32u, 64u});
  s.link_bits_per_s = pick(random, {1'000'000'000ul, 10'000'000'000ul, 100'000'000'000ul});
  s.zero_copy_tx = random.chance(0.5);
  s.checksum_offload = random.chance(0.5);
  s.event_fd = random.chance(0.5);
  s.network_depth = pick(random, {2u, 4u, 16u, 64u});
  s.nic.window_frames = pick(random, {16u, 64u, 256u});
  s.nic.coalesce = random.chance(0.7);
  s.nic.peer_timeout_ns = 10'000'000'000;
  s.nic.first_sequence = pick(random, {0u, 1u, 0x7ffffff0u, 0xfffffff0u, 0xffffffffu});
  s.in_flight_max = pick(random, {1u, 4u, 16u, 48u});
  s.message_bytes_max = pick(random, {128ul, 4096ul, 4096ul, 16384ul});
  s.lanes = random.chance(0.2) ? 2 + static_cast<uint32_t>(random.below(2)) : 1;
  s.operations = 600 / s.ranks;
  s.window_bytes = 131072 / s.ranks;
  s.poll_ns = pick(random, {100ul, 400ul, 2'000ul});
  s.faults.delay_ns = pick(random, {200ul, 1'000ul, 1'000ul, 10'000ul, 100'000ul});
  s.faults.jitter_ns = s.faults.delay_ns / 4;
  return s;
}

void calm(Scenario&, Random&) {}

void loss(Scenario& s, Random& random) {
  s.faults.loss = pick(random, {0.001, 0.01, 0.05, 0.2});
  s.asymmetric = random.chance(0.5);
}

void burst(Scenario& s, Random& random) {
  s.faults.burst = between(random, 0.001, 0.02);
  s.faults.burst_ns = pick(random, {5'000ul, 50'000ul, 500'000ul, 5'000'000ul});
}

void duplicate(Scenario& s, Random& random) {
  s.faults.duplicate = between(random, 0.01, 0.5);
  s.faults.detour_ns = pick(random, {1'000ul, 100'000ul, 20'000'000ul});
}

void reorder(Scenario& s, Random& random) {
  s.faults.reorder = between(random, 0.01, 0.6);
  s.faults.detour_ns = pick(random, {3'000ul, 100'000ul, 5'000'000ul});
  s.asymmetric = random.chance(0.5);
}

void corrupt(Scenario& s, Random& random) {
  s.faults.corrupt = between(random, 0.001, 0.1);
  s.faults.truncate = between(random, 0, 0.05);
}

/// The worst mixture of faults that is asked for.
void storm(Scenario& s, Random& random) {
  s.faults.loss = 0.3;
  s.faults.duplicate = 0.1;
  s.faults.reorder = 0.3;
  s.faults.corrupt = 0.01;
  s.asymmetric = random.chance(0.2);
}

void partition(Scenario& s, Random& random) {
  uint64_t start_ns = 0;
  for (int count = 0; count < 4; ++count) {
    start_ns += random.below(400'000);
    const uint64_t length_ns = 10'000 + random.below(pick(random, {100'000ul, 20'000'000ul}));
    s.partitions.push_back({start_ns, start_ns + length_ns, random.next(), random.chance(0.3)});
    start_ns += length_ns;
  }
}

void slow(Scenario& s, Random& random) {
  s.slow_ranks = 1 + static_cast<uint32_t>(random.below(s.ranks));
  s.stall = random.chance(0.5) ? 0.001 : 0;
  s.poll_ns = 400;
}

/// Everything that can run out is nearly out, and the ranks are too slow for what arrives.
void starved(Scenario& s, Random& random) {
  s.poll_ns = pick(random, {400ul, 5'000ul, 20'000ul});
  s.slow_ranks = random.chance(0.3) ? 1 : 0;
  s.in_flight_max = 48;
  s.lanes = 1;
  s.rx_buffers = pick(random, {4u, 8u, 16u, 32u});
  s.tx_ring_frames = pick(random, {2u, 4u, 8u});
  s.tx_burst_max = pick(random, {1u, 2u, 8u});
  s.tx_refuse = between(random, 0, 0.5);
  s.recv_burst = s.rx_buffers / 4;
  s.switch_buffer_bytes = pick(random, {5'000u, 20'000u, 100'000u});
}

void all_to_all(Scenario& s, Random& random) {
  s.ranks = pick(random, {8u, 8u, 12u, 16u});
  s.network_depth = 2;
  s.operations = 1200 / s.ranks;
  s.window_bytes = 8192;
  s.in_flight_max = 48;
  s.mix = {.request = 10, .one_way = 0, .put = 1, .put_send = 1, .get = 1, .atomic = 1};
  s.poll_ns = 400;
  s.faults.loss = pick(random, {0.0, 0.01});
}

void hostile(Scenario& s, Random& random) {
  s.hostile = true;
  s.faults.loss = pick(random, {0.0, 0.02});
}

void everything(Scenario& s, Random& random) {
  loss(s, random);
  if (random.chance(0.5)) burst(s, random);
  if (random.chance(0.5)) duplicate(s, random);
  if (random.chance(0.5)) reorder(s, random);
  if (random.chance(0.5)) corrupt(s, random);
  if (random.chance(0.3)) partition(s, random);
  if (random.chance(0.3)) slow(s, random);
  if (random.chance(0.3)) starved(s, random);
  if (random.chance(0.3)) hostile(s, random);
  s.asymmetric = random.chance(0.7);
  s.mixed_mtu = random.chance(0.3);
}

/// Clients that post without polling, poll without posting, and give up what is refused; ports
/// that are full for a while; fences and lent memory; whatever can be small is.
void uneven(Scenario& s, Random& random) {
  if (random.chance(0.5)) loss(s, random);
  if (random.chance(0.3)) duplicate(s, random);
  if (random.chance(0.3)) reorder(s, random);
  s.post_alone = pick(random, {0.0, 0.02, 0.2});
  s.poll_alone = pick(random, {0.0, 0.5, 0.9});
  s.abandon = pick(random, {0.0, 0.3, 1.0});
  s.post_each = random.chance(0.5);
  s.lend = pick(random, {0.0, 0.2, 0.8});
  s.fence = pick(random, {0.0, 0.1, 0.5});
  s.nic.window_frames = pick(random, {4u, 4u, 8u, 16u, 64u, 256u});
  s.rx_buffers = pick(random, {4u, 6u, 8u, 16u, 64u, 256u});
  s.recv_burst = std::max(1u, s.rx_buffers / 4);
  s.tx_full = pick(random, {0.0, 0.001, 0.05});
  s.tx_full_ns_max = pick(random, {1'000ul, 30'000ul, 1'000'000ul});
}

/// Frames that no wire damages, between ports of one host.
void memory(Scenario& s, Random& random) {
  uneven(s, random);
  s.memory_medium = true;
  s.faults.corrupt = s.faults.truncate = 0;
  s.checksum_offload = false;
}

/// Some ranks compute, for a while or for long, beside others that poll.
void compute(Scenario& s, Random& random, uint64_t longest_ns) {
  s.ranks = pick(random, {2u, 3u, 4u, 5u, 8u});
  s.operations = 300 / s.ranks;
  s.window_bytes = 131072 / s.ranks;
  s.absent_ranks = 1 + static_cast<uint32_t>(random.below(s.ranks));
  s.absences = 1 + static_cast<uint32_t>(random.below(3));
  s.absence_ns_min = 100'000;
  s.absence_ns_max = longest_ns;
  s.absent_are_owed = false;
  s.post_each = true;
  s.lanes = 1;
  s.in_flight_max = pick(random, {8u, 16u, 48u});
}

void absent(Scenario& s, Random& random) {
  compute(s, random, pick(random, {3'000'000ul, 100'000'000ul, 5'000'000'000ul}));
}

/// A rank that was away once is not waited for as long at every loss that follows.
void absent_loss(Scenario& s, Random& random) {
  absent(s, random);
  loss(s, random);
}

/// Longer than any limit on silence.
void computing(Scenario& s, Random& random) {
  compute(s, random, pick(random, {61'000'000'000ul, 300'000'000'000ul, 1'000'000'000'000ul}));
  s.ranks = std::min(s.ranks, 4u);
  s.absence_ns_min = 10'000'000;
  s.absent_ranks = 1 + static_cast<uint32_t>(random.below(2));
  s.nic.peer_timeout_ns = 60'000'000'000;
  s.heartbeat_ns = s.nic.peer_timeout_ns / 3;
}

/// Peers that compute hold whatever they can get, beside at least two that poll.
void silent(Scenario& s, Random& random) {
  compute(s, random, 5'000'000'000);
  s.ranks = pick(random, {3u, 4u, 5u, 8u, 16u});
  s.absent_ranks = 1 + static_cast<uint32_t>(random.below(s.ranks - 2));
  s.absences = 1;
  s.absence_ns_min = 1'000'000'000;
  s.in_flight_max = pick(random, {48u, 128u});
  s.operations = 1200 / s.ranks;
  s.window_bytes = 131072 / s.ranks;
  s.nic.window_frames = pick(random, {4u, 16u, 64u});
  s.message_bytes_max = pick(random, {4096ul, 16384ul});
}

/// Ranks ask for much, and compute before the answers can come; handlers of ranks that poll have to
/// answer them all the same.
void debtors(Scenario& s, Random& random) {
  silent(s, random);
  s.absent_are_owed = true;
  s.leaves_replies = true;
  s.absences = 1 + static_cast<uint32_t>(random.below(3));
  s.absence_ns_min = 20'000'000;
  s.burst = pick(random, {8u, 32u, 128u});
  s.operations = std::max(s.operations, s.absences * s.burst);
  s.rest_ns_max = pick(random, {100'000ul, 5'000'000ul});
  s.long_payloads = 0.8;
  // A rank that is back for a few polls, over a link that takes few frames, may answer some
  // questions only the next time.
  s.nic.peer_timeout_ns = (s.absences + 1) * s.absence_ns_max;
  // Ranks spin while they wait for one that computes: with shorter pauses a run takes minutes.
  s.poll_ns = 2'000;
}

/// The path carries shorter frames than the ports at its ends.
void mtu_hole(Scenario& s, Random& random) {
  s.frame_bytes_max = pick(random, {4200u, 9014u});
  s.path_frame_bytes_max = pick(random, {1514u, 1514u, 4200u - 14u});
  s.message_bytes_max = 16384;
  if (random.chance(0.3)) loss(s, random);
}

/// A cable fails, or a host moves, and the path becomes long while traffic is under way. It loses,
/// too: what the ranks learnt of the short path decides what they think lost on the long one.
void slows(Scenario& s, Random& random) {
  s.faults.loss = pick(random, {0.002, 0.02});
  s.in_flight_max = pick(random, {16u, 48u});
  s.faults.delay_ns = pick(random, {200ul, 1'000ul, 5'000ul});
  s.faults.jitter_ns = s.faults.delay_ns / 4;
  s.operations = 500;
  s.path_slows_ns = 10'000 + random.below(500'000);
  s.path_slower_ns = pick(random, {20'000ul, 100'000ul, 300'000ul});
}

/// A path that becomes narrow at some time: frames that are on their way then must still arrive.
void mtu_shrinks(Scenario& s, Random& random) {
  mtu_hole(s, random);
  s.path_narrows_ns = 10'000 + random.below(pick(random, {200'000ul, 2'000'000ul}));
}

/// A path that is narrow for a while: ranks may learn it after it has become wide again.
void mtu_flaps(Scenario& s, Random& random) {
  mtu_shrinks(s, random);
  s.path_opens_ns = s.path_narrows_ns + random.below(pick(random, {1'000'000ul, 50'000'000ul}));
}

void refused(Scenario& s, Random&) { s.crime = Crime::kRemoteAccess; }

void unreachable(Scenario& s, Random&) {
  s.crime = Crime::kUnreachable;
  s.nic.peer_timeout_ns = 300'000'000;
}

/// A thousand ranks, of which each talks to a few.
void scale(Scenario& s, Random&) {
  s.ranks = 1000;
  s.frame_bytes_max = 1514;
  s.rx_buffers = 128;
  s.nic.window_frames = 64;
  s.operations = 20;
  s.in_flight_max = 4;
  s.message_bytes_max = 256;
  s.window_bytes = 64;
  s.poll_ns = 2'000;
  s.peers_max = 6;
  s.link_bits_per_s = 10'000'000'000;
}

/// Many puts are lists of small pieces.
void scattered(Scenario& s, Random& random) {
  constexpr void (*kShapes[])(Scenario&, Random&) = {calm, loss, storm, starved, uneven, mtu_flaps};
  pick(random, kShapes)(s, random);
  s.mix.scatter = pick(random, {4u, 20u});
}

struct Named {
  std::string_view name;
  void (*shape)(Scenario&, Random&);
  uint32_t weight;  ///< in "any"
};

constexpr Named kNamed[] = {
    {"calm", calm, 2},
    {"loss", loss, 4},
    {"burst", burst, 3},
    {"duplicate", duplicate, 3},
    {"reorder", reorder, 3},
    {"corrupt", corrupt, 3},
    {"storm", storm, 4},
    {"partition", partition, 3},
    {"slow", slow, 3},
    {"starved", starved, 4},
    {"alltoall", all_to_all, 3},
    {"hostile", hostile, 4},
    {"everything", everything, 8},
    {"uneven", uneven, 6},
    {"memory", memory, 3},
    {"absent", absent, 3},
    {"absentloss", absent_loss, 2},
    {"computing", computing, 1},
    {"silent", silent, 2},
    {"debtors", debtors, 1},
    {"slows", slows, 2},
    {"mtuhole", mtu_hole, 3},
    {"mtushrinks", mtu_shrinks, 2},
    {"mtuflaps", mtu_flaps, 2},
    {"refused", refused, 2},
    {"unreachable", unreachable, 1},
    {"scale", scale, 0},
    {"scattered", scattered, 0},
};

const Named& any(Random& random) {
  uint64_t total = 0;
  for (const Named& named : kNamed) total += named.weight;
  uint64_t drawn = random.below(total);
  for (const Named& named : kNamed) {
    if (drawn < named.weight) return named;
    drawn -= named.weight;
  }
  return kNamed[0];
}

}  // namespace

std::span<const std::string_view> scenario_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kNamed)> list;
    for (size_t i = 0; i < list.size(); ++i) list[i] = kNamed[i].name;
    return list;
  }();
  return names;
}

Scenario make_scenario(std::string_view name, uint64_t seed) {
  Random random(seed);
  const Named& drawn = any(random);
  const Named* named = name == "any" ? &drawn : nullptr;
  for (const Named& candidate : kNamed) {
    if (candidate.name == name) named = &candidate;
  }
  if (named == nullptr) return Scenario{.ranks = 0};
  Scenario scenario = base(random);
  named->shape(scenario, random);
  scenario.name = named->name;
  scenario.seed = seed;
  scenario.nic.seed = seed;
  return scenario;
}

}  // namespace pinwire::sim
