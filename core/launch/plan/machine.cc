#include "core/launch/plan/machine.h"

#include <hwloc.h>

#include <memory>

namespace pinwire::launch {
namespace {

struct Freed {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Topology = std::unique_ptr<hwloc_topology, Freed>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Freed>;

Result<Topology> load_topology(bool with_devices) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return error("hwloc cannot start");
  Topology topology(raw);
  if (with_devices) {
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    // Graphics are not asked for, and take seconds to start.
    for (const char* slow : {"cuda", "gl", "levelzero", "nvml", "opencl", "rsmi"})
      hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, slow);
  }
  if (hwloc_topology_load(raw) != 0)
    return error("hwloc cannot read this host's topology; without --bind it is not needed");
  return topology;
}

/// The CPUs that this process may run on. The topology of another machine yields all that it
/// allows.
Bitmap usable_cpus(hwloc_topology_t topology) {
  Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  Bitmap mask(hwloc_bitmap_alloc());
  if (hwloc_topology_is_thissystem(topology) != 0 &&
      hwloc_get_cpubind(topology, mask.get(), HWLOC_CPUBIND_THREAD) == 0) {
    hwloc_bitmap_and(usable.get(), usable.get(), mask.get());
  }
  return usable;
}

void add_cores(hwloc_topology_t topology, hwloc_const_cpuset_t usable, Machine& machine) {
  // Some virtual machines have no cores, only what they run on.
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const auto type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  const auto seek = [&](hwloc_obj_t after) {
    return hwloc_get_next_obj_by_type(topology, type, after);
  };
  for (hwloc_obj_t at = seek(nullptr); at != nullptr; at = seek(at)) {
    Core core{{}, 0};
    unsigned cpu = 0;
    hwloc_bitmap_foreach_begin(cpu, at->cpuset) if (hwloc_bitmap_isset(usable, cpu))
        core.cpus.push_back(static_cast<int>(cpu));
    hwloc_bitmap_foreach_end();
    if (core.cpus.empty()) continue;
    const int node = at->nodeset != nullptr ? hwloc_bitmap_first(at->nodeset) : 0;
    const hwloc_obj_t domain =
        node < 0 ? nullptr
                 : hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(node));
    core.domain = domain != nullptr ? domain->logical_index : 0;
    machine.domain_count = std::max(machine.domain_count, core.domain + 1);
    machine.cores.push_back(std::move(core));
  }
}

hwloc_obj_t find_device(hwloc_topology_t topology, const std::string& name) {
  if (const auto pci = hwloc_get_pcidev_by_busidstring(topology, name.c_str())) return pci;
  hwloc_obj_t interface = nullptr;
  while ((interface = hwloc_get_next_osdev(topology, interface)) != nullptr)
    if (interface->name != nullptr && name == interface->name) return interface;
  return nullptr;
}

NearDevice look_at_device(hwloc_topology_t topology, const std::string& name,
                          const Machine& machine) {
  NearDevice device{name, {}};
  const hwloc_obj_t found = find_device(topology, name);
  const hwloc_obj_t place =
      found != nullptr ? hwloc_get_non_io_ancestor_obj(topology, found) : nullptr;
  if (place == nullptr || place->cpuset == nullptr) return device;
  for (uint32_t i = 0; i < machine.cores.size(); ++i) {
    const auto cpu = static_cast<unsigned>(machine.cores[i].cpus[0]);
    if (hwloc_bitmap_isset(place->cpuset, cpu)) device.cores.push_back(i);
  }
  return device;
}

}  // namespace

Result<Machine> look_at_machine(const std::vector<std::string>& devices) {
  auto topology = load_topology(!devices.empty());
  if (!topology) return topology.error();
  Machine machine;
  add_cores(topology->get(), usable_cpus(topology->get()).get(), machine);
  if (machine.cores.empty()) return error("this process may use none of this host's cores");
  for (const auto& name : devices)
    machine.devices.push_back(look_at_device(topology->get(), name, machine));
  return machine;
}

}  // namespace pinwire::launch
