#include "tests/job/kill_matrix/own_folders.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/job/launch/run.h"

namespace pinwire_test {
namespace {

/// Other tests leave names in folders that all can see; the launcher's and the library's begin so.
constexpr const char* kNames[] = {"pinwire", "rank", "dtap", "br0"};

bool owns_shm = false, owns_tmp = false;

void add_names(std::vector<std::string>& list, const std::string& folder, bool all) {
  for (const auto& name : entries(folder, "")) {
    const bool ours = std::any_of(std::begin(kNames), std::end(kNames),
                                  [&name](const char* start) { return name.starts_with(start); });
    // The tests' own directories are removed by those that made them.
    if ((all || ours) && !name.starts_with("launch-test-")) list.push_back(folder + "/" + name);
  }
}

std::vector<std::string> folders_of_huge_pages() {
  std::vector<std::string> folders;
  std::ifstream mounts("/proc/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, folder, kind;
    words >> device >> folder >> kind;
    if (kind == "hugetlbfs") folders.push_back(folder);
  }
  return folders;
}

}  // namespace

void take_own_folders(const std::vector<std::string>& programs) {
  if (::unshare(CLONE_NEWNS) != 0) return;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  const auto own = [](const char* folder, const char* mode) {
    return ::mount("none", folder, "tmpfs", 0, mode) == 0;
  };
  owns_shm = own("/dev/shm", "mode=1777");
  const bool reachable = std::none_of(programs.begin(), programs.end(), [](const auto& program) {
    return program.starts_with("/tmp/");
  });
  owns_tmp = reachable && own("/tmp", "mode=1777");
}

std::vector<std::string> traces_of_jobs() {
  std::vector<std::string> list;
  if (owns_shm) add_names(list, "/dev/shm", true);
  if (owns_tmp) add_names(list, "/tmp", true);
  add_names(list, "/sys/class/net", false);
  add_names(list, "/run/netns", true);
  for (const auto& folder : folders_of_huge_pages()) add_names(list, folder, false);
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace pinwire_test
