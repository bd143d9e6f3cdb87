// A simulated NIC: pinwire::Port over the fabric. Strict: whatever a real device might forgive and
// the contract of nicfw/port/port.h forbids fails the run. A body in attached memory is read as
// late as possible, on delivery, as DMA may.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "nicfw/port/port.h"
#include "tests/sim/fabric/rx_pool.h"
#include "tests/sim/fabric/wire.h"
#include "tests/sim/oracle/overtaken.h"
#include "tests/sim/oracle/verdict.h"
#include "tests/sim/scenario.h"

namespace pinwire::sim {

class SimPort final : public Port {
 public:
  SimPort(Rank rank, const Scenario& scenario, const Schedule& schedule, Verdict& verdict,
          Wire& wire, Random& random);

  PortFacts facts() const noexcept override { return facts_; }
  uint32_t tx(uint32_t queue, std::span<const TxFrame> frames) noexcept override;
  uint32_t rx(uint32_t queue, std::span<RxFrame> frames) noexcept override;
  void release(uint32_t queue, std::span<const RxFrame> frames) noexcept override;
  bool widen(uint32_t queue, RxFrame& frame, uint32_t bytes) noexcept override;
  Result<uint32_t> attach(void* base, uint64_t bytes) override;
  void detach(uint32_t key) override;
  int event_fd(uint32_t queue) const noexcept override;
  PortArmed arm(uint32_t queue) noexcept override;

  /// A frame of another rank has a number, in the order in which they were sent; a stranger's, a
  /// copy and one that takes a detour have none.
  struct Origin {
    Rank from = 0;
    uint64_t number = ~uint64_t{0};
    bool has_number() const { return number != ~uint64_t{0}; }
  };
  /// The fabric's side: a frame reaches the device. False when it had no buffer for it.
  bool deliver(std::span<const std::byte> frame, Origin origin);
  /// Fails the run if the driver, now closed, kept a buffer or a region.
  void check_closed();
  uint32_t buffers_held() const;

 private:
  struct Waiting {
    std::byte* data;
    uint32_t bytes;
    bool checksum_good;
    Origin origin;
  };
  struct Queue {
    std::unique_ptr<RxPool> pool;
    std::deque<Waiting> waiting;
    std::deque<uint64_t> departures_ns;  ///< of frames in the transmit ring
    uint64_t full_until_ns = 0;
    Overtaken overtaken;
  };
  struct Attached {
    const std::byte* base;
    uint64_t bytes;
  };
  void check_frame(const TxFrame& frame);
  size_t tx_capacity(Queue& queue, size_t wanted);

  Rank rank_;
  const Scenario& scenario_;
  const Schedule& schedule_;
  Verdict& verdict_;
  Wire& wire_;
  Random random_;
  PortFacts facts_;
  std::vector<Queue> queues_;
  std::map<uint32_t, Attached> attached_;
  uint32_t next_key_ = 1;
};

MacAddress mac_of(Rank rank);
Rank rank_of(const MacAddress& mac);

}  // namespace pinwire::sim
