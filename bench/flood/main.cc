// flood: the dpdk-testpmd of a Pinwire job. gasnetrun_pinwire -n 2 flood [EAL arguments] --
// [arguments]
#include <gasnet.h>
#include <pinwire.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include "bench/flood/host/stop.h"
#include "bench/flood/loops/messages.h"
#include "bench/flood/plan/pairs.h"
#include "bench/flood/roles/director.h"
#include "bench/flood/roles/prompt.h"
#include "bench/flood/roles/tables.h"
#include "bench/flood/roles/worker.h"
#include "bench/flood/words/arguments.h"

namespace pinwire::flood {
namespace {

/// Every rank finds the same mistake in the same arguments: one tells it, all leave.
[[noreturn]] void leave_with(const std::string& sentence, int exit_code) {
  if (gasnet_mynode() == 0) std::fprintf(stderr, "flood: %s\n", sentence.c_str());
  std::fflush(stderr);
  gasnet_exit(exit_code);
}

/// EAL wants its arguments before the network comes up; the application arguments stay in argv.
std::vector<char*> take_eal_arguments(int argc, char** argv) {
  const SplitArguments split = split_arguments(argc, argv);
  if (!split.eal.empty()) {
    const std::string words = join_eal_arguments(std::getenv("GASNET_EAL_ARGS"), split.eal);
    ::setenv("GASNET_EAL_ARGS", words.c_str(), 1);
  }
  std::vector<char*> rest = {argv[0]};
  for (int i = argc - static_cast<int>(split.application.size()); i < argc; ++i) {
    rest.push_back(argv[i]);
  }
  rest.push_back(nullptr);
  return rest;
}

/// The CPUs of the host, not of this rank, which may be bound to one.
uint32_t cpus_online() {
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

/// Found out before minutes of measuring, not after.
void require_writable(const char* option, const std::string& json_path) {
  if (json_path.empty()) return;
  const size_t slash = json_path.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : (slash == 0 ? "/" : json_path.substr(0, slash));
  const std::string& written = ::access(json_path.c_str(), F_OK) == 0 ? json_path : directory;
  if (::access(written.c_str(), W_OK) == 0) return;
  leave_with("cannot write into " + written + ": " + std::strerror(errno) +
                 "; name another file with " + option + " FILE",
             2);
}

uint64_t buffer_bytes_of(const Options& options) {
  if (options.continuous()) return kTrafficBytesMax;
  if (options.plan.sizes.empty()) return kSweepBytesMax;
  const uint64_t most = *std::max_element(options.plan.sizes.begin(), options.plan.sizes.end());
  return std::max<uint64_t>((most + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE, 1) * GASNET_PAGESIZE;
}

Job start_job(const Options& options) {
  Job job;
  job.options = options;
  job.rank = gasnet_mynode();
  job.ranks = gasnet_nodes();
  const uint64_t buffer_bytes = buffer_bytes_of(options);
  job.buffer_bytes = buffer_bytes;
  const std::string_view dispatch = pinwire_dispatch();
  handlers_run_at_once = dispatch == "thread" || dispatch == "nicproc";
  const auto table = handlers();
  const int attached =
      gasnet_attach(table.data(), static_cast<int>(table.size()), segment_bytes(buffer_bytes), 0);
  if (attached != GASNET_OK) {
    leave_with(std::string("gasnet_attach failed: ") + gasnet_ErrorDesc(attached), 1);
  }
  const auto partner = partner_of(job.rank, job.ranks);
  job.paired = partner.has_value();
  auto path = make_path(partner.value_or(job.rank), buffer_bytes, options.buffers_in_heap);
  if (!path) leave_with(path.sentence(), 1);
  job.path = *path;
  job.plan =
      make_plan(options.plan, {buffer_bytes, gasnet_AMMaxMedium(),
                               std::min(gasnet_AMMaxLongRequest(), gasnet_AMMaxLongReply())});
  job.clock = calibrate();
  yielding = options.yield == Yield::kAlways ||
             (options.yield == Yield::kAuto && job.ranks > cpus_online());
  if (options.yield == Yield::kAlways) gasnet_set_waitmode(GASNET_WAIT_BLOCK);
  install_stop_handler();
  return job;
}

void barrier() {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

/// After everyone is here nobody misses a last message.
[[noreturn]] void leave_together(int exit_code) {
  std::fflush(stdout);
  std::fflush(stderr);
  barrier();
  gasnet_exit(exit_code);
}

[[noreturn]] void run(int argc, char** argv) {
  std::vector<char*> rest = take_eal_arguments(argc, argv);
  int count = static_cast<int>(rest.size()) - 1;
  char** words = rest.data();
  if (gasnet_init(&count, &words) != GASNET_OK) std::exit(1);  // it has said why

  auto options = parse_options("flood", std::vector<std::string>(words + 1, words + count));
  if (!options) leave_with(options.sentence(), 2);
  if (!options->help.empty()) {
    if (gasnet_mynode() == 0) std::fputs(options->help.c_str(), stdout);
    std::fflush(stdout);
    gasnet_exit(0);
  }
  require_writable("--json", options->json_path);
  require_writable("--references-json", options->references_path);
  const Job job = start_job(*options);
  barrier();  // from here on Ctrl-C is orderly on every rank
  if (job.plan.empty() && !options->continuous()) {
    leave_with("no measurement is left: choose --sizes that --ops can carry", 2);
  }
  if (job.rank != 0) leave_together(work(job));
  const int exit_code = options->continuous() ? run_traffic(job) : run_tables(job);
  dismiss_all(job, exit_code);
  leave_together(exit_code);
}

}  // namespace
}  // namespace pinwire::flood

int main(int argc, char** argv) {
  try {
    pinwire::flood::run(argc, argv);
  } catch (const std::exception& bad) {
    std::fprintf(stderr, "flood: %s\n", bad.what());
    return 1;  // ends the job (C1-106)
  }
}
