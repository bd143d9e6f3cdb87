#include "tests/job/kill_matrix/matrix_job.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/job/kill_matrix/own_folders.h"

namespace pinwire_test {
namespace {

constexpr double kHangSeconds = 60;
constexpr int kRanks = 3, kHung = 124;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A directory of mpirun's own, which it leaves when it is killed.
bool is_mpiruns(const std::string& name) {
  return name.starts_with("ompi.") || name.starts_with("prte") || name.starts_with("pmix");
}

/// True once `done()`, false if not for kHangSeconds.
template <typename Done>
bool comes(const Done& done) {
  for (const double until = now_s() + kHangSeconds; now_s() < until; ::usleep(1000))
    if (done()) return true;
  return false;
}

std::vector<std::string> environment_of(const Cell& cell, const std::string& folder,
                                        const std::string& mark, std::vector<std::string> more) {
  more.insert(more.end(),
              {mark, "GASNET_TMPDIR=" + folder, "TMPDIR=" + folder, "GASNET_DPDK_HUGEPAGES=never",
               "GASNET_EXITTIMEOUT=30",  // else a busy machine ends the phase kExiting
               std::string("GASNET_DRIVER=") + (has_switch(cell) ? "dpdk" : "shm"),
               "GASNET_SSH_CMD=" + variable("FAKE_SSH")});
  return more;
}

}  // namespace

MatrixJob::MatrixJob(const Cell& cell, const std::vector<std::string>& more)
    : cell_(cell),
      mark_("KILL_MATRIX_MARK=" + folder_.path()),
      traces_before_(traces_of_jobs()),
      job_(std::make_unique<Running>(words(), environment_of(cell, folder_.path(), mark_, more))) {}

MatrixJob::~MatrixJob() {
  for (const int left : processes_with(mark_)) ::kill(left, SIGKILL);
  job_.reset();
  // Those that this process adopted.
  for (siginfo_t ended{}; ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG) == 0 && ended.si_pid != 0;)
    ended = {};
  for (const auto& left : entries(folder_.path(), ""))
    std::filesystem::remove_all(folder_.path() + "/" + left);
}

std::vector<std::string> MatrixJob::words() const {
  std::vector<std::string> list = {variable("GASNETRUN")};
  switch (cell_.target) {
    case Target::kAgent:
      list.insert(list.end(), {"--hosts", "n0,n1"});
      break;
    case Target::kMpirun:
      list = {"mpirun", "--allow-run-as-root", "--oversubscribe"};
      break;
    case Target::kSrun:
      list = {"srun", "-K", "--mpi=pmix", "-N", "1"};
      break;
    default:
      break;
  }
  list.insert(list.end(), {"-n", std::to_string(kRanks), variable("CLIENT"), gates_.path()});
  return list;
}

void MatrixJob::open(const char* gate) const { std::ofstream(gates_.path() + "/" + gate).close(); }

/// Whether the client `rank` comes there.
bool MatrixJob::reach(const std::string& phase, int rank) const {
  const auto start = phase + "." + std::to_string(rank) + ".";
  return comes([&] { return !entries(gates_.path(), start).empty(); });
}

/// 0: it is not there, not yet perhaps.
int MatrixJob::victim() const {
  const int launcher = job_->process();
  switch (cell_.target) {
    case Target::kAgent:
      return child_with(launcher, "cmdline", "--agent");
    case Target::kSwitch:
      return child_with(launcher, "comm", "pinwire_switch");
    case Target::kJanitor:
      return child_with(launcher, "comm", "pinwire-janitor");
    case Target::kRank: {
      const auto names = entries(gates_.path(), "starting.1.");
      return names.empty() ? 0 : std::atoi(names[0].c_str() + std::string("starting.1.").size());
    }
    case Target::kLauncher: {
      // At once: while its switch starts, not before it.
      const bool waits = cell_.over_dpdk && cell_.phase == Phase::kAtOnce;
      return !waits || child_with(launcher, "comm", "pinwire_switch") > 1 ? launcher : 0;
    }
    default:
      return launcher;
  }
}

std::optional<std::string> MatrixJob::strike(unsigned delay_us, unsigned stop_us) {
  bool there = true;
  if (cell_.phase != Phase::kAtOnce)
    for (int rank = 0; rank < kRanks; ++rank) there = there && reach("starting", rank);
  if (cell_.phase == Phase::kRunning || cell_.phase == Phase::kExiting) {
    open("start");
    for (int rank = 0; rank < kRanks; ++rank) there = there && reach("running", rank);
  }
  if (cell_.phase == Phase::kExiting) {
    open("exit");
    there = there && reach("exiting", 0);
  }
  int process = 0;
  there = there && comes([&] { return (process = victim()) > 1; });
  if (!there) return "the phase was not reached: " + job_->wait(0).err;
  ::usleep(delay_us);
  struck_s_ = now_s();
  if (cell_.signal == SIGSTOP) return stop_and_continue(process, stop_us);
  if (::kill(process, cell_.signal) != 0) return "the process has ended: " + job_->wait(0).err;
  return std::nullopt;
}

std::optional<std::string> MatrixJob::stop_and_continue(int process, unsigned stop_us) const {
  if (::kill(process, SIGSTOP) != 0 || !comes_into_state(process, 'T', kHangSeconds))
    return "it does not stop";
  ::usleep(stop_us);
  ::kill(process, SIGCONT);
  return std::nullopt;
}

std::vector<std::string> MatrixJob::left() const {
  std::vector<std::string> list;
  for (const int process : processes_with(mark_))
    list.push_back("process " + std::to_string(process) + " " + words_of(process, "comm"));
  for (const auto& name : entries(folder_.path(), ""))
    if (!is_mpiruns(name)) list.push_back("file " + name);
  const auto now = traces_of_jobs();
  std::set_difference(now.begin(), now.end(), traces_before_.begin(), traces_before_.end(),
                      std::back_inserter(list));
  return list;
}

/// Its ranks are what counts: when they are gone it gets some time, and is killed if it stays.
Outcome MatrixJob::end_of_target() const {
  constexpr double kAlone = 10;
  const std::vector<int> target = {job_->process()};
  comes([&] {
    const auto now = processes_with(mark_);
    return now.empty() || now == target;
  });
  const auto outcome = job_->wait(kAlone);
  if (outcome.code != kHung || processes_with(mark_) != target) return outcome;
  std::printf("%s stays without ranks\n", name_of(cell_.target).c_str());
  ::kill(target[0], SIGKILL);
  return job_->wait(kHangSeconds);
}

MatrixJob::Verdict MatrixJob::end() {
  // Were the job over, nobody would have to be told any more.
  if (goes_on(cell_) && !sentence_of(cell_).empty())
    job_->wait_for_error(sentence_of(cell_), 1, kHangSeconds);
  if (goes_on(cell_))
    for (const char* gate : {"start", "exit", "last"}) open(gate);
  // A rank that has not called gasnet_init() yet learns of the end of mpirun there.
  if (cell_.target == Target::kMpirun || cell_.target == Target::kSrun) open("start");
  Verdict verdict;
  verdict.outcome = may_fail_itself(cell_) ? end_of_target() : job_->wait(kHangSeconds);
  // Processes that outlive their launcher end soon after it.
  comes([&] { return (verdict.left = left()).empty(); });
  verdict.seconds = now_s() - struck_s_;
  return verdict;
}

}  // namespace pinwire_test
