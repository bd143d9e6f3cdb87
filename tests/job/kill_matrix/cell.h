// One cell of the kill matrix: who gets which signal in which phase of a job.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace pinwire_test {

enum class Target { kLauncher, kAgent, kSwitch, kJanitor, kRank, kMpirun, kSrun };
/// kAtOnce: not later than when ranks start, at any moment from the victim's birth on.
enum class Phase { kAtOnce, kStarting, kRunning, kExiting };

struct Cell {
  Target target;
  int signal;  ///< SIGSTOP: and SIGCONT after it
  Phase phase;
  bool over_dpdk = false;  ///< with a switch, whose start is a phase of its own; of kLauncher alone
};

inline constexpr int kClientsCode = 7;

const std::vector<Target>& all_targets();
const std::vector<int>& all_signals();
std::string name_of(Target target);
std::string name_of_signal(int number);
std::string name_of(Phase phase);
std::string name_of(const Cell& cell);

bool has_switch(const Cell& cell);
/// Whether the job goes on as if nothing had happened.
bool goes_on(const Cell& cell);
/// The exit codes that are right; empty: any but 0.
std::set<int> right_codes(const Cell& cell);
/// Whether the target itself, no process of Pinwire's, may crash or stay there without ranks:
/// mpirun of Open MPI 4.1 does in some of ten runs when it is to end while ranks are in a fence of
/// PMIx, as in gasnet_exit().
bool may_fail_itself(const Cell& cell);
/// A part of the sentence that standard error must have, as the user sees no other reason for the
/// end; may be empty.
std::string sentence_of(const Cell& cell);

}  // namespace pinwire_test
