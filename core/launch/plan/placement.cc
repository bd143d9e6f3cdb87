#include "core/launch/plan/placement.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/base/threads/cpus.h"
#include "core/launch/options/words.h"
#include "core/launch/process/environment.h"

namespace pinwire::launch {
namespace {

/// The cores that no rank has yet.
class FreeCores {
 public:
  explicit FreeCores(const Machine& machine)
      : machine_(machine), is_free_(machine.cores.size(), true) {}

  /// Takes `count` free cores, of `wanted` or, if it is empty, of all: those of one NUMA node if
  /// one has enough, otherwise the first ones. Empty if there are too few.
  std::vector<uint32_t> take(const std::vector<uint32_t>& wanted, uint32_t count) {
    std::vector<uint32_t> free;
    for (uint32_t i = 0; i < machine_.cores.size(); ++i) {
      const bool is_wanted =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), i) != wanted.end();
      if (is_free_[i] && is_wanted) free.push_back(i);
    }
    std::vector<uint32_t> taken = of_one_domain(free, count);
    if (taken.empty() && free.size() >= count) taken.assign(free.begin(), free.begin() + count);
    for (const uint32_t core : taken) is_free_[core] = false;
    return taken;
  }

 private:
  std::vector<uint32_t> of_one_domain(const std::vector<uint32_t>& free, uint32_t count) const {
    for (uint32_t domain = 0; domain < machine_.domain_count; ++domain) {
      std::vector<uint32_t> list;
      for (const uint32_t core : free)
        if (machine_.cores[core].domain == domain && list.size() < count) list.push_back(core);
      if (list.size() == count) return list;
    }
    return {};
  }

  const Machine& machine_;
  std::vector<bool> is_free_;
};

/// Each hardware thread as a core of its own.
Machine split_cores(const Machine& machine) {
  Machine split{{}, machine.domain_count, {}};
  std::vector<std::vector<uint32_t>> parts(machine.cores.size());
  for (uint32_t i = 0; i < machine.cores.size(); ++i) {
    for (const int cpu : machine.cores[i].cpus) {
      parts[i].push_back(static_cast<uint32_t>(split.cores.size()));
      split.cores.push_back({{cpu}, machine.cores[i].domain});
    }
  }
  for (const auto& device : machine.devices) {
    NearDevice near{device.name, {}};
    for (const uint32_t core : device.cores)
      near.cores.insert(near.cores.end(), parts[core].begin(), parts[core].end());
    split.devices.push_back(std::move(near));
  }
  return split;
}

std::string numbers(std::vector<int> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::string text;
  for (const int number : list) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

Placement placement_of(const Machine& machine, const std::vector<uint32_t>& cores,
                       const std::string& near) {
  Placement placement;
  std::vector<int> domains;
  for (const uint32_t core : cores) {
    const auto& cpus = machine.cores[core].cpus;
    placement.cpus.insert(placement.cpus.end(), cpus.begin(), cpus.end());
    domains.push_back(static_cast<int>(machine.cores[core].domain));
  }
  placement.description =
      "CPUs " + numbers(placement.cpus) + " of NUMA node " + numbers(domains) + near;
  return placement;
}

/// The one whose turn it is.
const NearDevice* device_of(const Machine& machine, Rank rank) {
  return machine.devices.empty() ? nullptr : &machine.devices[rank % machine.devices.size()];
}

/// The PCI ports of dpdk, which ranks of a host take in turns, or the interface of them all.
std::vector<std::string> devices_of(const Settings& settings) {
  if (settings.driver == DriverChoice::kShm) return {};
  if (!settings.dpdk_pci.empty()) return split_words(settings.dpdk_pci, ", ");
  return split_words(settings.dpdk_iface, ", ");
}

}  // namespace

Result<std::vector<Placement>> place_ranks(const Machine& machine, Rank ranks,
                                           uint32_t cores_per_rank) {
  const uint64_t wanted = uint64_t{ranks} * cores_per_rank;
  if (wanted > machine.cores.size()) {
    const Machine threads = split_cores(machine);
    if (threads.cores.size() > machine.cores.size() && wanted <= threads.cores.size())
      return place_ranks(threads, ranks, cores_per_rank);
    return error(
        "%u ranks with %u cores each do not fit on the %zu cores that may be used here: fewer of "
        "them, or no --bind",
        ranks, cores_per_rank, machine.cores.size());
  }
  // Ranks that want a place near their device choose first, then those whose places are taken.
  FreeCores free(machine);
  std::vector<Placement> placements(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const NearDevice* device = device_of(machine, rank);
    if (device == nullptr || device->cores.empty()) continue;
    const auto cores = free.take(device->cores, cores_per_rank);
    if (!cores.empty()) placements[rank] = placement_of(machine, cores, ", near " + device->name);
  }
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (!placements[rank].cpus.empty()) continue;
    const NearDevice* device = device_of(machine, rank);
    const std::string far = device == nullptr ? ""
                            : device->cores.empty()
                                ? ": nothing is known of where " + device->name + " is"
                                : ": no core near " + device->name + " is left";
    placements[rank] = placement_of(machine, free.take({}, cores_per_rank), far);
  }
  return placements;
}

std::vector<uint32_t> free_cpus(const Machine& machine, const std::vector<Placement>& placements) {
  const auto is_taken = [&](int cpu) {
    return std::any_of(placements.begin(), placements.end(), [cpu](const Placement& one) {
      return std::find(one.cpus.begin(), one.cpus.end(), cpu) != one.cpus.end();
    });
  };
  std::vector<uint32_t> free;
  for (const Core& core : machine.cores)
    for (const int cpu : core.cpus)
      if (!is_taken(cpu)) free.push_back(static_cast<uint32_t>(cpu));
  std::sort(free.begin(), free.end());
  return free;
}

Status bind_ranks(const Settings& settings, uint32_t cores_per_rank, LocalPlan& plan) {
  auto machine = look_at_machine(devices_of(settings));
  if (!machine) return machine.error();
  auto placements = place_ranks(*machine, plan.count, cores_per_rank);
  if (!placements) return placements.error();
  for (Rank i = 0; i < plan.count; ++i) {
    const Placement& placement = (*placements)[i];
    plan.own[i].cpus = placement.cpus;
    if (settings.verbose_env)
      log_note("rank %u is bound to %s", plan.first + i, placement.description.c_str());
  }
  set_variable(plan.environment, "GASNET_JOB_FREE_CPUS",
               cpu_list(free_cpus(*machine, *placements)));
  return success();
}

}  // namespace pinwire::launch
