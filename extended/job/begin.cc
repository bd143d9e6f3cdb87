#include "extended/job/begin.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "am/interrupts/dispatcher.h"
#include "am/interrupts/heartbeat.h"
#include "am/interrupts/interrupts.h"
#include "am/poll/poll.h"
#include "am/wait/sleep.h"
#include "am/wait/wait.h"
#include "core/api_types.h"
#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/privilege.h"
#include "core/base/threads/cpus.h"
#include "core/base/threads/membarrier.h"
#include "core/config/privilege.h"
#include "core/engine/client_usage.h"
#include "core/engine/engine.h"
#include "core/interrupts/client_threads.h"
#include "core/mode.h"
#include "core/tools/host_program.h"
#include "core/trace/trace.h"
#include "extended/atomics/atomic.h"
#include "extended/barrier/barrier.h"
#include "extended/barrier/lines.h"
#include "extended/checks/canary.h"
#include "extended/coll/messages/mail.h"
#include "extended/coll/messages/stream.h"
#include "extended/coll/progress/seats.h"
#include "extended/drivers/connect.h"
#include "extended/drivers/nearest_port.h"
#include "extended/job/debugging.h"
#include "extended/job/exit.h"
#include "extended/job/facts.h"
#include "extended/rma/ops.h"
#include "extended/rma/transfer.h"
#include "extended/segments/limits.h"
#include "extended/segments/publish.h"
#include "extended/segments/remote.h"
#include "extended/state/gather.h"
#include "extended/state/rank_lists.h"
#include "extended/vis/peer_completion.h"
#include "extended/vis/remote_copy.h"

namespace pinwire {
namespace {

/// GASNET_VERBOSEENV; and the warnings, where no launcher of ours gave them.
void report_environment(const Job& job, const Lookup& lookup) {
  if (engine.rank != 0) return;
  if (!job.settings.quiet && std::strcmp(job.bootstrap->name(), "launcher") != 0) {
    for (const auto& warning : warnings_about(environ)) log_warning("%s", warning.c_str());
  }
  if (!job.settings.verbose_env) return;
  const std::string text = describe_environment(lookup);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    log_note("%.*s", static_cast<int>(end - at), text.c_str() + at);
    at = end + 1;
  }
}

Status read_job_settings(Job& job) {
  // This process's own environment first: the launcher gives each rank its own interface, and a
  // program may have set something before gasnet_init.
  const Lookup all = [&](const char* name) -> const char* {
    const char* own = std::getenv(name);
    return own != nullptr ? own : job.bootstrap->job_environment(name);
  };
  const Lookup lookup = heeded(all, is_privileged());
  auto settings = read_settings(lookup);
  if (!settings) return settings.error();
  job.settings = std::move(*settings);
  report_environment(job, lookup);
  if (engine.rank == 0 && !job.settings.quiet) {
    for (const auto& warning : warnings_of_privilege(all, is_privileged()))
      log_warning("%s", warning.c_str());
  }
  return success();
}

/// Ranks of one host share lines, whatever carries their messages.
Status choose_barrier(Job& job) {
  if (job.settings.barrier != BarrierChoice::kAmDissem) {
    const auto places = place_ranks(job.ranks, job.settings.supernode_maxsize);
    if (auto opened = open_barrier_lines(*job.bootstrap, places); !opened) return opened;
  }
  if (job.settings.barrier == BarrierChoice::kPshm && !all_ranks_local()) {
    return error(
        "GASNET_BARRIER=PSHM, but not all ranks share memory; leave it to DISSEM or say AMDISSEM");
  }
  check(objects.team != nullptr, "a barrier before there is a team");
  check(job_barrier == nullptr, "a job has one barrier");
  open_led_barriers(led_barrier_of);
  Member& of_all = *objects.team->member;  // its seat was taken before there were drivers
  open_team_barrier(of_all, 0);
  job_barrier = &of_all.barrier;
  return success();
}

/// This process's own environment first: a program may have set something by itself.
const char* look_up(const char* name) {
  const char* own = std::getenv(name);
  return own != nullptr || job() == nullptr ? own : job()->bootstrap->job_environment(name);
}

void choose_lanes(const Job& job) noexcept {
  engine.lane_count = kConcurrent ? std::clamp(job.settings.lanes, 1u, kLanesMax) : 1;
  const auto processors = static_cast<uint32_t>(std::max<size_t>(usable_cpus().size(), 1));
  // Ranks that are bound have their own; ranks with the same ones share them.
  const auto& mine = job.ranks[engine.rank];
  const auto sharers = static_cast<uint32_t>(
      std::count_if(job.ranks.begin(), job.ranks.end(), [&](const RankFacts& other) {
        return other.host == mine.host && other.processors == mine.processors;
      }));
  // Spinning threads that outnumber the cores must yield soon, or each waits a time slice.
  check(sharers != 0, "this rank does not share its own processors", engine.rank);
  engine.spinners_max = processors / sharers;
  set_wait_mode(WaitMode::kSpin);
}

/// EVERYTHING needs none: all memory is a segment (C1-068).
Status create_segment(Job& job, uint64_t segment_bytes) {
  if (job.kind == SegmentKind::kEverything) return success();
  check(job.segment.base == nullptr, "a process has one segment of attach");
  job.segment_bytes = grant_segment(job, segment_bytes);
  auto memory = create_segment_memory(job.segment_bytes, job.settings.hugepages);
  if (!memory) return memory.error();
  job.segment = *memory;
  // Before publish_segments() pins the pages: the hook may decide where they are.
  if (gasnet_client_attach_hook != nullptr) {
    gasnet_client_attach_hook(job.segment.base, job.segment_bytes);
  }
  trace_line('O', "segment of %llu bytes at %p on %s",
             static_cast<unsigned long long>(job.segment_bytes),
             static_cast<void*>(job.segment.base), page_kind_name(job.segment.pages));
  if (job.settings.verbose_env && job.segment_bytes != 0) {
    log_note("segment of %llu bytes at %p on %s",
             static_cast<unsigned long long>(job.segment_bytes),
             static_cast<void*>(job.segment.base), page_kind_name(job.segment.pages));
  }
  return success();
}

Status bring_up(Job& job) {
  register_transfer_handlers();
  register_atomic_handlers();
  register_mail();
  register_streams();
  register_segment_questions();
  vis::register_peer_completion();
  vis::prepare_remote_copies();
  has_dispatcher = job.settings.dispatch != DispatchMode::kPoll;
  only_dispatcher_polls = job.settings.dispatch == DispatchMode::kNicproc;
  if (auto opened = open_drivers(job); !opened) return opened;
  if (job.settings.verbose_env) report_place(job);
  if (auto chosen = choose_barrier(job); !chosen) return chosen;
  make_rank_lists();
  thread_ops();  // of this thread: nothing is allocated from here on
  return success();
}

Status add_segments(Job& job, uint64_t segment_bytes, const Gather& gather) {
  check(!job.has_segments, "segments are published twice");
  if (auto created = create_segment(job, segment_bytes); !created) return created;
  if (auto published = publish_segments(job, gather); !published) return published;
  job.has_segments = true;
  return success();
}

/// Starts the dispatcher, or the heartbeat, and prepares this thread for interrupts, which stay
/// disabled here until the start is complete.
Status start_dispatching(const Job& job) {
  const Settings& settings = job.settings;
  look_us_max = settings.look_us;
  if (!has_dispatcher) return start_heartbeat();
  const bool interrupts =
      settings.dispatch == DispatchMode::kInterrupt || settings.dispatch == DispatchMode::kWatchdog;
  engine.thread();
  register_client_thread();  // if it called before anybody knew of a dispatcher
  if (interrupts) {
    interrupts_anywhere = settings.interrupts_anywhere;
    if (auto prepared = prepare_interrupts(); !prepared) return prepared;
    prepare_thread();
    pinwire_has_interrupts = 1;
    disable_interrupts(Reason::kLibrary);
  }
  return start_dispatcher(settings.dispatch, settings.watchdog_us, dispatcher_cpus(job));
}
}  // namespace

Status job_init(SegmentKind kind, const char* config) {
  // The kernel registers a process at once while that has one thread. Later it makes the caller
  // wait for an RCU grace period, which takes seconds where ranks outnumber the cores, and
  // meanwhile the caller answers no peer.
  register_thread_barriers();
  auto made = std::make_unique<Job>();
  made->kind = kind;
  auto bootstrap = make_bootstrap();
  if (!bootstrap) return bootstrap.error();
  made->bootstrap = std::move(*bootstrap);
  engine.rank = made->bootstrap->rank();
  engine.rank_count = made->bootstrap->rank_count();
  check(engine.rank < engine.rank_count, "a rank outside its job", engine.rank, engine.rank_count);
  char host[64] = "this host";
  gethostname(host, sizeof host - 1);
  log_identity(engine.rank, engine.rank_count, host);
  if (auto read = read_job_settings(*made); !read) return read;
  prepare_debugging(made->settings);
  if (auto opened = prepare_trace(made->settings); !opened) return opened;
  if (auto exchanged = exchange_facts(*made, config); !exchanged) return exchanged;
  start_trace();  // by now no rank will empty a file that another writes to
  choose_lanes(*made);
  engine.threads_max = made->settings.max_threads;
  if constexpr (kUsageChecks) {
    hold_limit_ns = static_cast<int64_t>(1e9 * made->settings.hold_limit_s);
    canary = {made->settings.fills_payloads, made->settings.payload_canary,
              made->settings.payload_canary_bytes};
  }
  publish_job(std::move(made));
  report_settings(look_up);
  tools_join_job(look_up, engine.rank == 0);
  prepare_exit(job()->settings.no_catch_signals);
  return success();
}

Status job_attach(uint64_t segment_bytes) {
  Job& job = *pinwire::job();
  if (auto up = bring_up(job); !up) return up;
  const auto gather = [&job](std::span<const std::byte> mine) {
    return job.bootstrap->all_gather(mine);
  };
  return add_segments(job, segment_bytes, gather);
}

Status job_connect() {
  if (job()->kind == SegmentKind::kEverything) return job_attach(0);
  return bring_up(*job());
}

Status job_attach_later(uint64_t segment_bytes) {
  Job& job = *pinwire::job();
  const auto gather = [&job](std::span<const std::byte> mine) {
    return gather_serving(*job.bootstrap, mine);
  };
  if (!job.has_segments) {
    if (auto added = add_segments(job, segment_bytes, gather); !added) return added;
  }
  if (auto met = gather({}); !met) return met.error();
  return success();
}

Status job_begin() {
  Job& job = *pinwire::job();
  check(!job.attached, "a job begins twice");
  check(job_barrier != nullptr, "a job begins before it has a barrier");
  check(engine.routes != nullptr || engine.rank_count == 1, "a job begins before it is connected");
  engine.target_count = engine.rank_count;
  job.attached = true;
  if (auto started = start_dispatching(job); !started) return started;  // it reads all this
  auto met = job.bootstrap->barrier();
  enable_interrupts(Reason::kLibrary);
  return met;
}

}  // namespace pinwire
