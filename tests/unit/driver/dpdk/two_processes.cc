#include "tests/unit/driver/dpdk/two_processes.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <sstream>

namespace pinwire {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

struct Child {
  pid_t pid;
  int pipe_fd;
};

Child start(uint32_t rank, Meeting& meeting,
            const std::function<std::string(uint32_t, Meeting&)>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t pid = fork();
  if (pid != 0) {
    close(ends[1]);
    return {pid, ends[0]};
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string said;
  try {
    said = body(rank, meeting);
  } catch (const std::exception& thrown) {
    said = std::string("threw ") + thrown.what();
  }
  [[maybe_unused]] const auto written = write(ends[1], said.data(), said.size());
  fflush(nullptr);
  _exit(said.empty() ? 0 : 1);
}

std::string finish(const Child& child, SteadyClock::time_point start, double timeout_s) {
  std::string said;
  char buffer[1024];
  for (;;) {
    pollfd waiting{child.pipe_fd, POLLIN, 0};
    if (poll(&waiting, 1, 50) > 0) {
      const ssize_t bytes = read(child.pipe_fd, buffer, sizeof buffer);
      if (bytes <= 0) break;
      said.append(buffer, static_cast<size_t>(bytes));
    } else if (seconds_since(start) > timeout_s) {
      kill(child.pid, SIGKILL);
      said += " took longer than " + std::to_string(timeout_s) + " s";
      break;
    }
  }
  close(child.pipe_fd);
  int status = 0;
  waitpid(child.pid, &status, 0);
  if (WIFSIGNALED(status))
    said += std::string(" died of ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0 && said.empty())
    said = "exit code " + std::to_string(WEXITSTATUS(status));
  return said;
}

}  // namespace

bool Meeting::barrier(uint32_t parties, double timeout_s) {
  const std::atomic_ref<uint32_t> generation_now(generation);
  const std::atomic_ref<uint32_t> arrived_now(arrived);
  const uint32_t mine = generation_now.load();
  if (arrived_now.fetch_add(1) + 1 == parties) {
    arrived_now.store(0);
    generation_now.fetch_add(1);
    return true;
  }
  const auto begin = SteadyClock::now();
  while (generation_now.load() == mine) {
    sched_yield();
    if (seconds_since(begin) > timeout_s) return false;
  }
  return true;
}

ScratchDirectory::ScratchDirectory() {
  char name[] = "/tmp/pinwire-test-XXXXXX";
  if (mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() { std::filesystem::remove_all(path_); }

std::vector<std::string> ScratchDirectory::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename());
  return names;
}

std::vector<std::string> run_processes(uint32_t count, double timeout_s,
                                       const std::function<std::string(uint32_t, Meeting&)>& body) {
  void* shared =
      mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* meeting = new (shared) Meeting{};
  fflush(nullptr);
  std::vector<Child> children;
  const auto begin = SteadyClock::now();
  for (uint32_t rank = 0; rank < count; ++rank) children.push_back(start(rank, *meeting, body));
  std::vector<std::string> said;
  for (const Child& child : children) said.push_back(finish(child, begin, timeout_s));
  munmap(shared, sizeof(Meeting));
  return said;
}

std::vector<std::string> test_nics() {
  std::vector<std::string> nics;
  const char* addresses = getenv("TEST_NICS");
  std::istringstream stream(addresses != nullptr ? addresses : "");
  for (std::string nic; std::getline(stream, nic, ',');) nics.push_back(nic);
  return nics;
}

}  // namespace pinwire

/// DPDK's own threads meet under locks that ThreadSanitizer cannot see: its archives are not
/// instrumented and its spinlocks are inline assembly. Pinwire's code in these processes runs on
/// one thread.
extern "C" const char* __tsan_default_suppressions() {
  return "race:eth_\nrace:vhost\nrace:virtio\nrace:memif\nrace:rte_\nrace:eal_\nrace:fdset\nrace:"
         "malloc_elem\n"
         "race:malloc_heap\n";
}
