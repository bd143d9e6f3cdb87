// Two ranks' ports with queues that threads use at once. Each queue has a loop wire of its own with
// a lock around each of its calls, so that what two lanes of a NIC share is not ordered by the
// port.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/support/loop_port.h"

namespace pinwire {

/// Time that each look at it moves on. It orders nothing between threads.
class SharedClock final : public Clock {
 public:
  uint64_t now_ns() noexcept override {
    constexpr uint64_t kStepNs = 500;
    return now_ns_.fetch_add(kStepNs, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> now_ns_{1'000'000};
};

/// The queues of one number share this: a lock, and a port for each rank.
struct QueueWire {
  QueueWire(uint32_t frame_bytes_max, uint32_t rx_buffers, LoopFaults faults) {
    for (uint32_t rank = 0; rank < 2; ++rank) {
      ports.push_back(
          std::make_unique<LoopPort>(static_cast<uint8_t>(rank + 1), frame_bytes_max, rx_buffers));
      if (rank != 0) ports[rank]->join(*ports[0]);
      faults.seed += rank;
      ports[rank]->set_faults(faults);
    }
  }
  std::mutex lock;
  std::vector<std::unique_ptr<LoopPort>> ports;
};

class SharedPort final : public Port {
 public:
  SharedPort(std::vector<std::unique_ptr<QueueWire>>& wires, uint32_t rank)
      : wires_(wires), rank_(rank), facts_(wires[0]->ports[rank]->facts()) {
    facts_.queues = static_cast<uint32_t>(wires.size());
  }

  PortFacts facts() const noexcept override { return facts_; }
  uint32_t tx(uint32_t queue, std::span<const TxFrame> frames) noexcept override {
    const std::lock_guard guard(wires_[queue]->lock);
    return port(queue).tx(0, frames);
  }
  uint32_t rx(uint32_t queue, std::span<RxFrame> frames) noexcept override {
    const std::lock_guard guard(wires_[queue]->lock);
    return port(queue).rx(0, frames);
  }
  void release(uint32_t queue, std::span<const RxFrame> frames) noexcept override {
    const std::lock_guard guard(wires_[queue]->lock);
    port(queue).release(0, frames);
  }
  bool widen(uint32_t queue, RxFrame& frame, uint32_t bytes) noexcept override {
    const std::lock_guard guard(wires_[queue]->lock);
    return port(queue).widen(0, frame, bytes);
  }
  /// By one thread at a time, as Driver::pin() is called.
  Result<uint32_t> attach(void*, uint64_t) override { return ++attached_; }
  void detach(uint32_t) override {}
  int event_fd(uint32_t) const noexcept override { return -1; }
  PortArmed arm(uint32_t queue) noexcept override {
    const std::lock_guard guard(wires_[queue]->lock);
    return port(queue).arm(0);
  }

 private:
  LoopPort& port(uint32_t queue) const noexcept { return *wires_[queue]->ports[rank_]; }

  std::vector<std::unique_ptr<QueueWire>>& wires_;
  const uint32_t rank_;
  PortFacts facts_;
  uint32_t attached_ = 0;
};

}  // namespace pinwire
