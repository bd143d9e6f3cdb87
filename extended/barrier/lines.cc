#include "extended/barrier/lines.h"

#include <algorithm>
#include <cstring>

#include "am/handlers/handlers.h"
#include "am/poll/poll.h"
#include "am/send/send.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/threads/membarrier.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"

namespace pinwire {
namespace {

struct AllLines {
  std::vector<Rank> first_local_rank;  ///< of every rank; empty: itself
  std::vector<shm::Lines> of_near;     ///< of ranks that share them with this one, itself included
};
AllLines all_lines;

constexpr uint64_t bit_of(Rank rank) noexcept { return uint64_t{1} << rank % 64; }

/// Does nothing: a sleeping thread wakes once a handler has run, but a change of a line runs none,
/// so this message is sent beside it.
void on_wake(pinwire_token*) {}

[[gnu::cold]] void wake_readers(uint64_t bits) noexcept {
  for (const shm::Lines& near : all_lines.of_near) {
    if (near.rank() != engine.rank && (bits & bit_of(near.rank())) != 0) {
      request_short(near.rank(), {kHandlerBarrierWake, 0, nullptr});
    }
  }
  poll();  // drivers keep back what may be in a stream; this rank may compute from here on
}

std::vector<Rank> first_of_supernodes(const std::vector<RankPlace>& places) {
  std::vector<Rank> first, of_supernode;
  for (Rank rank = 0; rank < places.size(); ++rank) {
    // They are counted by their lowest ranks.
    if (places[rank].supernode == of_supernode.size()) of_supernode.push_back(rank);
    check(places[rank].supernode < of_supernode.size(), "supernodes are counted by lowest ranks",
          rank, places[rank].supernode);
    first.push_back(of_supernode[places[rank].supernode]);
  }
  return first;
}

/// A sentence if a rank beside this one has lines that cannot be mapped.
Status map_lines(const Bootstrap& bootstrap, const std::vector<std::vector<std::byte>>& addresses) {
  const auto& first = all_lines.first_local_rank;
  check(addresses.size() == first.size(), "the lines of another number of ranks", addresses.size());
  for (Rank rank = 0; rank < first.size(); ++rank) {
    check(first[rank] <= rank, "a first rank that is not the lowest", rank, first[rank]);
    if (first[rank] != first[engine.rank]) continue;
    shm::LinesAddress address;
    if (addresses[rank].size() != sizeof address) return error("rank %u has no lines", rank);
    std::memcpy(&address, addresses[rank].data(), sizeof address);
    auto lines = shm::Lines::map(address, bootstrap.job_key(), rank);
    if (!lines) return lines.error();
    check(all_lines.of_near.empty() || all_lines.of_near.back().rank() < rank,
          "lines out of the order of their ranks", rank);
    all_lines.of_near.push_back(std::move(*lines));
  }
  return success();
}

/// If one rank of a supernode has failed, no rank of it has lines.
void forget_those_of(const std::vector<std::vector<std::byte>>& failed) {
  auto& first = all_lines.first_local_rank;
  std::vector<bool> has_failed(first.size());
  for (Rank rank = 0; rank < first.size(); ++rank) {
    if (!failed[rank].empty()) has_failed[first[rank]] = true;
  }
  if (has_failed[first[engine.rank]]) all_lines.of_near.clear();
  for (Rank rank = 0; rank < first.size(); ++rank) {
    if (has_failed[first[rank]]) first[rank] = rank;
  }
}

}  // namespace

Status open_barrier_lines(Bootstrap& bootstrap, const std::vector<RankPlace>& places) {
  register_internal(kHandlerBarrierWake, on_wake);
  check(places.size() == engine.rank_count, "a place for each rank", places.size());
  std::vector<Rank> first = first_of_supernodes(places);
  bool all_alone = true;
  for (Rank rank = 0; rank < first.size(); ++rank) all_alone = all_alone && first[rank] == rank;
  if (all_alone) return success();
  all_lines.first_local_rank = std::move(first);
  auto own = shm::Lines::create(bootstrap.job_key(), engine.rank);
  const shm::LinesAddress address = own ? own->address() : shm::LinesAddress{};
  const auto* bytes = reinterpret_cast<const std::byte*>(&address);
  auto addresses = bootstrap.all_gather({bytes, own ? sizeof address : 0});
  if (!addresses) return addresses.error();
  const Status mapped = own ? map_lines(bootstrap, *addresses) : Status(own.error());
  const std::byte any{1};
  auto failed = bootstrap.all_gather({&any, mapped ? size_t{0} : size_t{1}});
  if (!failed) return failed.error();
  forget_those_of(*failed);
  if (!mapped) trace_line('O', "messages carry barriers: %s", mapped.sentence().c_str());
  return success();
}

Rank first_local_rank(Rank jobrank) noexcept {
  check(jobrank < engine.rank_count, "a rank that the job has not", jobrank);
  return all_lines.first_local_rank.empty() ? jobrank : all_lines.first_local_rank[jobrank];
}

bool all_ranks_local() noexcept {
  const auto& first = all_lines.first_local_rank;
  return engine.rank_count == 1 ||
         (!first.empty() && std::all_of(first.begin(), first.end(), [](Rank r) { return r == 0; }));
}

shm::BarrierLines* barrier_lines(Rank jobrank, uint32_t index) noexcept {
  if (index >= shm::kBarrierLines) return nullptr;
  const auto at =
      std::lower_bound(all_lines.of_near.begin(), all_lines.of_near.end(), jobrank,
                       [](const shm::Lines& near, Rank wanted) { return near.rank() < wanted; });
  return at != all_lines.of_near.end() && at->rank() == jobrank ? &at->of(index) : nullptr;
}

void notify_line(shm::BarrierLine& own, uint64_t phase) noexcept {
  show_order_of_puts();
  const uint64_t asleep = own.notify(phase);
  if (asleep != 0) [[unlikely]]
    wake_readers(asleep);
}

void await_line(shm::BarrierLine& line) noexcept {
  static const bool are_told = [] {
    for (const shm::Lines& near : all_lines.of_near) near.tell_owner();
    return pass_process_barriers();
  }();
  static_cast<void>(are_told);
  line.await(bit_of(engine.rank));
}

}  // namespace pinwire
