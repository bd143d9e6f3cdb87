// An in-process wire: ports that hand each other frames through rings of preallocated buffers, for
// unit tests and benchmarks. A `LoopFaults` makes it a bad wire.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/base/udp_ports.h"
#include "nicfw/port/clock.h"
#include "nicfw/port/port.h"
#include "nicfw/wire/bytes.h"

namespace pinwire {

/// Time that moves when told to.
class ManualClock final : public Clock {
 public:
  uint64_t now_ns() noexcept override { return now_ns_ += step_ns_; }
  void advance(uint64_t ns) noexcept { now_ns_ += ns; }
  void set_step(uint64_t ns) noexcept { step_ns_ = ns; }

 private:
  uint64_t now_ns_ = 1'000'000;
  uint64_t step_ns_ = 100;
};

struct LoopFaults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  ///< chance that a frame is put at a random place of the receiver's ring
  double corrupt = 0;
  double truncate = 0;
  uint64_t seed = 1;
};

/// Frames go to the port of the same wire whose MAC they name, and there to the queue that their
/// UDP port names, as a NIC's flow rules would steer them. All queues share the receive buffers.
class LoopPort final : public Port {
 public:
  explicit LoopPort(uint8_t station, uint32_t frame_bytes_max = 1514, uint32_t rx_buffers = 1024,
                    uint32_t queues = 1)
      : pool_(size_t{rx_buffers} * stride(frame_bytes_max) + 64),
        rings_(queues, Ring(rx_buffers)),
        faults_rng_(1) {
    facts_.mac = {2, 0, 0, 0, 0, station};
    facts_.frame_bytes_max = frame_bytes_max;
    facts_.rx_buffers = rx_buffers;
    facts_.zero_copy_tx = true;
    facts_.queues = queues;
    auto base = reinterpret_cast<uintptr_t>(pool_.data());
    base = (base + 63) & ~uintptr_t{63};
    free_.reserve(rx_buffers);
    for (uint32_t i = 0; i < rx_buffers; ++i) {
      free_.push_back(reinterpret_cast<std::byte*>(base) + size_t{i} * stride(frame_bytes_max));
    }
    stations_->push_back(this);
  }

  /// Plugs this port into the other's wire.
  void join(LoopPort& other) {
    stations_ = other.stations_;
    stations_->push_back(this);
  }

  /// For the frames that this port sends.
  void set_faults(const LoopFaults& faults) {
    faults_ = faults;
    faults_rng_ = Random(faults.seed);
    faulty_ =
        faults.loss + faults.duplicate + faults.reorder + faults.corrupt + faults.truncate > 0;
  }
  /// Frames to and from this port that are longer vanish; 0: none does.
  void set_path_bytes(uint32_t bytes) { path_bytes_ = bytes; }
  /// How many frames tx() still takes; for tests of back-pressure.
  void set_tx_room(uint64_t frames) { tx_room_ = frames; }

  /// Before the NIC opens.
  void set_memory_medium(bool is_memory) { facts_.memory_medium = is_memory; }
  void set_wide_buffers(bool are_there) { has_wide_buffers_ = are_there; }
  void set_speed(uint64_t bits_per_s) { facts_.speed_bits_per_s = bits_per_s; }

  PortFacts facts() const noexcept override { return facts_; }

  uint32_t tx(uint32_t, std::span<const TxFrame> frames) noexcept override {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(frames.size(), tx_room_));
    tx_room_ -= tx_room_ == ~uint64_t{0} ? 0 : count;
    for (uint32_t i = 0; i < count; ++i) {
      LoopPort* to = destination(frames[i].head);
      if (to == nullptr || !fits_path(frames[i]) || !to->fits_path(frames[i])) continue;
      if (!faulty_) [[likely]] {
        to->arrive(frames[i]);
        continue;
      }
      const int copies = faults_rng_.chance(faults_.loss)        ? 0
                         : faults_rng_.chance(faults_.duplicate) ? 2
                                                                 : 1;
      for (int copy = 0; copy < copies; ++copy) arrive_damaged(*to, frames[i]);
    }
    return count;
  }

  uint32_t rx(uint32_t queue, std::span<RxFrame> frames) noexcept override {
    Ring& ring = rings_[queue];
    uint32_t count = 0;
    while (count < frames.size() && ring.head != ring.tail) {
      const Pending& pending = ring.at(ring.head++);
      frames[count++] = RxFrame{pending.data, pending.bytes, facts_.memory_medium, pending.data};
    }
    return count;
  }

  void release(uint32_t, std::span<const RxFrame> frames) noexcept override {
    for (const RxFrame& frame : frames) free_.push_back(static_cast<std::byte*>(frame.buffer));
  }

  bool widen(uint32_t, RxFrame&, uint32_t bytes) noexcept override {
    return has_wide_buffers_ && bytes <= facts_.frame_bytes_max;
  }

  Result<uint32_t> attach(void*, uint64_t) override {
    ++attachments_;
    return ++attached_;
  }
  void detach(uint32_t) override { --attachments_; }
  /// How many pieces of memory are attached, and not detached yet.
  int attachments() const noexcept { return attachments_; }
  int event_fd(uint32_t) const noexcept override { return -1; }
  PortArmed arm(uint32_t queue) noexcept override {
    return rings_[queue].head == rings_[queue].tail ? PortArmed::kArmed : PortArmed::kBusy;
  }

  /// Puts raw bytes into the receive ring, as a stranger would. False: no buffer.
  bool inject(const std::byte* bytes, uint32_t count) noexcept {
    return arrive(TxFrame{bytes, count, 0, nullptr, 0});
  }
  uint64_t overflows() const noexcept { return overflows_; }
  size_t free_buffers() const noexcept { return free_.size(); }
  uint32_t waiting(uint32_t queue = 0) const noexcept {
    return static_cast<uint32_t>(rings_[queue].tail - rings_[queue].head);
  }
  /// The frame that a poll would see `index` frames from now.
  std::span<std::byte> peek(uint32_t index = 0, uint32_t queue = 0) noexcept {
    const Pending& pending = rings_[queue].at(rings_[queue].head + index);
    return {pending.data, pending.bytes};
  }
  /// Throws away what waits.
  void lose_waiting(uint32_t queue = 0) noexcept {
    for (Ring& ring = rings_[queue]; ring.head != ring.tail; ++ring.head) {
      free_.push_back(ring.at(ring.head).data);
    }
  }
  /// Takes the frame that a poll would see next.
  std::vector<std::byte> take_first() {
    const auto first = peek();
    free_.push_back(first.data());
    ++rings_[0].head;
    return {first.begin(), first.end()};
  }
  void swap_waiting(uint32_t a, uint32_t b) noexcept {
    std::swap(rings_[0].at(rings_[0].head + a), rings_[0].at(rings_[0].head + b));
  }

 private:
  struct Pending {
    std::byte* data;
    uint32_t bytes;
  };
  struct Ring {
    explicit Ring(uint32_t frames) : slots(std::bit_ceil(frames)) {}
    Pending& at(uint64_t index) noexcept { return slots[index & (slots.size() - 1)]; }
    std::vector<Pending> slots;
    uint64_t head = 0;
    uint64_t tail = 0;
  };
  static constexpr size_t stride(uint32_t bytes) { return (bytes + 127) & ~size_t{63}; }

  LoopPort* destination(const std::byte* frame) noexcept {
    for (LoopPort* port : *stations_) {
      if (std::memcmp(port->facts_.mac.data(), frame, 6) == 0) return port;
    }
    return nullptr;
  }

  bool fits_path(const TxFrame& frame) const noexcept {
    return path_bytes_ == 0 || frame.head_bytes + frame.body_bytes <= path_bytes_;
  }

  Ring& ring_of(const std::byte* frame, uint32_t bytes) noexcept {
    if (rings_.size() == 1) return rings_[0];
    if (bytes < 38) return rings_[0];
    const uint32_t udp_port = load_network<uint16_t>(frame + 36);
    return rings_[(udp_port - kDefaultUdpPort) % rings_.size()];
  }

  bool arrive(const TxFrame& frame) noexcept {
    if (free_.empty()) {
      ++overflows_;  // as a NIC without descriptors: the frame is gone
      return false;
    }
    std::byte* data = free_.back();
    free_.pop_back();
    std::memcpy(data, frame.head, frame.head_bytes);
    if (frame.body_bytes != 0) std::memcpy(data + frame.head_bytes, frame.body, frame.body_bytes);
    Ring& ring = ring_of(data, frame.head_bytes);
    ring.at(ring.tail++) = {data, frame.head_bytes + frame.body_bytes};
    return true;
  }

  void arrive_damaged(LoopPort& to, const TxFrame& frame) noexcept {
    if (!to.arrive(frame)) return;
    Ring& ring = to.ring_of(frame.head, frame.head_bytes);
    Pending& last = ring.at(ring.tail - 1);
    if (faults_rng_.chance(faults_.corrupt)) {
      last.data[faults_rng_.below(last.bytes)] ^= std::byte{1} << faults_rng_.below(8);
    }
    if (faults_rng_.chance(faults_.truncate)) {
      last.bytes = static_cast<uint32_t>(faults_rng_.below(last.bytes));
    }
    if (faults_rng_.chance(faults_.reorder)) {
      std::swap(last, ring.at(ring.head + faults_rng_.below(ring.tail - ring.head)));
    }
  }

  PortFacts facts_;
  std::vector<std::byte> pool_;
  std::vector<std::byte*> free_;
  std::vector<Ring> rings_;
  std::shared_ptr<std::vector<LoopPort*>> stations_ = std::make_shared<std::vector<LoopPort*>>();
  uint64_t tx_room_ = ~uint64_t{0};
  uint64_t overflows_ = 0;
  uint32_t attached_ = 0;
  int attachments_ = 0;
  LoopFaults faults_;
  Random faults_rng_;
  bool faulty_ = false;
  bool has_wide_buffers_ = true;
  uint32_t path_bytes_ = 0;
};

}  // namespace pinwire
