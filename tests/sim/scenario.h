// The parts of a run: the cluster, its network's faults and the clients' work. A name and a seed
// determine every field.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nicfw/nic.h"

namespace pinwire::sim {

/// Faults of one directed link; probabilities are per frame.
struct LinkFaults {
  double loss = 0;
  double burst = 0;       ///< a burst of losses starts
  uint64_t burst_ns = 0;  ///< it lasts at most
  double duplicate = 0;
  double reorder = 0;  ///< the frame takes a detour
  double corrupt = 0;
  double truncate = 0;
  uint64_t delay_ns = 1'000;
  uint64_t jitter_ns = 0;
  uint64_t detour_ns = 30'000;  ///< at most
};

/// Between `from_ns` and `until_ns` ranks whose bit in `island` differs do not hear each other.
struct Partition {
  uint64_t from_ns;
  uint64_t until_ns;
  uint64_t island;
  bool one_way;  ///< only frames that leave the island are lost
};

/// Relative weights of the operations that a client starts.
struct Mix {
  uint32_t request = 6;  ///< a kSend that is answered
  uint32_t one_way = 2;
  uint32_t put = 4;
  uint32_t put_send = 2;
  uint32_t get = 3;
  uint32_t atomic = 3;
  uint32_t scatter = 0;
};

enum class Crime : uint8_t { kNone, kRemoteAccess, kUnreachable };

inline constexpr uint64_t kSlowPollFactor = 100;

struct Scenario {
  std::string_view name;
  uint64_t seed = 0;

  // The cluster.
  uint32_t ranks = 2;
  uint32_t frame_bytes_max = 1514;
  bool mixed_mtu = false;  ///< some ports carry smaller frames
  uint32_t rx_buffers = 1024;
  uint32_t tx_ring_frames = 256;
  uint32_t tx_burst_max = 32;
  uint64_t link_bits_per_s = 25'000'000'000;
  uint32_t switch_buffer_bytes = 1 << 20;  ///< of each output of the switch; beyond it frames drop
  double tx_refuse = 0;                    ///< a tx() takes less than it could
  double tx_full = 0;                      ///< chance that a tx() finds the port full for a while
  uint64_t tx_full_ns_max = 0;             ///< the longest such while
  bool zero_copy_tx = false;
  bool checksum_offload = false;
  bool event_fd = false;
  bool memory_medium = false;  ///< the ports' frames never leave the host
  uint32_t lanes = 1;
  NicConfig nic;
  uint32_t network_depth = 64;

  // The network.
  LinkFaults faults;
  bool asymmetric = false;  ///< each directed link draws a share of `faults` of its own
  std::vector<Partition> partitions;
  uint32_t path_frame_bytes_max = 0;  ///< longer frames vanish without a word; 0: none does
  uint64_t path_narrows_ns = 0;       ///< when that begins
  uint64_t path_opens_ns = 0;         ///< when it ends; 0: never
  uint64_t path_slows_ns = 0;         ///< from then on each frame takes path_slower_ns more
  uint64_t path_slower_ns = 0;        ///< 0: the path stays as fast as it is
  bool hostile = false;

  // The clients.
  uint32_t operations = 100;  ///< that each rank starts
  uint32_t in_flight_max = 16;
  uint64_t message_bytes_max = 4096;
  uint64_t window_bytes = 16 * 1024;  ///< of each rank's memory, for each writer
  Mix mix;
  uint64_t poll_ns = 400;
  uint64_t poll_idle_ns_max = 50'000;
  uint32_t slow_ranks = 0;  ///< the first ones poll kSlowPollFactor times more rarely
  double stall = 0;         ///< chance that a poll is followed by a long absence
  uint64_t stall_ns_max = 3'000'000;
  uint32_t recv_burst = 16;
  uint32_t peers_max = 0;  ///< peers that a rank talks to; 0: all
  double post_alone = 0;   ///< chance that a client posts a few times without a poll between
  double poll_alone = 0;   ///< chance that a client polls without posting
  bool post_each = false;  ///< operations are offered one by one: one refused holds up no other
  double abandon = 0;      ///< chance that a refused operation is given up (GEX_FLAG_IMMEDIATE)
  double lend = 0;         ///< chance that a message's payload lies in memory that the driver lends
  double fence = 0;        ///< chance that a message is fenced
  uint32_t absent_ranks = 0;    ///< the last ones compute now and then, without a poll
  bool absent_are_owed = true;  ///< replies to requests that they sent before
  bool leaves_replies = false;  ///< handlers whose reply is refused for long return without it
  uint32_t absences = 0;        ///< of each of them
  uint64_t absence_ns_min = 0;  ///< their lengths are drawn evenly by magnitude
  uint64_t absence_ns_max = 0;
  uint32_t burst = 0;  ///< active messages that such a rank sends in a row before each; 0: drawn
  uint64_t rest_ns_max = 0;    ///< between the active messages of a rank that polls meanwhile
  double long_payloads = 0.4;  ///< chance that an active message's payload is not short
  uint64_t heartbeat_ns = 0;  ///< a rank that computes is polled so often, for no message; 0: never
  Crime crime = Crime::kNone;

  // Times after which a client counts as stuck.
  uint64_t stuck_ns = 5'000'000'000;
};

std::span<const std::string_view> scenario_names();
/// `name` "any" draws one of them by their weights. An unknown name gives ranks == 0.
Scenario make_scenario(std::string_view name, uint64_t seed);

}  // namespace pinwire::sim
