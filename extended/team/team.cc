#include "extended/team/team.h"

#include <algorithm>

#include "core/base/check.h"

namespace pinwire {

void make_objects(const char* client_name, gex_Flags_t flags) {
  check(objects.team == nullptr, "a process makes its objects once");
  objects.client = new pinwire_client{client_name, flags};
  objects.endpoint = make_endpoint(GEX_EP_CAPABILITY_ALL, 0);
  objects.team = new pinwire_tm{{}, objects.endpoint, engine.rank, engine.rank_count};
  objects.team->member = &take_seat();
  open_seat(*objects.team->member, objects.team, nullptr, 0);
}

gex_TM_t make_team(const Newcomer& newcomer, std::vector<Target> targets,
                   std::vector<uint32_t> seats, uint64_t lines_from) {
  check(targets.size() == seats.size(), "a seat for each member", targets.size(), seats.size());
  check(newcomer.rank < targets.size(), "a member outside its team", newcomer.rank);
  check(rank_of(targets[newcomer.rank]) == engine.rank, "a member of another process",
        newcomer.rank);
  check(seats[newcomer.rank] == newcomer.seat->seat, "a member with the seat of another",
        seats[newcomer.rank], newcomer.seat->seat);
  check(endpoint_of(targets[newcomer.rank]) == newcomer.endpoint->index,
        "a member with the endpoint of another", newcomer.endpoint->index);
  auto* tm = new pinwire_tm;
  tm->endpoint = newcomer.endpoint;
  tm->rank = newcomer.rank;
  tm->size = static_cast<Rank>(targets.size());
  tm->flags = newcomer.flags;
  tm->scratch = newcomer.scratch;
  tm->tables = std::make_unique<TeamTables>();
  tm->tables->targets = std::move(targets);
  tm->tables->seats = std::move(seats);
  tm->tables->sort();
  tm->members.targets = tm->tables->targets.data();
  tm->member = newcomer.seat;
  open_seat(*newcomer.seat, tm, tm->tables->seats.data(), lines_from);
  return tm;
}

void destroy_team(gex_TM_t tm) {
  check(tm->member != nullptr, "a team is destroyed twice");
  check(tm->member->tm == tm, "a team is destroyed whose seat has another", tm->member->seat);
  close_seat(*tm->member);
  tm->member = nullptr;
  // Debug builds know it when it is used again.
  if constexpr (!kUsageChecks) delete tm;
}

}  // namespace pinwire
