#include "tests/sim/fabric/sim_port.h"

#include <algorithm>
#include <cstring>

#include "core/base/bits.h"
#include "tests/sim/fabric/ether.h"

namespace pinwire::sim {

MacAddress mac_of(Rank rank) {
  return {0x02, 0x50, 0x57, 0, static_cast<uint8_t>(rank >> 8), static_cast<uint8_t>(rank)};
}

Rank rank_of(const MacAddress& mac) { return Rank{mac[4]} << 8 | mac[5]; }

SimPort::SimPort(Rank rank, const Scenario& scenario, const Schedule& schedule, Verdict& verdict,
                 Wire& wire, Random& random)
    : rank_(rank),
      scenario_(scenario),
      schedule_(schedule),
      verdict_(verdict),
      wire_(wire),
      random_(random.next()) {
  facts_.mac = mac_of(rank);
  facts_.frame_bytes_max = scenario.frame_bytes_max;
  if (scenario.mixed_mtu && random_.chance(0.5)) {
    facts_.frame_bytes_max = std::min(scenario.frame_bytes_max, 1514u);
  }
  facts_.queues = scenario.lanes;
  facts_.tx_burst_max = scenario.tx_burst_max;
  facts_.rx_buffers = scenario.rx_buffers;
  facts_.zero_copy_tx = scenario.zero_copy_tx;
  facts_.ip_checksum_offload = scenario.checksum_offload;
  facts_.udp_checksum_offload = scenario.checksum_offload;
  facts_.event_fd = scenario.event_fd;
  facts_.memory_medium = scenario.memory_medium;
  facts_.speed_bits_per_s = scenario.link_bits_per_s;
  for (uint32_t i = 0; i < scenario.lanes; ++i) {
    queues_.push_back(
        {std::make_unique<RxPool>(scenario.rx_buffers, std::max(facts_.frame_bytes_max, 64u)),
         {},
         {},
         0,
         {}});
  }
}

void SimPort::check_frame(const TxFrame& frame) {
  const uint64_t bytes = uint64_t{frame.head_bytes} + frame.body_bytes;
  if (frame.head == nullptr || frame.head_bytes < kEtherBytes) {
    return verdict_.fail("rank %u sent a frame without an Ethernet header", rank_);
  }
  if (bytes > facts_.frame_bytes_max) {
    return verdict_.fail("rank %u sent %lu bytes through a port of %u", rank_, bytes,
                         facts_.frame_bytes_max);
  }
  if (source_of({frame.head, frame.head_bytes}) != facts_.mac) {
    return verdict_.fail("rank %u sent a frame with another's source address", rank_);
  }
  if (frame.body_bytes > 0 && frame.body == nullptr) {
    return verdict_.fail("rank %u sent a body of %u bytes at nullptr", rank_, frame.body_bytes);
  }
  if (frame.body_key == 0 || frame.body_bytes == 0) return;
  const auto found = attached_.find(frame.body_key);
  if (found == attached_.end()) {
    return verdict_.fail("rank %u sent from key %u, which is not attached", rank_, frame.body_key);
  }
  if (!inside(reinterpret_cast<uintptr_t>(frame.body), frame.body_bytes,
              reinterpret_cast<uintptr_t>(found->second.base), found->second.bytes)) {
    verdict_.fail("rank %u sent %u bytes that lie outside the memory of key %u", rank_,
                  frame.body_bytes, frame.body_key);
  }
}

/// How many of `wanted` frames the transmit ring takes now.
size_t SimPort::tx_capacity(Queue& queue, size_t wanted) {
  auto& departures = queue.departures_ns;
  while (!departures.empty() && departures.front() <= schedule_.now()) departures.pop_front();
  if (schedule_.now() < queue.full_until_ns) return 0;
  if (random_.chance(scenario_.tx_full)) {
    const uint64_t full_ns = 1 + random_.below(scenario_.tx_full_ns_max);
    queue.full_until_ns = schedule_.now() + full_ns;
    wire_.note_full(full_ns);
    return 0;
  }
  size_t frames = std::min<size_t>(wanted, facts_.tx_burst_max);
  frames = std::min<size_t>(frames, scenario_.tx_ring_frames - departures.size());
  if (frames > 0 && random_.chance(scenario_.tx_refuse)) frames = random_.below(frames);
  return frames;
}

uint32_t SimPort::tx(uint32_t queue, std::span<const TxFrame> frames) noexcept {
  if (queue >= queues_.size()) {
    verdict_.fail("rank %u sent on queue %u of %zu", rank_, queue, queues_.size());
    return 0;
  }
  const size_t taken = tx_capacity(queues_[queue], frames.size());
  for (size_t i = 0; i < taken; ++i) {
    check_frame(frames[i]);
    if (verdict_.failed()) return static_cast<uint32_t>(i);
    queues_[queue].departures_ns.push_back(wire_.send(rank_, frames[i]));
    const Rank to = rank_of(destination_of({frames[i].head, frames[i].head_bytes}));
    wire_.note_overtaken(queues_[queue].overtaken.answer(to, schedule_.now()));
  }
  return static_cast<uint32_t>(taken);
}

bool SimPort::deliver(std::span<const std::byte> frame, Origin origin) {
  uint32_t queue = 0;
  if (queues_.size() > 1 && is_udp(frame)) {
    queue = (udp_destination_port(frame) - scenario_.nic.udp_port) % scenario_.lanes;
  }
  std::byte* const buffer = frame.size() > std::max(facts_.frame_bytes_max, 64u)
                                ? nullptr
                                : queues_[queue].pool->take(frame);
  if (buffer == nullptr) return false;
  const bool good =
      scenario_.memory_medium || (scenario_.checksum_offload && checksums_good(frame));
  queues_[queue].waiting.push_back({buffer, static_cast<uint32_t>(frame.size()), good, origin});
  return true;
}

uint32_t SimPort::rx(uint32_t queue, std::span<RxFrame> frames) noexcept {
  if (queue >= queues_.size()) {
    verdict_.fail("rank %u received on queue %u of %zu", rank_, queue, queues_.size());
    return 0;
  }
  auto& waiting = queues_[queue].waiting;
  uint32_t count = 0;
  for (; count < frames.size() && !waiting.empty(); ++count) {
    const Waiting& first = waiting.front();
    frames[count] = {first.data, first.bytes, first.checksum_good, first.data};
    const auto& [from, number] = first.origin;
    if (first.origin.has_number()) queues_[queue].overtaken.take(from, number);
    waiting.pop_front();
  }
  return count;
}

void SimPort::release(uint32_t queue, std::span<const RxFrame> frames) noexcept {
  for (const RxFrame& frame : frames) {
    if (queue >= queues_.size() || !queues_[queue].pool->give_back(frame.buffer)) {
      verdict_.fail("rank %u released a buffer of queue %u that it did not hold", rank_, queue);
    }
  }
}

bool SimPort::widen(uint32_t queue, RxFrame& frame, uint32_t bytes) noexcept {
  if (queue >= queues_.size() || bytes > facts_.frame_bytes_max ||
      !queues_[queue].pool->widen(frame.buffer, bytes)) {
    verdict_.fail("rank %u widened a buffer of queue %u to %u bytes", rank_, queue, bytes);
    return false;
  }
  return true;
}

Result<uint32_t> SimPort::attach(void* base, uint64_t bytes) {
  if (!facts_.zero_copy_tx) return 0u;
  attached_[next_key_] = {static_cast<const std::byte*>(base), bytes};
  return next_key_++;
}

void SimPort::detach(uint32_t key) {
  if (key == 0 && !facts_.zero_copy_tx) return;
  if (attached_.erase(key) != 1) {
    verdict_.fail("rank %u detached key %u, which is not attached", rank_, key);
  }
  wire_.settle(rank_, key);
}

int SimPort::event_fd(uint32_t queue) const noexcept {
  return facts_.event_fd ? 1'000'000 + static_cast<int>(rank_ * 64 + queue) : -1;
}

PortArmed SimPort::arm(uint32_t queue) noexcept {
  return queues_[queue].waiting.empty() ? PortArmed::kArmed : PortArmed::kBusy;
}

uint32_t SimPort::buffers_held() const {
  uint32_t held = 0;
  for (const Queue& queue : queues_) {
    held += queue.pool->out() - static_cast<uint32_t>(queue.waiting.size());
  }
  return held;
}

void SimPort::check_closed() {
  if (buffers_held() != 0) {
    verdict_.fail("rank %u closed its driver, which kept %u receive buffers", rank_,
                  buffers_held());
  }
  if (!attached_.empty()) {
    verdict_.fail("rank %u closed its driver, which kept %zu regions attached", rank_,
                  attached_.size());
  }
}

}  // namespace pinwire::sim
