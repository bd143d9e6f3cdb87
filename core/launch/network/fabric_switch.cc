#include "core/launch/network/fabric_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/launch/options/words.h"
#include "core/launch/process/environment.h"
#include "core/launch/process/process_facts.h"
#include "core/launch/streams/patient_write.h"
#include "driver/dpdk/eal/eal_args.h"
#include "driver/dpdk/fabric/device_text.h"
#include "driver/dpdk/fabric/fabric_choice.h"

namespace pinwire::launch {
namespace {

constexpr int64_t kReadyMs = 20'000;
/// A switch holds the end of its job for so long, 2 s in all: until it has ended orderly, and until
/// it has died of SIGKILL.
constexpr int64_t kEndMs = 1500, kKilledMs = 500;

/// Beside this program when installed, elsewhere in a build tree.
Result<std::string> switch_path(const Settings& settings) {
  if (!settings.switch_program.empty()) return find_program(settings.switch_program);
  char self[PATH_MAX] = "";
  if (::readlink("/proc/self/exe", self, sizeof self - 1) > 0) {
    const std::string path = self;
    const auto folder = path.substr(0, path.rfind('/'));
    for (const char* at : {"/pinwire_switch", "/../../driver/dpdk/switch/pinwire_switch"})
      if (auto found = find_program(folder + at)) return found;
  }
  return error(
      "a job of more than two ranks of one host over DPDK needs pinwire_switch, which is neither "
      "beside gasnetrun_pinwire nor in its build tree: GASNET_SWITCH tells where it is");
}

/// How the ranks will meet: as their driver decides.
Result<Fabric> fabric_of(const Settings& settings, Rank rank_count) {
  auto fabric = fabric_from_name(settings.dpdk_fabric);
  if (!fabric) return fabric.error();
  auto eal_words = pinwire::split_words(settings.eal_args);
  if (!eal_words) return eal_words.error();
  return choose_fabric({.fabric = *fabric,
                        .eal_names_device = names_device(*eal_words),
                        .names_pci = !split_words(settings.dpdk_pci, ", ").empty(),
                        .names_interface = !settings.dpdk_iface.empty(),
                        .rank_count = rank_count});
}

}  // namespace

Result<bool> needs_switch(const Settings& settings, Rank rank_count, const std::string& job_dir) {
  const bool has_supernodes =
      settings.supernode_maxsize != 0 && rank_count > settings.supernode_maxsize;
  const bool surely_dpdk = settings.driver == DriverChoice::kDpdk;
  const bool maybe_dpdk = settings.driver == DriverChoice::kAuto && has_supernodes;
  if (!surely_dpdk && !maybe_dpdk) return false;
  auto fabric = fabric_of(settings, rank_count);
  if (!fabric) return fabric.error();
  // One rank has no peer to meet, unless it asks for a switch by its name.
  const bool has_switch =
      *fabric == Fabric::kSwitch && (rank_count > 1 || settings.dpdk_fabric != "auto");
  if (has_switch && rank_count > kSwitchPortsMax) {
    return error(
        "%u ranks of one host over DPDK need a switch of as many ports, and pinwire_switch has %u: "
        "start fewer (-n), or use GASNET_DRIVER=shm",
        rank_count, kSwitchPortsMax);
  }
  if (has_switch || (surely_dpdk && rank_count > 1 && is_inside_host(*fabric))) {
    const auto last_socket = fabric_socket(*fabric, job_dir, rank_count - 1);  // the longest
    if (auto fits = check_socket_path(last_socket, "set GASNET_TMPDIR to another directory"); !fits)
      return fits.error();
  }
  return has_switch;
}

Result<std::unique_ptr<FabricSwitch>> FabricSwitch::start(SupervisorLoop& loop,
                                                          const Settings& settings, Rank port_count,
                                                          const std::string& job_dir, bool report) {
  auto path = switch_path(settings);
  if (!path) return path.error();
  auto out = make_pipe();
  if (!out) return out.error();
  ProcessPlan plan{.path = *path,
                   .arguments = {*path, "--ports", std::to_string(port_count), "--dir", job_dir},
                   .environment = own_environment(),
                   .stdout_fd = out->write.get(),
                   .own_group = true};
  if (settings.dpdk_queues > 1) {
    plan.arguments.insert(plan.arguments.end(), {"--queues", std::to_string(settings.dpdk_queues)});
  }
  set_variable(plan.environment, "GASNET_JOB_DIR", job_dir);
  for (auto& word : split_words(settings.switch_args, " \t")) plan.arguments.push_back(word);
  auto begun = begin_process(plan);
  if (!begun) return begun.error();
  out->write.reset();
  std::unique_ptr<FabricSwitch> made(
      new FabricSwitch(loop, std::move(*begun), std::move(out->read), report));
  if (auto ready = made->wait_until_ready(*path); !ready) return ready.error();
  return made;
}

FabricSwitch::FabricSwitch(SupervisorLoop& loop, StartingProcess begun, Fd out, bool report)
    : loop_(loop),
      process_(std::move(begun.process)),
      start_(std::move(begun.report)),
      out_(std::move(out)),
      children_(loop.watch_children([this](pid_t process) { return reap(process); })),
      report_(report) {
  out_watch_ = loop_.loop().watch(out_.get(), POLLIN, [this](short) { read_words(); });
}

void FabricSwitch::read_words() {
  char part[512];
  const ssize_t got = ::read(out_.get(), part, sizeof part);
  if (got == 0 || (got < 0 && errno != EINTR)) words_end_ = true;
  if (got > 0) words_.append(part, static_cast<size_t>(got));
  // Later words are its report, which waits in the pipe.
  if (words_end_ || is_ready()) out_watch_.set_events(0);
}

Status FabricSwitch::wait_until_ready(const std::string& path) {
  loop_.turn_until([this] { return is_ready() || has_ended(); }, kReadyMs);
  if (is_ready()) {
    start_ = {};  // a descriptor that nobody needs any more
    return success();
  }
  if (loop_.end_asked() != 0)
    return error("interrupted while pinwire_switch (%s) started", path.c_str());
  if (const auto started = start_.read(); started && !*started) return *started;
  return error("pinwire_switch (%s) did not become ready; what it said is above", path.c_str());
}

void FabricSwitch::when_lost(std::function<void(const std::string& sentence)> lost) {
  lost_ = std::move(lost);
  if (lost_ && !lost_sentence_.empty()) lost_(lost_sentence_);
}

void FabricSwitch::stop() {
  lost_ = nullptr;
  if (process_.number() < 0) return;
  process_.signal(SIGTERM);
  process_.signal(SIGCONT);  // one that somebody stopped takes no other signal but SIGKILL
  const auto has_ended = [this] { return process_.number() < 0; };
  if (loop_.turn_until(has_ended, kEndMs)) return pass_report_on();
  process_.signal(SIGKILL);
  if (loop_.turn_until_in_any_case(has_ended, kKilledMs)) return;
  // Without a reason it frees memory, or waits for a core: then there is nothing to say.
  if (const auto why = why_not_killed(process_.number()); !why.empty()) {
    log_warning("pinwire_switch (process %d) cannot be killed, and is left alone: %s",
                process_.number(), why.c_str());
  }
  process_.let_go();
}

bool FabricSwitch::reap(pid_t process) {
  if (process != process_.number()) return false;
  const auto wait_status = process_.reap();
  if (!wait_status) return false;
  lost_sentence_ = "pinwire_switch (process " + std::to_string(process) + ") " +
                   how_it_ended(*wait_status) +
                   ": it carried all frames between the ranks of this host";
  if (lost_) lost_(lost_sentence_);
  return true;
}

void FabricSwitch::pass_report_on() {
  // All that it said waits in the pipe, whose other end a child of its may still have.
  ::fcntl(out_.get(), F_SETFL, O_NONBLOCK);
  char text[4096];
  for (ssize_t got; report_ && (got = ::read(out_.get(), text, sizeof text)) > 0;)
    write_patiently(STDERR_FILENO, {text, static_cast<size_t>(got)});
}

}  // namespace pinwire::launch
