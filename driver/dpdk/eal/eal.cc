#include "driver/dpdk/eal/eal.h"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/base/files/file_size.h"
#include "core/base/files/locked_dir.h"
#include "core/base/files/remove_tree.h"
#include "driver/dpdk/eal/address_space.h"
#include "driver/dpdk/eal/eal_log.h"
#include "driver/dpdk/eal/interrupt_thread.h"
#include "driver/rdma/providers.h"

namespace pinwire {
namespace {

enum class EalState : uint8_t { kFresh, kRunning, kEnded };

std::mutex eal_mutex;
EalState eal_state = EalState::kFresh;
uint32_t eal_users = 0;
std::string eal_directory;  // made by us for EAL, removed by eal_stop
int eal_directory_fd =
    -1;  // locked while this process lives: launchers remove those that nobody locks

const char* likely_fix(int code) {
  switch (code) {
    case ENOMEM:
      if (address_space_is_limited()) return kRaiseAddressSpace;
      return "free or reserve huge pages (sysctl vm.nr_hugepages), or set "
             "GASNET_DPDK_HUGEPAGES=never";
    case EACCES:
    case EPERM:
      return "run as root or give this user the device and CAP_IPC_LOCK";
    case EINVAL:
      return "check GASNET_EAL_ARGS against the DPDK manual";
    case ENODEV:
      return "bind the device to vfio-pci (dpdk-devbind.py) and check its address";
    default:
      return "GASNET_DPDK_LOG=1 shows what DPDK says";
  }
}

/// virtio_user's control thread writes to a socket whose other end may be gone.
void ignore_sigpipe() {
  struct sigaction current {};
  if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
    signal(SIGPIPE, SIG_IGN);
}

/// EAL takes its directory from an environment variable. Ours dies with the job.
class RuntimeDirectory {
 public:
  explicit RuntimeDirectory(const std::string& path) {
    if (const char* old = getenv("RUNTIME_DIRECTORY")) saved_ = old;
    setenv("RUNTIME_DIRECTORY", path.c_str(), 1);
  }
  ~RuntimeDirectory() {
    if (saved_.empty())
      unsetenv("RUNTIME_DIRECTORY");
    else
      setenv("RUNTIME_DIRECTORY", saved_.c_str(), 1);
  }
  RuntimeDirectory(const RuntimeDirectory&) = delete;
  RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;

 private:
  std::string saved_;
};

/// EAL answers a wrong word with its whole manual on stdout; our sentence must not drown in it.
class NoUsageText {
 public:
  NoUsageText() : saved_(stdout), nowhere_(std::fopen("/dev/null", "we")) {
    if (nowhere_ != nullptr) stdout = nowhere_;
  }
  ~NoUsageText() {
    stdout = saved_;
    if (nowhere_ != nullptr) std::fclose(nowhere_);
  }
  NoUsageText(const NoUsageText&) = delete;
  NoUsageText& operator=(const NoUsageText&) = delete;

 private:
  FILE* saved_;
  FILE* nowhere_;
};

Status make_directory(const EalOptions& options) {
  const char* temporary = secure_getenv("TMPDIR");
  const std::string parent = !options.runtime_dir.empty() ? options.runtime_dir
                             : temporary != nullptr       ? temporary
                                                          : "/tmp";
  auto made = make_locked_dir(parent, kEalDirStart);
  if (!made) {
    return error(
        "DPDK gets no directory of its own: %s; set TMPDIR or GASNET_JOB_DIR to a directory of "
        "your own",
        made.sentence().c_str());
  }
  eal_directory = std::move(made->path);
  eal_directory_fd = made->lock_fd;
  return success();
}

void remove_directory() {
  if (eal_directory.empty()) return;
  // Below a job's directory its launcher names what stays, as of a rank that gave up its rights.
  [[maybe_unused]] const auto removed = remove_tree(eal_directory);
  eal_directory.clear();
  close(std::exchange(eal_directory_fd, -1));
}

/// Whether EAL shares nothing with other processes, and so writes nothing to its directory.
bool writes_no_files(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--no-shconf" || word == "--in-memory";
  });
}

}  // namespace

QuietThreads::QuietThreads() noexcept {
  static_assert(sizeof saved_mask_ >= sizeof(sigset_t) && sizeof saved_cpus_ >= sizeof(cpu_set_t));
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, reinterpret_cast<sigset_t*>(saved_mask_));
  pthread_getaffinity_np(pthread_self(), sizeof(cpu_set_t),
                         reinterpret_cast<cpu_set_t*>(saved_cpus_));
}

QuietThreads::~QuietThreads() noexcept {
  pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t),
                         reinterpret_cast<cpu_set_t*>(saved_cpus_));
  pthread_sigmask(SIG_SETMASK, reinterpret_cast<sigset_t*>(saved_mask_), nullptr);
}

void QuietThreads::add_cpus(const std::vector<uint32_t>& cpus) noexcept {
  cpu_set_t set;
  std::memcpy(&set, saved_cpus_, sizeof set);
  for (const uint32_t cpu : cpus) CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

Status eal_start(const EalOptions& options) {
  const std::lock_guard<std::mutex> hold(eal_mutex);
  if (eal_state == EalState::kEnded) {
    return error("DPDK's EAL has already ended in process %d and cannot start twice in one process",
                 getpid());
  }
  if (eal_state == EalState::kRunning) {
    ++eal_users;
    return success();
  }
  if (!may_have_file_of(options.plan.file_bytes)) {
    return error("DPDK keeps %llu MiB in a file of memory: %s",
                 static_cast<unsigned long long>(options.plan.file_bytes >> 20), kRaiseFileSize);
  }
  if (Status made = make_directory(options); !made) return made;
  std::vector<std::string> words = options.plan.words;
  words.insert(words.begin(), "pinwire");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ignore_sigpipe();
  register_rdma_providers();
  eal_log_capture(options.show_log);
  int started;
  {
    QuietThreads quiet;
    // EAL gives its threads the CPUs of its caller that are no lcore's.
    quiet.add_cpus(options.private_cpus);
    const NoUsageText no_usage;
    const RuntimeDirectory directory(eal_directory);
    started = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  }
  if (started < 0) {
    const int code = rte_errno;
    remove_directory();
    eal_state = EalState::kEnded;
    std::string line;
    for (const std::string& word : options.plan.words) line += " " + word;
    return error("DPDK did not start with \"%s\": %s (%s); %s", line.c_str() + 1, strerror(code),
                 eal_log_tail().c_str(), likely_fix(code));
  }
  // A rank that is killed, or ends without eal_stop(), leaves none behind then.
  if (writes_no_files(options.plan.words)) remove_directory();
  eal_state = EalState::kRunning;
  eal_users = 1;
  return success();
}

void eal_stop() {
  const std::lock_guard<std::mutex> hold(eal_mutex);
  if (eal_state != EalState::kRunning || --eal_users > 0) return;
  eal_state = EalState::kEnded;
  InterruptsHeld held;  // cleanup does not end that thread, and unmaps what its handlers work on
  held.keep();
  rte_eal_cleanup();
  remove_directory();
}

}  // namespace pinwire
