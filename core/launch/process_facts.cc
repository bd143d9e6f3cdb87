#include "core/launch/process_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/launch/fd.h"

namespace pinwire::launch {
namespace {

std::string read_file(pid_t process, const std::string& name) {
  const Fd file(
      ::open(("/proc/" + std::to_string(process) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[16384];
  for (ssize_t got; file && (got = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(got));
  return text;
}

}  // namespace

uint64_t birth_ticks(pid_t process) {
  constexpr int kFieldsBefore = 19;  // between the name, which may have blanks, and field 22
  const std::string text = read_file(process, "stat");
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 0; field < kFieldsBefore; ++field) fields >> skipped;
  uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

std::string name_of(pid_t process) {
  const std::string line = read_file(process, "comm");
  return line.substr(0, line.find('\n'));
}

bool has_in_environment(pid_t process, const std::string& assignment) {
  const std::string environment = '\0' + read_file(process, "environ");
  return environment.find('\0' + assignment + '\0') != std::string::npos;
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
