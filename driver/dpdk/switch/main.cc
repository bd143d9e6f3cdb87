// pinwire_switch: an L2 learning switch over vhost ports, for several ranks on one host. It also
// plays the bad network in tests.
#include <rte_cycles.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/base/files/owner_umask.h"
#include "core/base/files/private_dir.h"
#include "core/base/files/standard_files.h"
#include "core/base/threads/cpus.h"
#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/eal/huge_pages.h"
#include "driver/dpdk/fabric/device_text.h"
#include "driver/dpdk/fabric/fabric_choice.h"
#include "driver/dpdk/switch/forwarder.h"
#include "driver/dpdk/switch/open_files.h"

namespace pinwire {
namespace {

constexpr uint32_t kRoundsBeforeYield = 64;
constexpr uint64_t kIdleUsBeforeSleep = 20;
constexpr int kSleepMsMax = 100;

volatile sig_atomic_t stop_asked = 0;

void ask_stop(int) { stop_asked = 1; }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = ask_stop;  // no SA_RESTART: a sleeping switch must wake
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // else as by nohup
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTTOU, SIG_IGN);  // in the background of a terminal whose `stty tostop` is set
}

EalOptions eal_options(const SwitchOptions& options) {
  EalRequest request;
  request.file_prefix = "pinwire-switch-" + std::to_string(getpid());
  request.cpus = usable_cpus();
  request.memory_bytes = VhostPorts::memory_bytes(options);
  request.huge = options.huge_pages ? HugePages::kAuto : HugePages::kNever;
  request.huge_bytes_free = huge_bytes_free();
  EalOptions eal;
  eal.plan = plan_eal(request);
  eal.runtime_dir = options.directory;
  eal.show_log = options.show_log;
  return eal;
}

void run(VhostPorts& ports, Forwarder& forwarder) {
  const uint64_t sleep_ticks = rte_get_tsc_hz() / 1'000'000 * kIdleUsBeforeSleep;
  uint64_t last_moved = rte_rdtsc();
  uint32_t idle_rounds = 0;
  while (stop_asked == 0) {
    if (forwarder.step()) {
      idle_rounds = 0;
      continue;
    }
    if (idle_rounds == 0) last_moved = rte_rdtsc();
    if (++idle_rounds < kRoundsBeforeYield) continue;
    if (!forwarder.keeps_frames() && rte_rdtsc() - last_moved > sleep_ticks) {
      ++forwarder.counters().sleeps;
      ports.sleep(kSleepMsMax);
    } else {
      sched_yield();
    }
  }
}

void print_counters(const SwitchCounters& c) {
  std::printf(
      "pinwire_switch: forwarded %lu flooded %lu same_port %lu queue_full %lu lost %lu duplicated "
      "%lu "
      "reordered %lu corrupted %lu truncated %lu sleeps %lu\n",
      c.forwarded, c.flooded, c.same_port, c.queue_full, c.lost, c.duplicated, c.reordered,
      c.corrupted, c.truncated, c.sleeps);
  std::fflush(stdout);
}

/// Ranks give the process that listens at their socket their memory, and DPDK does not let its
/// users see the peer of a vhost socket: the directory is what keeps other users away, on both
/// ends.
Status keep_private(SwitchOptions& options) {
  auto directory = resolve_private_dir(options.directory);
  if (!directory) {
    return error(
        "the sockets would be open to other users: %s; --dir takes a directory to which you alone "
        "may write (mode 0700)",
        directory.sentence().c_str());
  }
  options.directory = std::move(*directory);
  return check_socket_path(fabric_socket(Fabric::kSwitch, options.directory, options.ports - 1),
                           "--dir takes a shorter one");
}

int serve(SwitchOptions options) {
  const OwnerUmask owners;
  Status started = keep_private(options);
  if (started) started = let_open_files(open_files_of(options));
  if (started) started = eal_start(eal_options(options));
  if (!started) {
    std::fprintf(stderr, "pinwire_switch: %s\n", started.sentence().c_str());
    return 1;
  }
  int code = 0;
  {
    VhostPorts ports;
    if (Status opened = ports.open(options); !opened) {
      std::fprintf(stderr, "%s\n", opened.sentence().c_str());
      code = 1;
    } else {
      Forwarder forwarder(ports, options.faults);
      std::printf("ready\n");
      std::fflush(stdout);
      run(ports, forwarder);
      print_counters(forwarder.counters());
    }
  }
  eal_stop();
  return code;
}

}  // namespace
}  // namespace pinwire

int main(int argc, char** argv) {
  pinwire::open_standard_files();
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  pinwire::catch_signals();
  auto options = pinwire::parse_switch_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "%s\n", options.sentence().c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(pinwire::switch_usage(), stdout);
    return 0;
  }
  if (getppid() != parent) return 1;  // it died before we could ask for its death's signal
  return pinwire::serve(*options);
}
