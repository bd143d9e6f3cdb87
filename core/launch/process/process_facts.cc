#include "core/launch/process/process_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>

#include "core/base/files/number_file.h"
#include "core/launch/loop/fd.h"

namespace pinwire::launch {
namespace {

/// `folder` below /proc: a process's number or "self".
std::string read_file_in(const std::string& folder, const std::string& name) {
  const Fd file(::open(("/proc/" + folder + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[16384];
  for (ssize_t got; file && (got = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(got));
  return text;
}

/// Whether /proc counts processes as this one does: it may be that of an outer PID namespace
/// (`unshare -p -f` without --mount-proc), and tells of strangers by our numbers then.
bool proc_is_ours() {
  char number[16] = {};
  return ::readlink("/proc/self", number, sizeof number - 1) > 0 && std::atoi(number) == ::getpid();
}

/// Empty where /proc would tell of a stranger.
std::string read_file(pid_t process, const std::string& name) {
  return proc_is_ours() ? read_file_in(std::to_string(process), name) : "";
}

/// From /proc/PID/stat (proc(5) numbers its fields); without a state: there is no such process.
struct Stat {
  char state = 0;
  uint64_t processor_ticks = 0;
  uint64_t thread_count = 0;
  uint64_t birth_ticks = 0;
  uint64_t environment_begin = 0, environment_end = 0;  // addresses; 0 where they may not be read
  std::optional<int> wait_status;  // of one that has ended; 0 where it may not be read
};

Stat stat_from(const std::string& text) {
  // The name in field 2 may have blanks and parentheses.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::vector<std::string> from_3{std::istream_iterator<std::string>(fields), {}};
  if (from_3.empty()) return {};
  // Some sandboxes show fewer fields than Linux does.
  const auto number = [&](size_t field) -> uint64_t {
    const size_t at = field - 3;
    return at < from_3.size() ? std::strtoull(from_3[at].c_str(), nullptr, 10) : 0;
  };
  return {.state = from_3[0][0],
          .processor_ticks = number(14) + number(15),
          .thread_count = number(20),
          .birth_ticks = number(22),
          .environment_begin = number(50),
          .environment_end = number(51),
          .wait_status =
              from_3.size() > 52 - 3 ? std::optional(static_cast<int>(number(52))) : std::nullopt};
}

Stat stat_of(pid_t process) { return stat_from(read_file(process, "stat")); }

bool is_end(const Stat& stat) {
  return stat.state == 0 || stat.state == 'X' || (stat.state == 'Z' && stat.thread_count <= 1);
}

/// Whether this process may trace it: only then does its stat tell how it ended.
bool may_be_read(pid_t process) {
  const auto link = "/proc/" + std::to_string(process) + "/exe";
  char path[1];
  // The kernel asks for the right before it looks for a program, which a zombie has no more.
  return ::readlink(link.c_str(), path, sizeof path) >= 0 || errno == ENOENT;
}

/// Whether this process is the parent of a zombie, and cannot reap it: a tracer, which may be
/// outside of this namespace of processes, comes first.
bool is_kept_from_its_parent(pid_t zombie) {
  siginfo_t found{};
  return ::waitid(P_PID, static_cast<id_t>(zombie), &found, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         found.si_pid == 0;
}

/// Whether one of its threads is in a wait that no signal ends.
bool any_thread_waits(pid_t process) {
  const auto folder = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = list ? ::readdir(list.get()) : nullptr)
    if (const pid_t thread = std::atoi(entry->d_name); thread > 0 && stat_of(thread).state == 'D')
      return true;
  return false;
}

}  // namespace

uint64_t birth_ticks(pid_t process) { return stat_of(process).birth_ticks; }

bool has_ended(pid_t process) { return is_end(stat_of(process)); }

std::string HeldEnd::sentence() const {
  const auto debugger = tracer != 0 ? "a debugger (process " + std::to_string(tracer) + ")"
                                    : "a debugger that has no number here";
  return "it has ended, but " + debugger + " traces it, and has not let it go";
}

std::optional<HeldEnd> held_end_of(pid_t process) {
  const Stat stat = stat_of(process);
  if (!is_end(stat)) return std::nullopt;
  const auto status = "/proc/" + std::to_string(process) + "/status";
  HeldEnd held{.tracer = static_cast<pid_t>(number_in(status.c_str(), "TracerPid:"))};
  if (held.tracer == 0 && !is_kept_from_its_parent(process)) return std::nullopt;
  if (may_be_read(process)) held.wait_status = stat.wait_status;
  return held;
}

std::string why_not_killed(pid_t process) {
  if (::kill(process, 0) != 0 && errno == EPERM)
    return "it acts for another user now (set-user-ID, sudo), and the launcher may not kill it";
  if (const auto held = held_end_of(process)) return held->sentence();
  return any_thread_waits(process)
             ? "it waits in the kernel (state D), as for a file server that does not answer"
             : "";
}

Activity activity_of(pid_t process) {
  const Stat stat = stat_of(process);
  return {.state = stat.state, .processor_ticks = stat.processor_ticks};
}

std::string name_of(pid_t process) {
  const std::string line = read_file(process, "comm");
  return line.substr(0, line.find('\n'));
}

std::string environment_of(pid_t process) { return '\0' + read_file(process, "environ"); }

bool has_in_environment(pid_t process, const std::string& assignment) {
  return environment_of(process).find('\0' + assignment + '\0') != std::string::npos;
}

std::span<char> shown_environment() {
  // The kernel resolves "self" for its reader, whatever namespace /proc is of.
  const Stat stat = stat_from(read_file_in("self", "stat"));
  if (stat.environment_end <= stat.environment_begin) return {};
  return {reinterpret_cast<char*>(stat.environment_begin),
          reinterpret_cast<char*>(stat.environment_end)};
}

uint64_t real_time_limit_us(pid_t process) {
  constexpr std::string_view kName = "Max realtime timeout";
  const std::string limits = read_file(process, "limits");
  const auto line = limits.find(kName);
  // "unlimited" is no number.
  return line == std::string::npos
             ? 0
             : std::strtoull(limits.c_str() + line + kName.size(), nullptr, 10);
}

std::vector<pid_t> children_now() {
  const pid_t self = ::getpid();
  std::istringstream list(read_file(self, "task/" + std::to_string(self) + "/children"));
  std::vector<pid_t> children;
  for (pid_t one; list >> one;) children.push_back(one);
  return children;
}

}  // namespace pinwire::launch
