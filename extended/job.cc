#include "extended/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "am/dispatcher.h"
#include "am/heartbeat.h"
#include "am/interrupts.h"
#include "am/progress.h"
#include "am/send.h"
#include "am/sleep.h"
#include "core/api_types.h"
#include "core/base/bits.h"
#include "core/base/cpus.h"
#include "core/base/fd_passing.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/privilege.h"
#include "core/config/privilege.h"
#include "core/engine/client_usage.h"
#include "core/engine/engine.h"
#include "core/interrupts/client_threads.h"
#include "core/job/host.h"
#include "core/mode.h"
#include "core/tools/host_program.h"
#include "core/topo/numa.h"
#include "core/trace/trace.h"
#include "extended/barrier.h"
#include "extended/barrier_lines.h"
#include "extended/canary.h"
#include "extended/coll/mail.h"
#include "extended/coll/member.h"
#include "extended/coll/stream.h"
#include "extended/connect.h"
#include "extended/debugging.h"
#include "extended/exit.h"
#include "extended/gather.h"
#include "extended/nearest_port.h"
#include "extended/ops.h"
#include "extended/rank_queries.h"
#include "extended/reach.h"
#include "extended/segment_limits.h"
#include "extended/segments.h"
#include "extended/transfer.h"
#include "extended/vis/peer_completion.h"

namespace pinwire {
namespace {

Job* the_job = nullptr;

/// Every rank knows every hash: if they differ, all know it, and all send what it is of.
Status compare_configs(const Job& job, const std::vector<RankTold>& told, const char* config) {
  const uint64_t mine = told[engine.rank].config_hash;
  const auto is_mine = [mine](const RankTold& rank) { return rank.config_hash == mine; };
  const auto other = std::find_if_not(told.begin(), told.end(), is_mine);
  if (other == told.end()) return success();
  auto all =
      job.bootstrap->all_gather({reinterpret_cast<const std::byte*>(config), std::strlen(config)});
  if (!all) return all.error();
  const auto rank = static_cast<Rank>(other - told.begin());
  const auto& theirs = (*all)[rank];
  return error("rank %u was compiled for %.*s, this rank for %s; compile and link all ranks alike",
               rank, static_cast<int>(theirs.size()), reinterpret_cast<const char*>(theirs.data()),
               config);
}

/// A supernode's ranks map each other's segments (GX-167): none does where all go by a
/// network.
bool maps_peers(const Settings& settings) noexcept {
  return settings.driver == DriverChoice::kAuto || settings.driver == DriverChoice::kShm;
}

/// A process whose files the kernel hides from its peers gives them out itself.
FdServerAddress serve_if_hidden(uint64_t job_key) {
  if (!are_files_hidden()) return 0;
  auto server = start_fd_server(job_key);
  if (server) return *server;
  log_warning("peers cannot be given this rank's memory: %s", server.sentence().c_str());
  return 0;
}

Status exchange_facts(Job& job, const char* config) {
  const Settings& settings = job.settings;
  const std::vector<uint32_t> cpus = usable_cpus();
  RankTold mine{
      {host_identity(settings.host_detect), Numa().nodes_of(cpus),
       hash_fold(hash_more(kHashStart, cpus.data(), cpus.size() * sizeof cpus[0])), getpid()},
      0,
      0,
      hash_fold(hash_more(kHashStart, config, std::strlen(config))),
      settings.supernode_maxsize,
      serve_if_hidden(job.bootstrap->job_key())};
  state_limits(job, mine);
  const auto* bytes = reinterpret_cast<const std::byte*>(&mine);
  auto all = job.bootstrap->all_gather({bytes, sizeof mine});
  if (!all) return all.error();
  std::vector<RankTold> told(all->size());
  for (Rank rank = 0; rank < all->size(); ++rank) {
    const auto& theirs = (*all)[rank];
    if (theirs.size() != sizeof mine) {
      return error(
          "rank %u sent %zu bytes of facts where %zu were expected; run the same build on every "
          "rank",
          rank, theirs.size(), sizeof mine);
    }
    std::memcpy(&told[rank], theirs.data(), sizeof mine);
    if (told[rank].supernode_maxsize != mine.supernode_maxsize) {
      return error("GASNET_SUPERNODE_MAXSIZE is %u on rank %u and %u here; set it alike everywhere",
                   told[rank].supernode_maxsize, rank, mine.supernode_maxsize);
    }
    job.ranks.push_back(told[rank].facts);
    if (rank != engine.rank && told[rank].facts.host == mine.facts.host)
      learn_fd_server(told[rank].facts.pid, told[rank].fd_server, job.bootstrap->job_key());
  }
  if (auto alike = compare_configs(job, told, config); !alike) return alike;
  job.places = place_ranks(job.ranks, maps_peers(settings) ? settings.supernode_maxsize : 1);
  return set_segment_limits(job, told);
}

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
  if (job.settings.barrier == BarrierChoice::kPshm && !all_are_beside()) {
    return error(
        "GASNET_BARRIER=PSHM, but not all ranks share memory; leave it to DISSEM or say AMDISSEM");
  }
  open_barrier();
  Member& of_all = *objects.team->member;  // its seat was taken before there were drivers
  of_all.line_barrier.open(of_all, 0);
  return success();
}

/// This process's own environment first: a program may have set something by itself.
const char* look_up(const char* name) {
  const char* own = std::getenv(name);
  return own != nullptr || the_job == nullptr ? own : the_job->bootstrap->job_environment(name);
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
  engine.spinners_max = processors / sharers;
  set_wait_mode(WaitMode::kSpin);
}

/// EVERYTHING needs none: all memory is a segment (C1-068).
Status create_segment(Job& job, uint64_t segment_bytes) {
  if (job.kind == SegmentKind::kEverything) return success();
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
  register_mail();
  register_streams();
  register_segment_questions();
  vis::register_peer_completion();
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
  if (auto created = create_segment(job, segment_bytes); !created) return created;
  if (auto published = publish_segments(job, gather); !published) return published;
  job.has_segments = true;
  return success();
}

/// Of this thread, too, which must not be interrupted before it is done.
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

Job* job() noexcept { return the_job; }

uint32_t ranks_on_host(const Job& job, Rank rank) noexcept {
  return static_cast<uint32_t>(
      std::count_if(job.ranks.begin(), job.ranks.end(),
                    [&](const RankFacts& other) { return other.host == job.ranks[rank].host; }));
}

uint32_t rank_on_host(const Job& job) noexcept {
  return static_cast<uint32_t>(std::count_if(
      job.ranks.begin(), job.ranks.begin() + engine.rank,
      [&](const RankFacts& other) { return other.host == job.ranks[engine.rank].host; }));
}

Status job_init(SegmentKind kind, const char* config) {
  // The kernel registers a process at once while that has one thread. Later it makes the caller
  // wait for an RCU grace period, which takes seconds where ranks outnumber the cores, and
  // meanwhile the caller answers no peer.
  prepare_barriers();
  auto job = std::make_unique<Job>();
  job->kind = kind;
  auto bootstrap = make_bootstrap();
  if (!bootstrap) return bootstrap.error();
  job->bootstrap = std::move(*bootstrap);
  engine.rank = job->bootstrap->rank();
  engine.rank_count = job->bootstrap->rank_count();
  char host[64] = "this host";
  gethostname(host, sizeof host - 1);
  log_identity(engine.rank, engine.rank_count, host);
  if (auto read = read_job_settings(*job); !read) return read;
  prepare_debugging(job->settings);
  if (auto opened = prepare_trace(job->settings); !opened) return opened;
  if (auto exchanged = exchange_facts(*job, config); !exchanged) return exchanged;
  start_trace();  // by now no rank will empty a file that another writes to
  choose_lanes(*job);
  engine.threads_max = job->settings.max_threads;
  if constexpr (kUsageChecks) {
    hold_limit_ns = static_cast<int64_t>(1e9 * job->settings.hold_limit_s);
    canary = {job->settings.fills_payloads, job->settings.payload_canary,
              job->settings.payload_canary_bytes};
  }
  the_job = job.release();
  report_settings(look_up);
  tools_join_job(look_up, engine.rank == 0);
  prepare_exit(the_job->settings.no_catch_signals);
  return success();
}

Status job_attach(uint64_t segment_bytes) {
  Job& job = *the_job;
  if (auto up = bring_up(job); !up) return up;
  const auto gather = [&job](std::span<const std::byte> mine) {
    return job.bootstrap->all_gather(mine);
  };
  return add_segments(job, segment_bytes, gather);
}

Status job_connect() {
  if (the_job->kind == SegmentKind::kEverything) return job_attach(0);
  return bring_up(*the_job);
}

Status job_attach_later(uint64_t segment_bytes) {
  Job& job = *the_job;
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
  Job& job = *the_job;
  engine.target_count = engine.rank_count;
  job.attached = true;
  if (auto started = start_dispatching(job); !started) return started;  // it reads all this
  auto met = job.bootstrap->barrier();
  enable_interrupts(Reason::kLibrary);
  return met;
}

}  // namespace pinwire
