// An atomic domain (GX-154): what gex_AD_Create was told, and the way that its operations go. The
// targets of its operations need not know it, so that neither making one nor ending one is a matter
// of talking.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/api_types.h"
#include "extended/state/objects.h"

namespace pinwire {

/// How the operations of a domain are atomic with each other.
enum class AtomicWay : uint8_t {
  kFastest,  ///< all that is used meets the CPU's atomics, so that each goes the fastest way there
             ///< is
  kNic,      ///< the target's NIC does all of them, its owner's own included
};

}  // namespace pinwire

struct pinwire_ad {
  pinwire_ad_team team{};  ///< first: inlined operations read it. For kNic: unmapped()
  gex_TM_t tm = nullptr;
  gex_DT_t type = 0;
  gex_OP_t codes = 0;
  gex_Flags_t flags = 0;
  pinwire::AtomicWay way = pinwire::AtomicWay::kFastest;
  pinwire::ClientData client_data;
  std::atomic<uint32_t> under_way{0};  ///< debug builds only
};

namespace pinwire {

/// The driver's atomics, an atomic_bit() each, that meet the CPU's on the memory that this route
/// leads to.
uint32_t driver_atomics(const Route& route) noexcept;

/// Decided by facts that are the same for all members: the arguments, where the members are, and
/// the atomics that the NICs of all ranks have in common (GX-163). Therefore all members decide
/// alike, and none asks another.
AtomicWay way_of(const pinwire_tm& team, gex_DT_t type, gex_OP_t codes, gex_Flags_t flags) noexcept;

/// A team without a member whose memory the header's inlined operations find here.
gex_TM_t unmapped() noexcept;

/// For users: "nic", or how it is where each operation goes the fastest way.
const char* path_of(const pinwire_ad& domain) noexcept;

}  // namespace pinwire
