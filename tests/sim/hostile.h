// A stranger on the network, who does not have the job's key: sends noise, forged and altered
// frames, frames that it recorded, as they were or with records appended or cut, and runs a NIC of
// its own under a wrong key in another rank's name. Nothing of that may change anything.
#pragma once

#include <memory>
#include <vector>

#include "core/base/random.h"
#include "driver/driver.h"
#include "tests/sim/schedule.h"

namespace pinwire::sim {

class World;

class Hostile final : public EventTarget {
 public:
  Hostile(World& world, const OpenInfo& info, const std::vector<std::vector<std::byte>>& addresses);
  ~Hostile();

  void stop() noexcept { stopped_ = true; }
  void fire(uint64_t) override;

 private:
  class StrangerPort;

  void send_noise(Rank to);
  void send_recorded();
  void send_altered();
  void send_lengthened();
  void append_record(std::vector<std::byte>& frame, Rank victim);
  void drive_stranger();

  World& world_;
  Random random_;
  uint64_t pause_ns_max_;
  bool stopped_ = false;
  std::vector<std::byte> memory_;
  std::unique_ptr<StrangerPort> port_;
  std::unique_ptr<Driver> stranger_;
};

}  // namespace pinwire::sim
