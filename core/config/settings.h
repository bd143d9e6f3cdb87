// The user's wishes in GASNET_* variables, checked and in the form the code wants.
//
// One table (variables.cc) declares every variable: its type, default, bounds and a line of
// documentation; settings, help and did-you-mean warnings are made from it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/number.h"
#include "core/config/rank_set.h"

namespace pinwire {

enum class DriverChoice : uint8_t { kAuto, kShm, kVerbs, kDpdk };
enum class SegmentPages : uint8_t { kAuto, kYes, kNo };
enum class DpdkHugePages : uint8_t { kAuto, kNever, kAlways };
/// Which bytes of a frame the job's key authenticates over DPDK (GASNET_DPDK_AUTH).
enum class DpdkAuth : uint8_t { kFull, kHeader };
enum class BarrierChoice : uint8_t { kDissem, kAmDissem, kPshm };
enum class HostDetect : uint8_t { kConduit, kGethostid, kHostname };
enum class AutoYesNo : uint8_t { kAuto, kYes, kNo };
/// The ways to run handlers of messages that arrive (GASNET_DISPATCH; PA-049 to PA-054).
enum class DispatchMode : uint8_t { kPoll, kInterrupt, kWatchdog, kThread, kNicproc };
enum class SpawnerChoice : uint8_t { kAuto, kFork, kSsh, kMpi, kNetns };

struct Settings {
  // The engine.
  DriverChoice driver = DriverChoice::kAuto;
  uint32_t network_depth = 0;
  uint32_t lanes = 0;
  uint32_t shm_ring_slots = 0;
  BarrierChoice barrier = BarrierChoice::kDissem;
  DispatchMode dispatch = DispatchMode::kPoll;
  uint32_t watchdog_us = 0;
  bool interrupts_anywhere = false;  ///< am/interrupts/interrupts.h
  uint32_t look_us = 0;              ///< am/wait/sleep.h
  double hold_limit_s = 0;           ///< debug builds; 0: none
  bool fills_payloads = true;        ///< debug builds, with the two below: extended/checks/canary.h
  uint64_t payload_canary = 0;
  uint64_t payload_canary_bytes = 0;
  uint32_t max_threads = 0;        ///< 0: as many as there are
  uint32_t supernode_maxsize = 0;  ///< 0: all ranks of a host
  HostDetect host_detect = HostDetect::kConduit;
  MemoryBound max_segment;
  MemoryBound pin_budget;  ///< 0 bytes: what the limits leave
  bool pin_watch = true;
  SegmentPages hugepages = SegmentPages::kAuto;
  // The RDMA device.
  std::string verbs_device;  ///< "mlx5_0,mlx5_1:1"; empty: those near the rank
  uint64_t stripe_bytes_min = 0;
  std::string gid;        ///< an index, or an address for each port; empty: chosen by kind
  uint32_t ibv_pkey = 0;  ///< 0: the first of the port's table
  uint8_t ibv_service_level = 0;
  uint8_t ibv_traffic_class = 0;
  int srq_ranks_min = -1;   ///< ranks from which on receive queues are shared; 0: never, -1: always
  uint32_t qp_timeout = 0;  ///< of an acknowledgement: 4.096 us * 2^qp_timeout
  uint32_t qp_retry_count = 0;
  uint32_t qp_max = 0;  ///< peers connected at once at each lane; 0: no bound
  bool use_odp = true;  ///< on-demand paging, where a device has it
  bool verbs_fence = false;
  bool verbs_confirm = false;
  uint32_t connect_timeout_s = 0;  ///< 0: never
  // The DPDK port.
  std::string eal_args;
  std::string dpdk_fabric;  ///< one of the table's choices
  std::string dpdk_iface;
  std::string dpdk_pci;
  DpdkHugePages dpdk_hugepages = DpdkHugePages::kAuto;
  uint32_t dpdk_memory_mib = 0;  ///< 0: as much as the port needs
  uint32_t dpdk_mtu_bytes = 0;   ///< a device that carries less wins
  uint32_t dpdk_ring_frames = 0;
  uint32_t dpdk_queues = 0;
  uint16_t dpdk_vlan = 0;  ///< 0: none
  std::string dpdk_address;
  std::string dpdk_gateway;
  uint16_t dpdk_udp_port = 0;  ///< + lane
  DpdkAuth dpdk_auth = DpdkAuth::kFull;
  uint32_t dpdk_window_frames = 0;  ///< 0: left to the driver
  bool dpdk_coalesce = true;
  bool dpdk_log = false;
  double peer_timeout_s = 0;  ///< of silence, until a peer is taken for dead; 0: never
  // The end of a job.
  double exit_timeout_s = 0;  ///< 0: from the three below
  double exit_timeout_min_s = 0;
  double exit_timeout_max_s = 0;
  double exit_timeout_factor_s = 0;
  // The start of a job.
  SpawnerChoice spawner = SpawnerChoice::kAuto;
  bool spawn_verbose = false;
  std::string tmp_dir;
  std::string job_dir;    ///< from the launcher; empty: there is none
  std::string free_cpus;  ///< from the launcher: those that --bind gave to no rank ("6-7")
  std::string ssh_servers;
  std::string ssh_nodefile;
  std::string ssh_cmd;
  std::string ssh_options;
  double ssh_timeout_s = 0;
  std::string switch_program;
  std::string switch_args;
  // Output, and help for debugging.
  bool verbose_env = false;
  bool quiet = false;
  bool freeze = false;
  bool freeze_on_error = false;
  int freeze_signal = 0;  ///< 0: none
  bool backtrace = false;
  RankSet backtrace_nodes;
  int backtrace_signal = 0;  ///< 0: none
  std::string backtrace_type;
  AutoYesNo backtrace_mt = AutoYesNo::kAuto;
  std::string trace_file, stats_file;  ///< empty: none
  uint32_t trace_mask = 0, stats_mask = 0;
  RankSet trace_nodes, stats_nodes;
  bool trace_flush = false, trace_local = true;
  uint64_t no_catch_signals = 0;  ///< signal N is bit N
  std::string faults;             ///< for driver/faulty.h; builds with checks only
};

/// The value of a variable, or nullptr.
using Lookup = std::function<const char*(const char* name)>;

/// A sentence that names the variable, its value and what is allowed, if one is bad.
Result<Settings> read_settings(const Lookup& lookup);

/// How long the others may take to leave too once one rank has (C1-108):
/// GASNET_EXITTIMEOUT, else min(MAX, MIN + FACTOR * ranks).
double exit_timeout_s(const Settings& settings, uint32_t rank_count);

/// A warning for every GASNET_* variable among `environment` (NAME=value, ended by nullptr) that
/// nobody knows, with the name that was perhaps meant.
std::vector<std::string> warnings_about(const char* const* environment);

/// Every variable, its type, default and line of documentation.
std::string help_text();
/// The same as a Markdown table.
std::string help_markdown();
/// For GASNET_VERBOSEENV: every variable with the value in force, "(default)" where that is it.
std::string describe_environment(const Lookup& lookup);

}  // namespace pinwire
