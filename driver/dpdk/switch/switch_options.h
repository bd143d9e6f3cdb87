// The command line of pinwire_switch.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace pinwire {

/// Probabilities per frame, applied as it enters the switch.
struct SwitchFaults {
  double loss = 0;
  double burst_loss = 0;  ///< of a burst's start
  uint32_t burst_frames = 32;
  double duplicate = 0;
  double reorder = 0;
  double corrupt = 0;
  double truncate = 0;
  uint32_t delay_us = 0;
  uint64_t seed = 1;
  bool any() const {
    return loss > 0 || burst_loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 ||
           truncate > 0 || delay_us > 0;
  }
};

struct SwitchOptions {
  uint32_t ports = 0;
  uint32_t queues = 1;
  uint32_t frame_bytes = 9712;  ///< the longest frame a virtio port can carry unchained
  uint32_t buffers = 0;         ///< frames under way in the whole switch; 0: by the number of ports
  std::string directory;        ///< sockets DIR/sw_<r>.sock
  bool huge_pages = false;
  bool show_log = false;
  bool help = false;
  SwitchFaults faults;
};

Result<SwitchOptions> parse_switch_options(int argc, char** argv);
const char* switch_usage();

}  // namespace pinwire
