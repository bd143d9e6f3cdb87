// The choices that a NIC is made with. The simulator and the job's settings fill them in; nicfw
// reads no environment.
#pragma once

#include <cstdint>

#include "core/base/udp_ports.h"
#include "nicfw/port/port.h"

namespace pinwire {

/// Which bytes of a frame the job's key vouches for; all ranks of a job have the same.
enum class FrameAuth : uint8_t {
  kFull,    ///< all
  kHeader,  ///< headers, records and small payloads; bodies (wire.h) are left to UDP checksums that
            ///< devices make and verify: the CPU does not read them to send them
};

/// Hears what the user should know although the job goes on. A sentence is said once for each NIC,
/// by the thread that polls.
class NoticeSink {
 public:
  virtual void say(const char* sentence) noexcept = 0;

 protected:
  ~NoticeSink() = default;
};

struct NicConfig {
  uint32_t ipv4 = 0;  ///< host byte order; 0: derived from the rank (127.x.y.z, see route.h)
  uint32_t ipv4_prefix_bits = 0;  ///< of that address's network
  MacAddress gateway_mac{};       ///< for peers outside that network; all zero: there are none
  uint16_t udp_port = kDefaultUdpPort;  ///< + lane: the ports that this rank receives on
  uint32_t window_frames = 256;         ///< the most frames in flight of one flow, a power of two
  uint64_t peer_timeout_ns =
      60'000'000'000;  ///< silence while this rank looks and work is pending: kUnreachable (C1-186:
                       ///< > 10 s); 0: never. Over a memory medium never
  uint64_t rto_min_ns = 20'000;
  uint64_t rto_max_ns = 50'000'000;
  bool coalesce = true;
  FrameAuth auth = FrameAuth::kFull;
  uint32_t path_bytes = 1514;     ///< frames that every path carries; longer ones are probed
  NoticeSink* notices = nullptr;  ///< must outlive the driver
  uint32_t first_sequence = 0;    ///< and other first counts; tests start next to the wrap
  uint64_t first_number = 0;      ///< of the frames to each peer; likewise
  uint64_t seed = 1;
};

/// As GASNET_DPDK_AUTH names it.
constexpr const char* auth_name(FrameAuth auth) noexcept {
  return auth == FrameAuth::kFull ? "full" : "header";
}

}  // namespace pinwire
