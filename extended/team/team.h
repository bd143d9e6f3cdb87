// Making teams and ending them (GX-069 to GX-072, EX-087 to EX-125). Collective calls are blocking,
// in client context; extended/api/ex/teams.cc checks the callers' arguments.
#pragma once

#include <vector>

#include "extended/coll/member/member.h"
#include "extended/coll/progress/seats.h"
#include "extended/state/objects.h"

namespace pinwire {

/// The properties of one member of a team that is being made.
struct Newcomer {
  pinwire_ep* endpoint;
  Rank rank;
  Member* seat;  ///< taken, not open
  gex_Flags_t flags;
  gex_Memvec_t scratch;  ///< nothing: no bytes
};

/// The process's objects but its segment, with the team of all ranks: at the end of
/// gex_Client_Init, and of gasnet_init for programs that use both APIs.
void make_objects(const char* client_name, gex_Flags_t flags);

/// A member of this process; messages for its collectives may come from now on.
gex_TM_t make_team(const Newcomer& newcomer, std::vector<Target> targets,
                   std::vector<uint32_t> seats, uint64_t lines_from);

/// `new_tm_p`: nullptr for a caller that is in no new team.
void split_team(gex_TM_t* new_tm_p, gex_TM_t parent, const struct Choice& choice,
                const gex_Memvec_t& scratch, gex_Flags_t flags);

/// One of the teams that a call makes: its members, in their order, and the scratch of those that
/// are of this process. No members: the caller is in none.
struct TeamWanted {
  std::vector<Target> targets;
  std::vector<gex_Memvec_t> scratch;  ///< of the local ones; or empty
};
void create_team(gex_TM_t* new_tms, gex_TM_t parent, const TeamWanted& wanted, gex_Flags_t flags);

/// Its handle names nothing afterwards.
void destroy_team(gex_TM_t tm);

}  // namespace pinwire
