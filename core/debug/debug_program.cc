#include "core/debug/debug_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/privilege.h"

namespace pinwire {
namespace {

constexpr int kWaitsPerSecond = 100;

[[noreturn]] void become(const char* path, const char* const* arguments, int output) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it has nothing to do without the process that it looks at
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0 && dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(null, 2) == 2) {
    execve(path, const_cast<char* const*>(arguments), environ);
  }
  _exit(127);
}

void wait_for(pid_t child, int limit_s) noexcept {
  const timespec pause{0, 1'000'000'000 / kWaitsPerSecond};
  for (int turn = 0; turn < limit_s * kWaitsPerSecond; ++turn) {
    const pid_t ended = waitpid(child, nullptr, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return;
    nanosleep(&pause, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

ProgramOutput map_output(int file) noexcept {
  struct stat facts {};
  if (fstat(file, &facts) != 0 || facts.st_size == 0) return {};
  const auto bytes = static_cast<unsigned long>(facts.st_size);
  void* text = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (text == MAP_FAILED) return {};
  return {static_cast<const char*>(text), bytes};
}

}  // namespace

DebugProgram find_debug_program(const char* name) noexcept {
  DebugProgram program;
  // A debugger would also take its scripts and modules from the environment, with this program's
  // rights. The backtraces that need no other program are left.
  if (is_privileged()) return program;
  const char* folders = std::getenv("PATH");
  if (folders == nullptr) folders = "/usr/local/bin:/usr/bin:/bin";
  while (*folders != '\0') {
    const size_t length = std::strcspn(folders, ":");
    const int used = std::snprintf(program.path, sizeof program.path, "%.*s/%s",
                                   static_cast<int>(length), folders, name);
    const bool fits = used > 0 && used < static_cast<int>(sizeof program.path);
    if (fits && length != 0 && access(program.path, X_OK) == 0) return program;
    folders += length + (folders[length] == ':');
  }
  program.path[0] = '\0';
  return program;
}

// The output goes to memory, not to a pipe: a debugger stops this process, which then reads no
// pipe.
ProgramOutput run_debug_program(const DebugProgram& program, const char* const* arguments,
                                int limit_s) noexcept {
  if (!program.found()) return {};
  const int output = memfd_create("pinwire-backtrace", MFD_CLOEXEC);
  if (output < 0) return {};
  // Where the kernel lets only ancestors attach (Yama). There is no harm in it: this process ends,
  // or asked for it.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t child = _Fork();  // fork() takes locks that this thread may hold
  if (child == 0) become(program.path, arguments, output);
  if (child > 0) wait_for(child, limit_s);
  prctl(PR_SET_PTRACER, 0);
  const ProgramOutput text = map_output(output);
  close(output);
  return text;
}

void release(ProgramOutput& output) noexcept {
  if (output.text != nullptr) munmap(const_cast<char*>(output.text), output.bytes);
  output = {};
}

}  // namespace pinwire
