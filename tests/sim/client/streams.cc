#include "tests/sim/client/streams.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "nicfw/lane/lane.h"
#include "tests/sim/fabric/nics.h"
#include "tests/support/stat_map.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kPollNs = 300;
constexpr uint64_t kPosts = uint64_t{1} << 32;
constexpr std::byte kHead[8] = {};  ///< of each message

}  // namespace

Streams::Streams(const Scenario& scenario, std::vector<Stream> streams)
    : scenario_(scenario),
      streams_(std::move(streams)),
      poll_ns_(scenario.ranks, kPollNs),
      filters_(scenario.ranks, RecvFilter::kAll),
      memory_(scenario.ranks),
      nics_(connected_nics(scenario_, fabric_, schedule_)),
      regions_(scenario.ranks),
      streams_of_(scenario.ranks),
      posted_(streams_.size()),
      done_(streams_.size()),
      marked_(streams_.size()),
      wanted_ns_(streams_.size()),
      times_ns_(streams_.size()) {
  uint64_t bytes_max = 0;
  for (const Stream& stream : streams_) bytes_max = std::max(bytes_max, stream.bytes);
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    memory_[rank].resize(bytes_max);
    regions_[rank] = *nics_[rank]->pin(memory_[rank].data(), bytes_max, -1, 0);
  }
  for (uint32_t i = 0; i < streams_.size(); ++i) streams_of_[streams_[i].from].push_back(i);
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    schedule_.at(schedule_.now() + rank % kPollNs, *this, rank);
  }
  start_ns_ = marked_ns_ = schedule_.now();
}

Streams::~Streams() = default;

void Streams::run(uint64_t ns) {
  const uint64_t until_ns = schedule_.now() + ns;
  while (schedule_.now() < until_ns && !verdict_.failed()) {
    check(schedule_.step(), "no event is left");
  }
  EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
}

/// The argument is a rank, which polls; from kPosts on it is a stream, which posts.
void Streams::fire(uint64_t argument) {
  if (argument >= kPosts) return post(static_cast<uint32_t>(argument - kPosts));
  const auto rank = static_cast<Rank>(argument);
  Driver& nic = *nics_[rank];
  std::array<Recv, 32> messages;
  const uint32_t got = nic.recv(0, filters_[rank], messages);
  nic.give_back(0, {messages.data(), got});
  std::array<Done, 64> done;
  while (const uint32_t count = nic.done(0, done)) {
    for (uint32_t i = 0; i < count; ++i) {
      const auto stream = static_cast<size_t>(done[i].cookie);
      ++done_[stream];
      if (streams_[stream].depth != 1) continue;
      times_ns_[stream].push_back(schedule_.now() - std::exchange(wanted_ns_[stream], 0));
    }
  }
  for (const uint32_t i : streams_of_[rank]) {
    if (streams_[i].after_poll_ns == 0) {
      post(i);
    } else {
      schedule_.at(schedule_.now() + streams_[i].after_poll_ns, *this, kPosts + i);
    }
  }
  schedule_.at(schedule_.now() + poll_ns_[rank], *this, rank);
}

void Streams::post(uint32_t i) {
  const Stream& stream = streams_[i];
  const uint64_t runs_ns = schedule_.now() - start_ns_;
  if (runs_ns < stream.start_ns || runs_ns >= stream.end_ns) return;
  while (posted_[i] - done_[i] < stream.depth && post_one(i)) {
  }
}

bool Streams::post_one(uint32_t i) {
  const Stream& stream = streams_[i];
  if (wanted_ns_[i] == 0) wanted_ns_[i] = schedule_.now();
  Work work{};
  work.op = stream.op;
  work.cls = stream.cls;
  if (stream.op == Op::kSend || stream.op == Op::kPutSend) {
    work.head = kHead;
    work.head_bytes = sizeof kHead;
  }
  work.peer = stream.to;
  work.local = memory_[stream.from].data();
  work.local_key = regions_[stream.from].local_key;
  work.flags = stream.flags;
  work.bytes = stream.bytes;
  work.remote = regions_[stream.to].base;
  work.remote_key = regions_[stream.to].remote_key;
  work.cookie = i;
  if (nics_[stream.from]->post(0, {&work, 1}) != 1) return false;
  ++posted_[i];
  return true;
}

void Streams::mark() {
  marked_ = done_;
  marked_ns_ = schedule_.now();
}

std::vector<uint64_t> Streams::shares() const {
  std::vector<uint64_t> shares;
  for (size_t i = 0; i < done_.size(); ++i) {
    shares.push_back((done_[i] - marked_[i]) * streams_[i].bytes);
  }
  return shares;
}

double Streams::gbit_per_s() const {
  const auto all = shares();
  const uint64_t bytes = std::accumulate(all.begin(), all.end(), uint64_t{0});
  return static_cast<double>(bytes) * 8 / static_cast<double>(schedule_.now() - marked_ns_);
}

double Streams::link_share() const {
  const uint32_t frame = scenario_.frame_bytes_max;
  constexpr uint32_t kGapBytes = 24;
  const double whole = static_cast<double>(frame + kGapBytes) / put_fragment_bytes(frame);
  return gbit_per_s() * 1e9 * whole / static_cast<double>(scenario_.link_bits_per_s);
}

double Streams::jain() const { return sim::jain(shares()); }

uint64_t Streams::stat(Rank rank, const std::string& name) const {
  return stat_of(*nics_[rank], name);
}

uint64_t Streams::sum(const std::string& name) const {
  uint64_t sum = 0;
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) sum += stat(rank, name);
  return sum;
}

Scenario congestion_network(uint32_t ranks, uint32_t frame_bytes) {
  Scenario scenario;
  scenario.ranks = ranks;
  scenario.frame_bytes_max = frame_bytes;
  scenario.link_bits_per_s = 100'000'000'000;
  scenario.switch_buffer_bytes = 1'000'000;
  scenario.faults.delay_ns = 4'000;
  scenario.tx_ring_frames = 512;
  scenario.rx_buffers = 1024;
  scenario.zero_copy_tx = true;
  scenario.checksum_offload = true;
  scenario.network_depth = 256;
  scenario.nic.window_frames = 512;
  return scenario;
}

}  // namespace pinwire::sim
