#include "extended/drivers/connect.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/memory/reserve.h"
#include "core/bootstrap/gather_values.h"
#include "core/engine/engine.h"
#include "core/mode.h"
#include "core/trace/trace.h"
#include "extended/drivers/table.h"

namespace pinwire {
namespace {

/// Which driver a peer gets, by the user's choice and by where it is.
enum class Way : uint8_t { kSelf, kShm, kNetwork };

Result<Way> way_to(const Job& job, Rank peer) {
  if (peer == engine.rank) return Way::kSelf;
  const bool is_near = job.places[peer].supernode == job.places[engine.rank].supernode;
  switch (job.settings.driver) {
    case DriverChoice::kAuto:
      return is_near ? Way::kShm : Way::kNetwork;
    case DriverChoice::kVerbs:
    case DriverChoice::kDpdk:
      return Way::kNetwork;
    case DriverChoice::kShm:
      if (is_near) return Way::kShm;
      return error(
          "GASNET_DRIVER=shm, but rank %u is on another host or, by GASNET_SUPERNODE_MAXSIZE, in "
          "another supernode; use GASNET_DRIVER=auto, verbs or dpdk",
          peer);
  }
  return error("no such driver");
}

Status open_one(Job& job, Driver& driver) {
  check(engine.driver_count < kDriversMax, "more drivers than there are places for");
  DriverSlot& slot = engine.drivers[engine.driver_count];
  check(slot.driver == nullptr, "two drivers in one place", engine.driver_count);
  slot.lane_count = std::min(driver.caps().lanes_max, engine.lane_count);
  check(slot.lane_count != 0, "a driver without lanes", engine.driver_count);
  OpenInfo info;
  info.rank = engine.rank;
  info.rank_count = engine.rank_count;
  info.lanes = slot.lane_count;
  info.job_key = job.bootstrap->job_key();
  info.network_depth = job.settings.network_depth;
  info.concurrent = is_concurrent();
  info.owned_lanes = kConcurrent ? slot.lane_count - 1 : slot.lane_count;
  if (auto opened = driver.open(info); !opened) return opened;
  slot.driver = &driver;
  slot.caps = driver.caps();
  const uint32_t rail = engine.rail_count > 1 ? engine.driver_count - engine.rail_first : 0;
  const int length = std::snprintf(slot.label, sizeof slot.label, "%s", driver.name());
  if (rail != 0) {
    std::snprintf(slot.label + length, sizeof slot.label - static_cast<size_t>(length), "_rail%u",
                  rail);
  }
  ++engine.driver_count;
  engine.own_lanes(engine.thread());
  trace_line('O', "driver %s opened with %u lanes", driver.name(), slot.lane_count);
  return success();
}

Status connect_peers(Job& job, uint32_t driver_index, const std::vector<Way>& ways, Way mine) {
  DriverSlot& slot = engine.drivers[driver_index];
  Driver& driver = *slot.driver;
  slot.meets_all = mine == Way::kNetwork && slot.caps.reaches_self && slot.caps.atomic64 != 0;
  auto addresses = job.bootstrap->all_gather(driver.address());
  if (!addresses) return addresses.error();
  check(addresses->size() == engine.rank_count, "the addresses of another number of ranks",
        addresses->size());
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    if (ways[peer] != mine) {
      slot.meets_all = slot.meets_all && driver.connect(peer, (*addresses)[peer]);
      continue;
    }
    if (auto connected = driver.connect(peer, (*addresses)[peer]); !connected) {
      return error("cannot connect to rank %u: %s", peer, connected.sentence().c_str());
    }
    if (mine == Way::kNetwork && driver_index != engine.rail_first + engine.rail_to(peer)) continue;
    check(peer != engine.rank, "a driver carries messages to this rank itself", driver_index);
    check(engine.routes[peer].driver == nullptr, "two drivers carry messages to one peer", peer);
    engine.routes[peer].driver = &driver;
    engine.routes[peer].driver_index = static_cast<uint8_t>(driver_index);
  }
  // Peers may carry less than this rank's device does.
  const Caps caps = slot.caps = driver.caps();
  check(caps.inline_bytes_max <= caps.eager_bytes_max &&
            caps.eager_bytes_max <= caps.copied_bytes_max,
        "a driver holds no copy of what it says is cheaper copied", caps.inline_bytes_max,
        caps.eager_bytes_max, caps.copied_bytes_max);
  check(caps.copied_bytes_max <= caps.put_bytes_max, "a driver copies more than it puts",
        caps.copied_bytes_max, caps.put_bytes_max);
  return success();
}

/// Whether any rank goes this way: drivers are opened by all ranks or by none, as the exchange of
/// addresses is collective.
Result<bool> anyone_needs(Job& job, const std::vector<Way>& ways, Way way) {
  const uint8_t needs = std::count(ways.begin(), ways.end(), way) != 0;
  auto all = gather_values(*job.bootstrap, needs);
  if (!all) return all.error();
  return std::count(all->begin(), all->end(), uint8_t{1}) != 0;
}

Status open_and_connect(Job& job, std::unique_ptr<Driver> driver, const std::vector<Way>& ways,
                        Way way) {
  auto decorated = decorate(std::move(driver), job.settings);
  if (!decorated) return decorated.error();
  job.drivers.push_back(std::move(*decorated));
  if (auto opened = open_one(job, *job.drivers.back()); !opened) return opened;
  return connect_peers(job, engine.driver_count - 1, ways, way);
}

Status open_shm(Job& job, const std::vector<Way>& ways) {
  auto driver = make_shm_driver(job.settings.shm_ring_slots);
  job.shm = driver.get();
  job.shm_index = engine.driver_count;
  return open_and_connect(job, std::move(driver), ways, Way::kShm);
}

Status open_network(Job& job, const std::vector<Way>& ways) {
  auto rails = make_network_rails(job);
  if (!rails) return rails.error();
  engine.rail_first = engine.driver_count;
  engine.rail_count = static_cast<uint32_t>(rails->size());
  check(engine.rail_first + engine.rail_count <= kDriversMax, "more rails than drivers");
  if (engine.rail_count > 1) {
    engine.stripe_bytes_min = job.settings.stripe_bytes_min;
    engine.rail_keys = new uint32_t[uint64_t{engine.rank_count} * engine.rail_count]();
  }
  for (auto& rail : *rails) {
    auto opened = open_and_connect(job, std::move(rail), ways, Way::kNetwork);
    if (!opened) return opened;
  }
  return success();
}

}  // namespace

Status open_drivers(Job& job) {
  if (engine.rank_count > kRanksMax) {
    return error("a job has at most %u ranks, not %u", kRanksMax, engine.rank_count);
  }
  engine.routes = reserve_table<Route>(kTargetsMax, "the routes to all endpoints");
  std::vector<Way> ways;
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    auto way = way_to(job, peer);
    if (!way) return way.error();
    ways.push_back(*way);
  }
  for (const Way way : {Way::kShm, Way::kNetwork}) {
    auto needed = anyone_needs(job, ways, way);
    if (!needed) return needed.error();
    if (!*needed) continue;
    auto opened = way == Way::kShm ? open_shm(job, ways) : open_network(job, ways);
    if (!opened) return opened;
  }
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    check((engine.routes[peer].driver == nullptr) == (peer == engine.rank),
          "a peer that no driver reaches", peer);
  }
  if (job.settings.verbose_env && engine.rank == 0) {
    for (uint32_t d = 0; d < engine.driver_count; ++d) {
      const auto& slot = engine.drivers[d];
      log_note("driver %s: %u lanes, messages to %llu bytes", slot.driver->name(), slot.lane_count,
               static_cast<unsigned long long>(slot.caps.send_bytes_max));
    }
  }
  return success();
}

}  // namespace pinwire
