#include "core/launch/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/descriptors/no_descriptor.h"
#include "core/launch/loop/signals.h"
#include "core/launch/process/job_mark.h"

namespace pinwire::launch {
namespace {

rlimit limit_before{};

enum class Step : int { kParent, kNamespace, kCpus, kAddresses, kFiles, kExec };
struct ChildTrouble {
  Step step;
  int os_error;
};

const char* step_name(Step step) {
  switch (step) {
    case Step::kParent:
      return "the launcher died meanwhile";
    case Step::kNamespace:
      return "cannot enter its network namespace";
    case Step::kCpus:
      return "cannot be bound to its cores";
    case Step::kAddresses:
      return "cannot have an address layout that is not random, as --no-aslr asks (personality(2))";
    case Step::kFiles:
      return "cannot set up its standard files";
    case Step::kExec:
      return "cannot be executed";
  }
  return "";
}

void fail_child(int report_fd, Step step) {
  const ChildTrouble trouble{step, errno};
  [[maybe_unused]] const auto wrote = ::write(report_fd, &trouble, sizeof trouble);
  ::_exit(127);
}

bool bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

bool keep_addresses() {
  constexpr unsigned long kAsk = 0xffffffff;
  const int now = ::personality(kAsk);
  return now != -1 && ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1;
}

bool set_files(const ProcessPlan& plan) {
  const int in = plan.stdin_fd >= 0 ? plan.stdin_fd : ::open("/dev/null", O_RDONLY);
  if (in < 0 || (in != 0 && ::dup2(in, 0) < 0)) return false;
  if (plan.stdout_fd != 1 && ::dup2(plan.stdout_fd, 1) < 0) return false;
  if (plan.stderr_fd != 2 && ::dup2(plan.stderr_fd, 2) < 0) return false;
  return plan.kept_fd < 0 || ::fcntl(plan.kept_fd, F_SETFD, 0) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const auto& one : strings) list.push_back(const_cast<char*>(one.c_str()));
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void become(const ProcessPlan& plan, const JobMark& mark, char** arguments,
                         char** environment, pid_t parent, int report_fd) {
  // The order matters: the kernel's promise first, then whether it came too late.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)
    fail_child(report_fd, Step::kParent);
  if (plan.own_session) ::setsid();
  if (plan.own_group) ::setpgid(0, 0);
  if (plan.net_namespace_fd >= 0 && ::setns(plan.net_namespace_fd, CLONE_NEWNET) != 0)
    fail_child(report_fd, Step::kNamespace);
  if (!plan.cpus.empty() && !bind_to(plan.cpus)) fail_child(report_fd, Step::kCpus);
  if (plan.no_aslr && !keep_addresses()) fail_child(report_fd, Step::kAddresses);
  if (!set_files(plan)) fail_child(report_fd, Step::kFiles);
  if (limit_before.rlim_max != 0) ::setrlimit(RLIMIT_NOFILE, &limit_before);
  mark.put_on_limits();
  restore_signals();
  ::execve(plan.path.c_str(), arguments, environment);
  fail_child(report_fd, Step::kExec);
  ::_exit(127);
}

bool is_program(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

void raise_descriptor_limit() {
  if (limit_before.rlim_max != 0) return;  // for an earlier job
  if (::getrlimit(RLIMIT_NOFILE, &limit_before) != 0) return;
  rlimit limit = limit_before;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<StartingProcess> begin_process(const ProcessPlan& plan) {
  auto report = make_pipe();
  if (!report) return report.error();
  auto arguments = pointers(plan.arguments);
  auto environment = pointers(plan.environment);
  const auto mark = JobMark::in(plan.environment);
  const pid_t parent = ::getpid();
  auto forked = fork_child();
  if (!forked) return error("%s: %s", plan.path.c_str(), forked.sentence().c_str());
  const pid_t child = *forked;
  if (child == 0)
    become(plan, mark, arguments.data(), environment.data(), parent, report->write.get());
  ::fcntl(report->read.get(), F_SETFL, O_NONBLOCK);
  return StartingProcess{ChildProcess(child), StartReport(std::move(report->read), plan.path)};
}

std::optional<Status> StartReport::read() {
  if (!pipe_) return std::nullopt;
  ChildTrouble trouble{};
  ssize_t got;
  do {
    got = ::read(pipe_.get(), &trouble, sizeof trouble);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  pipe_.reset();
  if (got != sizeof trouble) return success();  // exec closed the pipe
  return error("%s %s: %s%s", path_.c_str(), step_name(trouble.step),
               std::strerror(trouble.os_error),
               trouble.os_error == ENOEXEC ? " (a script needs a first line like #!/bin/sh)" : "");
}

Result<std::string> find_program(const std::string& program) {
  if (program.empty()) return error("no program is named");
  const EndsBySignal looking;  // perhaps where a file server does not answer
  if (program.find('/') == std::string::npos) {
    const char* path = std::getenv("PATH");
    std::string list = path ? path : "/usr/local/bin:/usr/bin:/bin";
    for (size_t at = 0; at <= list.size();) {
      const auto end = std::min(list.find(':', at), list.size());
      const std::string folder = end == at ? "." : list.substr(at, end - at);
      if (const auto candidate = folder + "/" + program; is_program(candidate)) return candidate;
      at = end + 1;
    }
    if (is_program("./" + program)) return "./" + program;
    return error("no program \"%s\" in PATH or in the working directory", program.c_str());
  }
  struct stat facts {};
  if (::stat(program.c_str(), &facts) != 0)
    return error("cannot run \"%s\": %s", program.c_str(), std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return error("cannot run \"%s\": it is no file", program.c_str());
  if (!is_program(program))
    return error("cannot run \"%s\": it is not executable (chmod +x?)", program.c_str());
  return program;
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return error("cannot make a pipe: %s", no_descriptor(errno).c_str());
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<std::pair<Fd, Fd>> make_socket_pair(const std::string& whose) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return error("cannot make the socket of %s: %s", whose.c_str(), no_descriptor(errno).c_str());
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

}  // namespace pinwire::launch
