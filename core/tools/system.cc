// The host and the process.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/base/log.h"
#include "core/tools/api.h"

using namespace pinwire;

extern "C" {

const char* gasnett_gethostname() {
  static char name[HOST_NAME_MAX + 1];
  if (name[0] == '\0' && gethostname(name, sizeof name - 1) != 0) fatal("gethostname failed: %m");
  return name;
}

const char* gasnett_exe_name() {
  static char path[PATH_MAX + 1];
  if (path[0] == '\0') {
    const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
  }
  return path;
}

int gasnett_cpu_count() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<int>(count) : 0;
}

uint64_t gasnett_getPhysMemSz(int is_failure_fatal) {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0)
    return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  if (is_failure_fatal) fatal("the size of this host's memory is unknown");
  return 0;
}

int gasnett_isLittleEndian() { return std::endian::native == std::endian::little; }

int gasnett_set_affinity(int rank) {
  const int count = gasnett_cpu_count();
  if (count == 0 || rank < 0) return 1;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(rank % count), &one);
  return sched_setaffinity(0, sizeof one, &one);
}

int gasnett_maximize_rlimit(int resource, const char* name) {
  if (!gasnett_getenv_yesno_withdefault((std::string("GASNET_MAXIMIZE_") + name).c_str(), 1))
    return 1;
  const auto which = static_cast<__rlimit_resource_t>(resource);
  rlimit limit;
  if (getrlimit(which, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(which, &limit) == 0;
}

int gasnett_maximize_rlimits() {
  int is_done = 1;
  const auto maximize = [&](int resource, const char* name) {
    is_done &= gasnett_maximize_rlimit(resource, name);
  };
  maximize(RLIMIT_CPU, "RLIMIT_CPU");
  maximize(RLIMIT_DATA, "RLIMIT_DATA");
  maximize(RLIMIT_STACK, "RLIMIT_STACK");
  maximize(RLIMIT_RSS, "RLIMIT_RSS");
  maximize(RLIMIT_AS, "RLIMIT_AS");
  return is_done;
}

void* gasnett_mmap(uintptr_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fatal("gasnett_mmap of %llu bytes failed: %m", static_cast<unsigned long long>(bytes));
  }
  return memory;
}

gasnett_sighandlerfn_t gasnett_reghandler(int signal_number, gasnett_sighandlerfn_t handler) {
  const auto before = signal(signal_number, handler);
  if (before == SIG_ERR) fatal("gasnett_reghandler: signal %d takes no handler: %m", signal_number);
  return before;
}

void gasnett_flush_streams() {
  std::fflush(stdout);
  std::fflush(stderr);
}

void gasnett_close_streams() {
  gasnett_flush_streams();
  std::fclose(stdin);
  std::fclose(stdout);
  std::fclose(stderr);
}

}  // extern "C"
