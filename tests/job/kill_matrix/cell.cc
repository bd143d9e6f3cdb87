#include "tests/job/kill_matrix/cell.h"

#include <signal.h>

#include <map>

namespace pinwire_test {

const std::vector<Target>& all_targets() {
  static const std::vector<Target> all = {Target::kLauncher, Target::kAgent, Target::kSwitch,
                                          Target::kJanitor,  Target::kRank,  Target::kMpirun,
                                          Target::kSrun};
  return all;
}

const std::vector<int>& all_signals() {
  static const std::vector<int> all = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL, SIGSTOP};
  return all;
}

std::string name_of(Target target) {
  static const std::map<Target, std::string> names = {
      {Target::kLauncher, "launcher"}, {Target::kAgent, "agent"}, {Target::kSwitch, "switch"},
      {Target::kJanitor, "janitor"},   {Target::kRank, "rank"},   {Target::kMpirun, "mpirun"},
      {Target::kSrun, "srun"}};
  return names.at(target);
}

std::string name_of_signal(int number) {
  static const std::map<int, std::string> names = {{SIGINT, "INT"},   {SIGTERM, "TERM"},
                                                   {SIGHUP, "HUP"},   {SIGQUIT, "QUIT"},
                                                   {SIGKILL, "KILL"}, {SIGSTOP, "STOP_CONT"}};
  return names.at(number);
}

std::string name_of(Phase phase) {
  static const std::map<Phase, std::string> names = {{Phase::kAtOnce, "at_once"},
                                                     {Phase::kStarting, "starting"},
                                                     {Phase::kRunning, "running"},
                                                     {Phase::kExiting, "exiting"}};
  return names.at(phase);
}

std::string name_of(const Cell& cell) {
  return name_of(cell.target) + "_" + name_of_signal(cell.signal) + "_" + name_of(cell.phase) +
         (cell.over_dpdk ? "_over_dpdk" : "");
}

bool has_switch(const Cell& cell) { return cell.over_dpdk || cell.target == Target::kSwitch; }

bool goes_on(const Cell& cell) {
  // A janitor waits for its launcher's end, and what it would have swept the launcher sweeps. srun
  // answers a first SIGINT with a report.
  return cell.signal == SIGSTOP || cell.target == Target::kJanitor ||
         (cell.target == Target::kSrun && cell.signal == SIGINT);
}

bool may_fail_itself(const Cell& cell) {
  return cell.target == Target::kMpirun && cell.phase == Phase::kExiting && !goes_on(cell);
}

std::set<int> right_codes(const Cell& cell) {
  // At once srun may not have its handler yet.
  if (cell.target == Target::kSrun && cell.signal == SIGINT && cell.phase == Phase::kAtOnce)
    return {kClientsCode, 128 + SIGINT};
  if (goes_on(cell)) return {kClientsCode};
  const int by_signal = 128 + cell.signal;
  std::set<int> codes;
  switch (cell.target) {
    case Target::kLauncher:
      codes = {by_signal};
      if (cell.signal == SIGKILL) return codes;
      break;
    case Target::kRank:
      // The library turns what would end its process into SIGQUIT (C1-104).
      codes = {by_signal, 128 + SIGQUIT};
      break;
    case Target::kAgent:
    case Target::kSwitch:
      codes = {1};
      if (cell.phase == Phase::kAtOnce) codes.insert(2);  // a job that could not be started
      break;
    default:
      return {};
  }
  // The first cause counts, and that was gasnet_exit() (C1-101).
  if (cell.phase == Phase::kExiting) codes.insert(kClientsCode);
  return codes;
}

std::string sentence_of(const Cell& cell) {
  if (cell.signal == SIGSTOP) return "";
  if (cell.target == Target::kJanitor)
    return cell.signal == SIGKILL ? "was killed by signal 9 (Killed): were this process" : "";
  if (cell.phase == Phase::kAtOnce) return "";
  if (cell.target == Target::kSwitch) return "it carried all frames between the ranks";
  if (cell.target == Target::kAgent) return "host n";
  return "";
}

}  // namespace pinwire_test
