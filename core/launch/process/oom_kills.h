// How often the kernel killed for want of memory: it does so by SIGKILL, and says it in counters
// alone.
#pragma once

#include <cstdint>
#include <string>

namespace pinwire::launch {

class OomKills {
 public:
  /// Counts from now on. `root`: where /proc and /sys are; tests have their own.
  explicit OomKills(std::string root = "");
  /// For a process below this one that died of a SIGKILL which none of its own sent: a sentence's
  /// end on where the kernel killed meanwhile; empty if it did not. It accounts for one kill.
  std::string explain();

 private:
  struct Counter {
    std::string path;
    uint64_t explained = 0;
  };
  bool take(Counter& counter) const;
  std::string root_;
  Counter cgroup_;   // no path: it cannot be read
  Counter machine_;  // of all cgroups
};

}  // namespace pinwire::launch
