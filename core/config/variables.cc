#include "core/config/variables.h"

#include <cstdio>

namespace pinwire {
namespace {

using Kind = VariableKind;
using S = Settings;
using V = VariableValue;

// Ranks of a job that all leave within this many seconds leave together; upstream's minimum is 2 s,
// but here a job whose ranks do not all leave is to be gone within two seconds.
constexpr const char* kExitTimeoutMin = "1.0";

// clang-format off
constexpr Variable kVariables[] = {
  {"GASNET_DRIVER", Kind::kChoice, "auto", 0, 0, "auto|shm|dpdk", false,
   "what carries the traffic; auto takes shared memory inside a host and the best NIC outside",
   [](S& s, const V& v) { s.driver = static_cast<DriverChoice>(v.choice); }},
  {"GASNET_NETWORKDEPTH", Kind::kWhole, "256", 1, 65535, "", false,
   "requests that one rank may have under way to one other",
   [](S& s, const V& v) { s.network_depth = static_cast<uint32_t>(v.whole); }},
  {"GASNET_LANES", Kind::kWhole, "2", 1, 16, "", false,
   "queue sets of each driver (PAR libraries only): one for each of the first threads, the last for all others",
   [](S& s, const V& v) { s.lanes = static_cast<uint32_t>(v.whole); }},
  {"GASNET_SHM_RING_SLOTS", Kind::kWhole, "1024", 4, 65536, "", false,
   "64-byte slots of each shared-memory ring; a power of two",
   [](S& s, const V& v) { s.shm_ring_slots = static_cast<uint32_t>(v.whole); }},
  {"GASNET_MAX_SEGSIZE", Kind::kMemory, "0.85/H", 4096, 0x1p53, "", false,
   "upper limit of a segment: bytes or a fraction of memory, of each process (/P) or of a host (/H)",
   [](S& s, const V& v) { s.max_segment = v.memory; }},
  {"GASNET_USE_HUGEPAGES", Kind::kChoice, "auto", 0, 0, "auto|yes|no", false,
   "pages of the segment; auto takes huge pages, else transparent ones, else 4 KiB",
   [](S& s, const V& v) { s.hugepages = static_cast<SegmentPages>(v.choice); }},
  {"GASNET_EAL_ARGS", Kind::kText, "", 0, 0, "", false,
   "arguments of DPDK's EAL; a device that they name takes the place of the fabric's",
   [](S& s, const V& v) { s.eal_args = v.text; }},
  {"GASNET_DPDK_FABRIC", Kind::kChoice, "auto", 0, 0, "auto|args|pair|memif|switch|af_packet|pci", false,
   "what joins the ranks over DPDK; auto: EAL arguments if given, a vhost pair for 2 ranks, a switch for more",
   [](S& s, const V& v) { s.dpdk_fabric = v.text; }},
  {"GASNET_DPDK_IFACE", Kind::kText, "", 0, 0, "", false,
   "network interface of the af_packet fabric",
   [](S& s, const V& v) { s.dpdk_iface = v.text; }},
  {"GASNET_DPDK_PCI", Kind::kText, "", 0, 0, "", false,
   "PCI address of the port, e.g. 0000:3b:00.0; several ranks of a host take one each of a comma list",
   [](S& s, const V& v) { s.dpdk_pci = v.text; }},
  {"GASNET_DPDK_HUGEPAGES", Kind::kChoice, "auto", 0, 0, "auto|never|always", false,
   "huge pages for DPDK's own memory",
   [](S& s, const V& v) { s.dpdk_hugepages = static_cast<DpdkHugePages>(v.choice); }},
  {"GASNET_DPDK_MEMORY_MB", Kind::kWhole, "0", 0, 1 << 20, "", false,
   "MiB of memory for DPDK; 0: as much as the port needs",
   [](S& s, const V& v) { s.dpdk_memory_mib = static_cast<uint32_t>(v.whole); }},
  {"GASNET_DPDK_MTU", Kind::kBytes, "9000", 576, 65535, "", false,
   "largest IP packet, bytes; a device that carries less wins",
   [](S& s, const V& v) { s.dpdk_mtu_bytes = static_cast<uint32_t>(v.bytes); }},
  {"GASNET_DPDK_RING", Kind::kWhole, "0", 0, 32768, "", false,
   "frames in each receive and transmit ring of the device; 0: 256 between two processes of a host, else 512",
   [](S& s, const V& v) { s.dpdk_ring_frames = static_cast<uint32_t>(v.whole); }},
  {"GASNET_DPDK_QUEUES", Kind::kWhole, "1", 1, 16, "", false,
   "queue pairs of the device (PAR libraries only); each is a lane, see GASNET_LANES",
   [](S& s, const V& v) { s.dpdk_queues = static_cast<uint32_t>(v.whole); }},
  {"GASNET_DPDK_LOG", Kind::kYesNo, "no", 0, 0, "", false,
   "show what DPDK itself says",
   [](S& s, const V& v) { s.dpdk_log = v.yes; }},
  {"GASNET_EXITTIMEOUT", Kind::kReal, "0", 0, 86400, "", false,
   "seconds the others may take to leave once one rank has; 0: min(MAX, MIN + FACTOR * ranks)",
   [](S& s, const V& v) { s.exit_timeout_s = v.real; }},
  {"GASNET_EXITTIMEOUT_MIN", Kind::kReal, kExitTimeoutMin, 0, 86400, "", false,
   "see GASNET_EXITTIMEOUT",
   [](S& s, const V& v) { s.exit_timeout_min_s = v.real; }},
  {"GASNET_EXITTIMEOUT_MAX", Kind::kReal, "60", 0, 86400, "", false,
   "see GASNET_EXITTIMEOUT",
   [](S& s, const V& v) { s.exit_timeout_max_s = v.real; }},
  {"GASNET_EXITTIMEOUT_FACTOR", Kind::kReal, "0.01", 0, 3600, "", false,
   "see GASNET_EXITTIMEOUT",
   [](S& s, const V& v) { s.exit_timeout_factor_s = v.real; }},
  {"GASNET_SPAWNER", Kind::kChoice, "auto", 0, 0, "auto|fork|ssh|mpi|netns", false,
   "how gasnetrun_pinwire starts ranks; auto: ssh if hosts are named, else fork",
   [](S& s, const V& v) { s.spawner = static_cast<SpawnerChoice>(v.choice); }},
  {"GASNET_SPAWN_VERBOSE", Kind::kYesNo, "no", 0, 0, "", false,
   "gasnetrun_pinwire says what it does",
   [](S& s, const V& v) { s.spawn_verbose = v.yes; }},
  {"GASNET_SSH_SERVERS", Kind::kText, "", 0, 0, "", false,
   "hosts of the ssh spawner, separated by commas or blanks",
   [](S& s, const V& v) { s.ssh_servers = v.text; }},
  {"GASNET_SSH_NODEFILE", Kind::kText, "", 0, 0, "", false,
   "file with one host per line for the ssh spawner",
   [](S& s, const V& v) { s.ssh_nodefile = v.text; }},
  {"GASNET_SSH_CMD", Kind::kText, "ssh", 0, 0, "", false,
   "program that runs a command on a host",
   [](S& s, const V& v) { s.ssh_cmd = v.text; }},
  {"GASNET_SSH_OPTIONS", Kind::kText, "", 0, 0, "", false,
   "options of that program, separated by blanks",
   [](S& s, const V& v) { s.ssh_options = v.text; }},
  {"GASNET_SWITCH", Kind::kText, "", 0, 0, "", false,
   "path of pinwire_switch; empty: beside gasnetrun_pinwire or in its build tree",
   [](S& s, const V& v) { s.switch_program = v.text; }},
  {"GASNET_SWITCH_ARGS", Kind::kText, "", 0, 0, "", false,
   "further arguments of pinwire_switch, e.g. its fault injection",
   [](S& s, const V& v) { s.switch_args = v.text; }},
  {"GASNET_TMPDIR", Kind::kText, "/tmp", 0, 0, "", false,
   "where the job's directory of sockets and the like is made",
   [](S& s, const V& v) { s.tmp_dir = v.text; }},
  {"GASNET_VERBOSEENV", Kind::kYesNo, "no", 0, 0, "", false,
   "say every setting at the start of the job",
   [](S& s, const V& v) { s.verbose_env = v.yes; }},
  {"GASNET_QUIET", Kind::kYesNo, "no", 0, 0, "", false,
   "no notes and no warnings",
   [](S& s, const V& v) { s.quiet = v.yes; }},
  {"GASNET_FREEZE", Kind::kYesNo, "no", 0, 0, "", false,
   "wait for a debugger at the start",
   [](S& s, const V& v) { s.freeze = v.yes; }},
  {"GASNET_FAULTS", Kind::kText, "", 0, 0, "", false,
   "what drivers do wrong on purpose: refuse=P,delay=P,seed=N,fail=N,without=CAPABILITY (builds with checks only)",
   [](S& s, const V& v) { s.faults = v.text; }},
  {"GASNET_JOB_DIR", Kind::kText, "", 0, 0, "", true,
   "the job's directory, from the launcher",
   [](S& s, const V& v) { s.job_dir = v.text; }},
  {"GASNET_JOB_FD", Kind::kText, "", 0, 0, "", true,
   "the launcher's end of the talk with this rank", [](S&, const V&) {}},
  {"GASNET_JOB_RANK", Kind::kText, "", 0, 0, "", true,
   "this process's rank, for wrapper scripts", [](S&, const V&) {}},
  {"GASNET_JOB_RANKS", Kind::kText, "", 0, 0, "", true,
   "ranks in the job, for wrapper scripts", [](S&, const V&) {}},
};

constexpr const char* kElsewhere[] = {
  "GASNET_AMPSHM_MEMORY_REPORT", "GASNET_BACKTRACE*", "GASNET_BARRIER", "GASNET_CATCH_EXIT",
  "GASNET_COLL_*", "GASNET_CSPAWN_CMD", "GASNET_DISABLE_ARGDECODE", "GASNET_DISABLE_ENVDECODE",
  "GASNET_DISABLE_MUNMAP", "GASNET_FREEZE_ON_ERROR", "GASNET_FREEZE_SIGNAL", "GASNET_FS_SYNC",
  "GASNET_HOST_DETECT", "GASNET_HWLOC_QUERY", "GASNET_IBV_*", "GASNET_MALLOC*", "GASNET_MASTERIP",
  "GASNET_MAX_THREADS", "GASNET_MPI_*", "GASNET_NODEFILE", "GASNET_NODEMAP_EXACT",
  "GASNET_NO_CATCH_SIGNAL", "GASNET_ODP_VERBOSE", "GASNET_OFI_*", "GASNET_PHYSMEM_*", "GASNET_PSHM_*",
  "GASNET_ROUTE_OUTPUT", "GASNET_SD_*", "GASNET_SMP_SPAWNER", "GASNET_SPAWNFN", "GASNET_SPAWN_*",
  "GASNET_SSH_KEEPDUP", "GASNET_SSH_OUT_DEGREE", "GASNET_SSH_REMOTE_PATH", "GASNET_STATS*",
  "GASNET_SUPERNODE_MAXSIZE", "GASNET_TEST_*", "GASNET_THREAD_STACK_*", "GASNET_TRACE*",
  "GASNET_TSC_*", "GASNET_UCX_*", "GASNET_USE_GETHOSTID", "GASNET_USE_PSHM_SINGLETON", "GASNET_VIS_*",
};
// clang-format on

}  // namespace

std::span<const Variable> variables() { return kVariables; }
std::span<const char* const> known_elsewhere() { return kElsewhere; }

std::string allowed_values(const Variable& variable) {
  char text[160];
  switch (variable.kind) {
    case Kind::kText:
      return "any text";
    case Kind::kYesNo:
      return "yes or no";
    case Kind::kChoice:
      return std::string("one of ") + variable.choices;
    case Kind::kMemory:
      return "bytes (128M, 1.5GB) or a fraction below 1 (0.5), then perhaps /P or /H";
    case Kind::kReal:
      std::snprintf(text, sizeof text, "a number from %g to %g", variable.low, variable.high);
      return text;
    case Kind::kWhole:
      std::snprintf(text, sizeof text, "a whole number from %.0f to %.0f", variable.low,
                    variable.high);
      return text;
    case Kind::kBytes:
      std::snprintf(text, sizeof text, "bytes from %.0f to %.0f; K, M, G, T are known",
                    variable.low, variable.high);
      return text;
  }
  return "";
}

}  // namespace pinwire
