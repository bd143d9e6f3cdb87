// A running pinwire_switch.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace pinwire {

class SwitchProcess {
 public:
  /// Returns when it said "ready"; throws if it never does.
  SwitchProcess(uint32_t ports, const std::string& directory, const std::vector<std::string>& more);
  ~SwitchProcess();
  SwitchProcess(const SwitchProcess&) = delete;
  SwitchProcess& operator=(const SwitchProcess&) = delete;
  /// Ends it with SIGTERM; what it said last, "" if it did not end well.
  std::string stop();

 private:
  std::string read_line();
  pid_t pid_ = -1;
  int output_fd_ = -1;
};

}  // namespace pinwire
