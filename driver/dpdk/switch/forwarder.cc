#include "driver/dpdk/switch/forwarder.h"

#include <rte_cycles.h>
#include <rte_ether.h>

#include <algorithm>

namespace pinwire {
namespace {

constexpr uint32_t kBurst = 32;
constexpr uint64_t kOvertakeUsMax = 200;
constexpr uint32_t kMacBytes = 6;

uint64_t ticks_of_us(uint64_t us) { return us * rte_get_tsc_hz() / 1'000'000; }

}  // namespace

Forwarder::Forwarder(VhostPorts& ports, const SwitchFaults& faults)
    : ports_(ports),
      faulty_(faults.any()),
      delay_ticks_(ticks_of_us(faults.delay_us)),
      overtake_ticks_(ticks_of_us(kOvertakeUsMax)),
      dice_(faults),
      outputs_(ports.count() * ports.queues()) {}

Forwarder::~Forwarder() {
  for (Output& output : outputs_) {
    for (; output.count > 0; --output.count) {
      rte_pktmbuf_free(output.frames[output.first++ % Output::kFramesMax]);
    }
  }
  for (const Delayed& frame : delayed_) rte_pktmbuf_free(frame.mbuf);
  for (const Overtaken& frame : overtaken_) rte_pktmbuf_free(frame.mbuf);
}

bool Forwarder::step() noexcept {
  bool moved = false;
  for (uint32_t port = 0; port < ports_.count(); ++port) {
    for (uint32_t queue = 0; queue < ports_.queues(); ++queue) {
      rte_mbuf* mbufs[kBurst];
      const uint16_t got = ports_.rx(port, queue, mbufs, kBurst);
      for (uint16_t i = 0; i < got; ++i) accept(port, queue, mbufs[i]);
      moved |= got != 0;
    }
  }
  if (keeps_frames()) moved |= release_due();
  for (uint32_t output = 0; output < outputs_.size(); ++output) moved |= flush(output);
  return moved;
}

void Forwarder::accept(uint32_t port, uint32_t queue, rte_mbuf* mbuf) noexcept {
  if (mbuf->data_len < sizeof(rte_ether_hdr)) {
    rte_pktmbuf_free(mbuf);
    return;
  }
  const auto* bytes = rte_pktmbuf_mtod(mbuf, const uint8_t*);
  const uint32_t to = stations_.find(StationTable::key(bytes));
  stations_.learn(StationTable::key(bytes + kMacBytes), port);
  FrameFate fate;
  if (faulty_ && !suffer(mbuf, fate)) return;
  mbuf->ol_flags = 0;
  if (to == port) {
    ++counters_.same_port;
    rte_pktmbuf_free(mbuf);
  } else if (to != StationTable::kUnknown) {
    ++counters_.forwarded;
    send(to * ports_.queues() + queue, mbuf, fate);
  } else {
    ++counters_.flooded;
    for (uint32_t other = 0; other < ports_.count(); ++other) {
      if (other == port) continue;
      rte_mbuf_refcnt_update(mbuf, 1);
      send(other * ports_.queues() + queue, mbuf, fate);
    }
    rte_pktmbuf_free(mbuf);
  }
}

/// False: the frame is gone.
bool Forwarder::suffer(rte_mbuf* mbuf, FrameFate& fate) noexcept {
  fate = dice_.roll(mbuf->data_len);
  if (fate.lost) {
    ++counters_.lost;
    rte_pktmbuf_free(mbuf);
    return false;
  }
  if (fate.corrupted) {
    ++counters_.corrupted;
    auto* byte = rte_pktmbuf_mtod_offset(mbuf, uint8_t*, fate.flipped_bit / 8);
    *byte = static_cast<uint8_t>(*byte ^ (1u << (fate.flipped_bit % 8)));
  }
  if (fate.truncated) {
    ++counters_.truncated;
    mbuf->data_len = static_cast<uint16_t>(fate.bytes_left);
    mbuf->pkt_len = fate.bytes_left;
  }
  return true;
}

void Forwarder::send(uint32_t output, rte_mbuf* mbuf, const FrameFate& fate) noexcept {
  if (fate.duplicated) {
    ++counters_.duplicated;
    rte_mbuf_refcnt_update(mbuf, 1);
    enqueue(output, mbuf);
  }
  if (fate.overtaken_by != 0) {
    ++counters_.reordered;
    overtaken_.push_back({fate.overtaken_by, rte_rdtsc() + overtake_ticks_, output, mbuf});
  } else if (delay_ticks_ != 0) {
    delayed_.push_back({rte_rdtsc() + delay_ticks_, output, mbuf});
  } else {
    enqueue(output, mbuf);
  }
}

void Forwarder::enqueue(uint32_t output, rte_mbuf* mbuf) noexcept {
  for (Overtaken& waiting : overtaken_) {
    if (waiting.output == output && waiting.frames_left > 0) --waiting.frames_left;
  }
  Output& queue = outputs_[output];
  if (queue.count < Output::kFramesMax) {
    queue.frames[(queue.first + queue.count++) % Output::kFramesMax] = mbuf;
    return;
  }
  ++counters_.queue_full;
  rte_pktmbuf_free(mbuf);
}

bool Forwarder::release_due() noexcept {
  const uint64_t now = rte_rdtsc();
  bool moved = false;
  for (size_t i = 0; i < overtaken_.size();) {
    const Overtaken frame = overtaken_[i];
    if (frame.frames_left > 0 && frame.due_ticks > now) {
      ++i;
      continue;
    }
    overtaken_[i] = overtaken_.back();
    overtaken_.pop_back();
    if (delay_ticks_ != 0)
      delayed_.push_back({now + delay_ticks_, frame.output, frame.mbuf});
    else
      enqueue(frame.output, frame.mbuf);
    moved = true;
  }
  while (!delayed_.empty() && delayed_.front().due_ticks <= now) {
    enqueue(delayed_.front().output, delayed_.front().mbuf);
    delayed_.pop_front();
    moved = true;
  }
  return moved;
}

/// Sends what the port takes; the rest waits its turn.
bool Forwarder::flush(uint32_t output) noexcept {
  Output& queue = outputs_[output];
  bool moved = false;
  while (queue.count > 0) {
    const uint32_t unbroken = std::min(queue.count, Output::kFramesMax - queue.first);
    const auto offered = static_cast<uint16_t>(std::min(unbroken, kBurst));
    const uint16_t sent = ports_.tx(output / ports_.queues(), output % ports_.queues(),
                                    &queue.frames[queue.first], offered);
    queue.first = (queue.first + sent) % Output::kFramesMax;
    queue.count -= sent;
    moved |= sent != 0;
    if (sent < offered) break;
  }
  return moved;
}

}  // namespace pinwire
