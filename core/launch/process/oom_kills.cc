#include "core/launch/process/oom_kills.h"

#include <fstream>
#include <utility>

#include "core/base/files/number_file.h"

namespace pinwire::launch {
namespace {

constexpr const char* kCgroups = "/sys/fs/cgroup";

uint64_t oom_kills_in(const std::string& path) { return number_in(path.c_str(), "oom_kill "); }

/// The counter of the memory cgroup of this process, in the first version's hierarchy or in the
/// unified one; empty if there is none. A container may see another path than where its cgroup is
/// mounted.
std::string counter_of_cgroup(const std::string& root) {
  std::ifstream list(root + "/proc/self/cgroup");
  for (std::string line; std::getline(list, line);) {  // NUMBER:CONTROLLERS:PATH
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_unified = controllers == ",,";
    if (!is_unified && controllers.find(",memory,") == std::string::npos) continue;
    const std::string mount = is_unified ? "" : "/memory";
    const std::string file = is_unified ? "/memory.events" : "/memory.oom_control";
    for (const auto& folder : {line.substr(second + 1), std::string()}) {
      const auto path = kCgroups + mount + (folder == "/" ? "" : folder) + file;
      if (std::ifstream(root + path)) return path;
    }
  }
  return "";
}

}  // namespace

OomKills::OomKills(std::string root)
    : root_(std::move(root)), cgroup_{counter_of_cgroup(root_)}, machine_{"/proc/vmstat"} {
  for (Counter* counter : {&cgroup_, &machine_})
    if (!counter->path.empty()) counter->explained = oom_kills_in(root_ + counter->path);
}

bool OomKills::take(Counter& counter) const {
  if (counter.path.empty() || oom_kills_in(root_ + counter.path) <= counter.explained) return false;
  ++counter.explained;
  return true;
}

std::string OomKills::explain() {
  const bool on_machine = take(machine_);
  if (take(cgroup_)) {
    return "the kernel killed for want of memory (" + cgroup_.path +
           ": oom_kill): its cgroup may have more, or fewer ranks may run there";
  }
  if (!on_machine) return "";
  return "the kernel killed for want of memory on this machine meanwhile, and this may be why "
         "(dmesg names whom it killed)";
}

}  // namespace pinwire::launch
