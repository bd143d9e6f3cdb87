#include "extended/atomics/domain.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/engine/engine.h"
#include "extended/atomics/call.h"
#include "extended/state/job.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

/// Hints that this rank, or ranks that share memory with it, mostly work on the memory: the fastest
/// way by far is then the CPU.
constexpr gex_Flags_t kFavorsCpu = GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD;

/// Each member as a target.
template <typename Holds>
bool all_members(const pinwire_tm& team, Holds&& holds) noexcept {
  for (gex_Rank_t member = 0; member < team.size; ++member) {
    const auto tm = const_cast<pinwire_tm*>(&team);
    if (!holds(pinwire_target(tm, member))) return false;
  }
  return true;
}

bool share_memory(Rank a, Rank b) noexcept {
  if (a == b) return true;
  const Job& here = *job();
  const DriverChoice by = here.settings.driver;
  return (by == DriverChoice::kAuto || by == DriverChoice::kShm) &&
         here.places[a].supernode == here.places[b].supernode;
}

/// Whether all members share memory with the first, so that the CPU of each works on the memory of
/// all.
bool is_near_itself(const pinwire_tm& team) noexcept {
  return all_members(team, [&team](Target to) {
    return share_memory(rank_of(to), rank_of(pinwire_target(const_cast<pinwire_tm*>(&team), 0)));
  });
}

/// Whether the NIC does all operations of the domain on another member's memory that is not mapped
/// here.
bool nic_does_all(const pinwire_ad& domain, const Route& route) noexcept {
  return are_driver_atomics(domain.type, domain.codes, driver_atomics(route));
}

}  // namespace

uint32_t driver_atomics(const Route& route) noexcept {
  dcheck(route.driver != nullptr, "the atomics of no driver", route.driver_index);
  const Caps& caps = engine.caps_of(route);
  if (!caps.atomics_meet_cpu || route.reach != Reach::kWhole) return 0;
  return caps.atomic64 & route.driver->atomics_on(route.region_key);
}

AtomicWay way_of(const pinwire_tm& team, gex_DT_t type, gex_OP_t codes,
                 gex_Flags_t flags) noexcept {
  const bool can = engine.nic_atomic_keys != nullptr &&
                   are_driver_atomics(type, codes, engine.nic_atomics) &&
                   all_members(team, [](Target to) { return endpoint_of(to) == 0; });
  const bool is_wanted = (flags & kFavorsCpu) == 0 && !is_near_itself(team);
  return can && is_wanted ? AtomicWay::kNic : AtomicWay::kFastest;
}

gex_TM_t unmapped() noexcept {
  // The last entry of pinwire_reach, no rank's: its size stays 0. No more of a team than the
  // headers read; one for all domains, until the process is gone.
  static const auto& targets = *new std::vector<uint32_t>(engine.rank_count, kTargetsMax - 1);
  static const auto& members = *new pinwire_members{targets.data()};
  return reinterpret_cast<gex_TM_t>(const_cast<pinwire_members*>(&members));
}

const char* path_of(const pinwire_ad& domain) noexcept {
  if (domain.way == AtomicWay::kNic) return "nic";
  if (is_near_itself(*domain.tm)) return "cpu";
  const bool by_nic = all_members(*domain.tm, [&](Target to) {
    const Route& route = engine.routes[to];
    return route.driver == nullptr || pinwire_reach[to].mapped != 0 || nic_does_all(domain, route);
  });
  return by_nic ? "cpu+nic" : "cpu+messages";
}

}  // namespace pinwire
