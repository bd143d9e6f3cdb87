#include "core/config/variables.h"

#include <cstdio>
#include <cstdlib>

namespace pinwire {
namespace {

using Kind = VariableKind;
using S = Settings;
using V = VariableValue;

// Ranks of a job that all leave within this many seconds leave together; upstream's minimum is 2 s,
// but here a job whose ranks do not all leave is to be gone within two seconds.
constexpr const char* kExitTimeoutMin = "1.0";

/// A NaN that no computation yields, unless the text is a number.
uint64_t canary_word(const std::string& text) {
  constexpr uint64_t kNan = 0x7ff7'fff5'fff7'fff3;
  char* end = nullptr;
  const uint64_t word = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && *end == 0 ? word : kNan;
}

// clang-format off
constexpr Variable kVariables[] = {
  {"GASNET_DRIVER", Kind::kChoice, "auto", 0, 0, "auto|shm|verbs|dpdk", false,
   "what carries the traffic; auto takes shared memory inside a host and the best NIC outside",
   [](S& s, const V& v) { s.driver = static_cast<DriverChoice>(v.choice); }},
  {"GASNET_NETWORKDEPTH", Kind::kWhole, "256", 1, 65535, "", false,
   "requests that one rank may have under way to one other; over verbs no more than its part of the 1024 to 4096 receive buffers of a rank",
   [](S& s, const V& v) { s.network_depth = static_cast<uint32_t>(v.whole); }},
  {"GASNET_LANES", Kind::kWhole, "2", 1, 16, "", false,
   "queue sets of each driver (PAR libraries only): one for each of the first threads, the last for all others",
   [](S& s, const V& v) { s.lanes = static_cast<uint32_t>(v.whole); }},
  {"GASNET_SHM_RING_SLOTS", Kind::kWhole, "1024", 4, 65536, "", false,
   "64-byte slots of each shared-memory ring, and as many lines beside them for messages of more than 56 bytes; "
   "a power of two",
   [](S& s, const V& v) { s.shm_ring_slots = static_cast<uint32_t>(v.whole); }},
  {"GASNET_BARRIER", Kind::kChoice, "DISSEM", 0, 0, "DISSEM|AMDISSEM|PSHM", false,
   "how barriers are made: AMDISSEM by active messages; PSHM by lines in shared memory, for jobs of one host; "
   "DISSEM: lines inside each host, messages between hosts. (RDMADISSEM and AMCENTRAL do not exist: a barrier must also work without a "
   "segment to put into, and the central one is for debugging other conduits)",
   [](S& s, const V& v) { s.barrier = static_cast<BarrierChoice>(v.choice); }},
  {"GASNET_DISPATCH", Kind::kChoice, "poll", 0, 0, "poll|interrupt|watchdog|thread|nicproc", false,
   "which thread runs the handlers of messages that arrive: poll, client threads in GASNet calls; interrupt, by a signal in the "
   "midst of their own work, too; watchdog, so when a message has waited too long; thread, a thread of the library that "
   "sleeps until then, too; nicproc, such a thread alone, which never sleeps, as a NIC with a processor would",
   [](S& s, const V& v) { s.dispatch = static_cast<DispatchMode>(v.choice); }, "GASNET_RCV_THREAD", "thread"},
  {"GASNET_RCV_THREAD", Kind::kYesNo, "no", 0, 0, "", false,
   "GASNET_DISPATCH=thread by the name that it has in other conduits; what GASNET_DISPATCH says counts first",
   [](S&, const V&) {}},
  {"GASNET_WATCHDOG_US", Kind::kWhole, "1000", 1, 60'000'000, "", false,
   "microseconds that a message waits for a poll before GASNET_DISPATCH=watchdog interrupts",
   [](S& s, const V& v) { s.watchdog_us = static_cast<uint32_t>(v.whole); }},
  {"GASNET_INTERRUPT_ANYWHERE", Kind::kYesNo, "no", 0, 0, "", false,
   "GASNET_DISPATCH=interrupt and watchdog: no, signals run handlers where they find a thread in the client's own text, and "
   "a thread of the library runs them where it is in a library's, malloc's above all, or asleep in a system call; yes, "
   "signals run them wherever the thread is, and what they call may not be called outside No-Interrupt Sections",
   [](S& s, const V& v) { s.interrupts_anywhere = v.yes; }},
  {"GASNET_LOOK_US", Kind::kWhole, "1000", 0, 1'000'000, "", false,
   "microseconds after which a thread that sleeps in GASNET_BLOCKUNTIL looks at its condition again at the latest, at first "
   "after 50 and each time after twice as long: peers' puts may write what it waits for, and wake nobody; 0: it sleeps until "
   "a message comes or a handler runs, as conditions of handlers alone need (or for 100 ms)",
   [](S& s, const V& v) { s.look_us = static_cast<uint32_t>(v.whole); }},
  {"GASNET_HOLD_LIMIT", Kind::kReal, "10", 0, 86400, "", false,
   "debug builds: seconds that a No-Interrupt Section, a held handler-safe lock or a handler may last before a warning at "
   "its end; 0: any number",
   [](S& s, const V& v) { s.hold_limit_s = v.real; }},
  {"GASNET_SD_INIT", Kind::kYesNo, "yes", 0, 0, "", false,
   "debug builds: buffers of gex_AM_Prepare... hold a canary, and a commit of nothing else ends the program",
   [](S& s, const V& v) { s.fills_payloads = v.yes; }},
  {"GASNET_SD_INITVAL", Kind::kText, "NaN", 0, 0, "", false,
   "the canary of GASNET_SD_INIT: a number of 64 bits, in C's notation; anything else is a NaN",
   [](S& s, const V& v) { s.payload_canary = canary_word(v.text); }},
  {"GASNET_SD_INITLEN", Kind::kBytes, "128", 8, 65536, "", false,
   "bytes of a buffer that GASNET_SD_INIT fills",
   [](S& s, const V& v) { s.payload_canary_bytes = v.bytes; }},
  {"GASNET_MAX_THREADS", Kind::kWhole, "0", 0, 1 << 20, "", false,
   "client threads of one process that may have called the library and live at once; 0: any number",
   [](S& s, const V& v) { s.max_threads = static_cast<uint32_t>(v.whole); }},
  {"GASNET_SUPERNODE_MAXSIZE", Kind::kWhole, "0", 0, 65535, "", false,
   "ranks of a host that share memory with each other; the others talk as if they were on another host. 0: all",
   [](S& s, const V& v) { s.supernode_maxsize = static_cast<uint32_t>(v.whole); }},
  {"GASNET_HOST_DETECT", Kind::kChoice, "conduit", 0, 0, "conduit|gethostid|hostname", false,
   "which ranks count as being on one host: conduit, those that can map each other's memory (same boot, user, PID and "
   "network namespace); or those of equal gethostid() or host name",
   [](S& s, const V& v) { s.host_detect = static_cast<HostDetect>(v.choice); }},
  {"GASNET_MAX_SEGSIZE", Kind::kMemory, "0.85/H", 4096, 0x1p53, "", false,
   "upper limit of a segment: bytes or a fraction of memory, of each process (/P) or of a host (/H)",
   [](S& s, const V& v) { s.max_segment = v.memory; }},
  {"GASNET_PIN_BUDGET", Kind::kMemory, "0", 0, 0x1p53, "", false,
   "how much a process may pin of a LARGE segment, and for transfers from and to other memory: bytes or a fraction of "
   "memory, of each process (/P) or of a host (/H); 0: what the limit of locked memory and the memory of the host leave",
   [](S& s, const V& v) { s.pin_budget = v.memory; }},
  {"GASNET_PIN_WATCH", Kind::kYesNo, "yes", 0, 0, "", false,
   "keep large memory outside the segment pinned from one transfer to the next, and have the kernel tell when it is "
   "unmapped (userfaultfd); no: pin it for each transfer",
   [](S& s, const V& v) { s.pin_watch = v.yes; }},
  {"GASNET_USE_HUGEPAGES", Kind::kChoice, "auto", 0, 0, "auto|yes|no", false,
   "pages of the segment; auto takes huge pages, else transparent ones, else 4 KiB",
   [](S& s, const V& v) { s.hugepages = static_cast<SegmentPages>(v.choice); }},
  {"GASNET_VERBS_DEVICE", Kind::kText, "", 0, 0, "", false,
   "RDMA devices or ports of each rank, e.g. mlx5_0 or mlx5_0:1,mlx5_1:1; empty: its share of those near its cores",
   [](S& s, const V& v) { s.verbs_device = v.text; }},
  {"GASNET_GID", Kind::kText, "", 0, 0, "", false,
   "address (GID) of the RDMA port, its index or an IP address, one for each of several ports, e.g. 10.0.0.1,10.0.1.1; "
   "empty: the best for RoCE (v2, routable, IPv4 first)",
   [](S& s, const V& v) { s.gid = v.text; }},
  {"GASNET_IBV_PKEY", Kind::kWhole, "0", 0, 0xffff, "", false,
   "partition key of all RDMA ports, e.g. 0x8012, whose highest bit is ignored; 0: the first that a port has",
   [](S& s, const V& v) { s.ibv_pkey = static_cast<uint32_t>(v.whole); }},
  {"GASNET_IBV_SERVICE_LEVEL", Kind::kWhole, "0", 0, 15, "", false,
   "InfiniBand service level of RDMA packets; on Ethernet their priority",
   [](S& s, const V& v) { s.ibv_service_level = static_cast<uint8_t>(v.whole); }},
  {"GASNET_IBV_TRAFFIC_CLASS", Kind::kWhole, "0", 0, 255, "", false,
   "traffic class of RDMA packets: for RoCE v2 the DSCP times 4; on InfiniBand they have a global route header then",
   [](S& s, const V& v) { s.ibv_traffic_class = static_cast<uint8_t>(v.whole); }},
  {"GASNET_QP_TIMEOUT", Kind::kWhole, "18", 1, 31, "", false,
   "how long an RDMA device waits for an acknowledgement: 4.096 us times 2 to this power",
   [](S& s, const V& v) { s.qp_timeout = static_cast<uint32_t>(v.whole); }},
  {"GASNET_QP_RETRY_COUNT", Kind::kWhole, "6", 0, 7, "", false,
   "how often it tries again before it takes the peer for dead; 7 means for ever on some devices",
   [](S& s, const V& v) { s.qp_retry_count = static_cast<uint32_t>(v.whole); }},
  {"GASNET_USE_SRQ", Kind::kWhole, "-1", -1, 1 << 20, "", false,
   "have all connections of a lane share receive buffers (SRQ), where the RDMA device can: -1 yes, 0 no, else in jobs of so "
   "many ranks and more. Without, each has its own: 2.2 MB a peer and lane in small jobs, 135 KB from 513 ranks on",
   [](S& s, const V& v) { s.srq_ranks_min = static_cast<int>(v.whole); }},
  {"GASNET_QP_MAX", Kind::kWhole, "0", 0, 1 << 24, "", false,
   "peers that each lane of an RDMA device stays connected to; above it the least recently used ones are closed, and made "
   "anew on their next use; 0: no bound",
   [](S& s, const V& v) { s.qp_max = static_cast<uint32_t>(v.whole); }},
  {"GASNET_STRIPE_MIN", Kind::kBytes, "128K", 4096, 0x1p53, "", false,
   "puts, gets and Longs from this size on go over all RDMA ports of the rank at once",
   [](S& s, const V& v) { s.stripe_bytes_min = v.bytes; }},
  {"GASNET_USE_ODP", Kind::kYesNo, "yes", 0, 0, "", false,
   "let RDMA devices that can page on demand do so for EVERYTHING segments; no, and where they cannot: messages, and "
   "pins for large transfers",
   [](S& s, const V& v) { s.use_odp = v.yes; }},
  {"GASNET_VERBS_FENCE", Kind::kYesNo, "no", 0, 0, "", false,
   "yes: the RDMA device may show a message before the data written ahead of it, so that Long AMs wait in between",
   [](S& s, const V& v) { s.verbs_fence = v.yes; }},
  {"GASNET_VERBS_CONFIRM", Kind::kYesNo, "no", 0, 0, "", false,
   "yes: the RDMA device may say that a put is done before its data is there, so that a read behind each confirms it; so it "
   "is on iWARP in any case",
   [](S& s, const V& v) { s.verbs_confirm = v.yes; }},
  {"GASNET_CONNECT_TIMEOUT", Kind::kWhole, "600", 0, 1'000'000, "", false,
   "seconds to try to connect to a rank over RDMA that does not answer; 0: for ever",
   [](S& s, const V& v) { s.connect_timeout_s = static_cast<uint32_t>(v.whole); }},
  {"GASNET_EAL_ARGS", Kind::kText, "", 0, 0, "", false,
   "arguments of DPDK's EAL; a device that they name takes the place of the fabric's; "
   "no effect in a program that may do more than its user (set-user-id, file capabilities)",
   [](S& s, const V& v) { s.eal_args = v.text; }},
  {"GASNET_DPDK_FABRIC", Kind::kChoice, "auto", 0, 0, "auto|args|pair|memif|switch|af_packet|pci", false,
   "what joins the ranks over DPDK; auto: EAL arguments if given, a vhost pair for 2 ranks, a switch for more",
   [](S& s, const V& v) { s.dpdk_fabric = v.text; }},
  {"GASNET_DPDK_IFACE", Kind::kText, "", 0, 0, "", false,
   "network interface of the af_packet fabric",
   [](S& s, const V& v) { s.dpdk_iface = v.text; }},
  {"GASNET_DPDK_PCI", Kind::kText, "", 0, 0, "", false,
   "PCI address of the port, e.g. 0000:3b:00.0; several ranks of a host take one each of a comma list, the nearest to "
   "their CPUs; among equals by turns",
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
  {"GASNET_DPDK_VLAN", Kind::kWhole, "0", 0, 4094, "", false,
   "VLAN of the ranks' frames, which are tagged; 0: untagged",
   [](S& s, const V& v) { s.dpdk_vlan = static_cast<uint16_t>(v.whole); }},
  {"GASNET_DPDK_ADDRESS", Kind::kText, "", 0, 0, "", false,
   "IPv4 address and network of the port, e.g. 10.1.0.2/24, or a comma list with one for each rank; interface: that of the "
   "kernel's interface; empty: all ranks are neighbours on one Ethernet, and take loopback addresses, which nothing routes",
   [](S& s, const V& v) { s.dpdk_address = v.text; }},
  {"GASNET_DPDK_GATEWAY", Kind::kText, "", 0, 0, "", false,
   "router for ranks outside the network of GASNET_DPDK_ADDRESS: its IPv4 address, which ARP resolves, or its MAC address",
   [](S& s, const V& v) { s.dpdk_gateway = v.text; }},
  {"GASNET_DPDK_UDP_PORT", Kind::kWhole, "62700", 1024, 65535, "", false,
   "first UDP port of the ranks' frames, one for each queue; NICs keep 4791 (RoCE v2) and tunnels' ports for themselves",
   [](S& s, const V& v) { s.dpdk_udp_port = static_cast<uint16_t>(v.whole); }},
  {"GASNET_DPDK_AUTH", Kind::kChoice, "full", 0, 0, "full|header", false,
   "what the job's key protects of a frame: full, all bytes; header, all but the data of puts, gets and messages of more "
   "than 256 bytes, which the UDP checksum of the device protects from damage, not from forgers. The same for all ranks",
   [](S& s, const V& v) { s.dpdk_auth = static_cast<DpdkAuth>(v.choice); }},
  {"GASNET_DPDK_WINDOW", Kind::kWhole, "0", 0, 512, "", false,
   "the most frames that one rank has in flight to one other; a power of two, 4 at least; 0: 256 between two processes of one host, 512 elsewhere",
   [](S& s, const V& v) { s.dpdk_window_frames = static_cast<uint32_t>(v.whole); }},
  {"GASNET_DPDK_COALESCE", Kind::kYesNo, "yes", 0, 0, "", false,
   "put messages that follow each other closely into one frame; no: one frame each, to measure by",
   [](S& s, const V& v) { s.dpdk_coalesce = v.yes; }},
  {"GASNET_DPDK_LOG", Kind::kYesNo, "no", 0, 0, "", false,
   "show what DPDK itself says",
   [](S& s, const V& v) { s.dpdk_log = v.yes; }},
  {"GASNET_PEER_TIMEOUT", Kind::kReal, "60", 0, 1'000'000, "", false,
   "seconds that a rank on another host may answer none of the frames that dpdk repeats, before it is taken for dead; a "
   "rank that computes answers by a thread of the library. At least 1; 0: for ever",
   [](S& s, const V& v) { s.peer_timeout_s = v.real; }},
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
  {"GASNET_SSH_TIMEOUT", Kind::kReal, "60", 0, 86400, "", false,
   "a host of the ssh spawner of which nothing is heard for so many seconds counts as lost, and its ranks end there; "
   "0: never",
   [](S& s, const V& v) { s.ssh_timeout_s = v.real; }},
  {"GASNET_SWITCH", Kind::kText, "", 0, 0, "", false,
   "path of pinwire_switch; empty: beside gasnetrun_pinwire or in its build tree",
   [](S& s, const V& v) { s.switch_program = v.text; }},
  {"GASNET_SWITCH_ARGS", Kind::kText, "", 0, 0, "", false,
   "further arguments of pinwire_switch, e.g. its fault injection",
   [](S& s, const V& v) { s.switch_args = v.text; }},
  {"GASNET_TMPDIR", Kind::kText, "/tmp", 0, 0, "", false,
   "where the job's directory of sockets and the like is made, by the launcher or, over dpdk under mpirun and srun, by a rank; "
   "if not set, what TMPDIR says; where others may write it must be sticky, as /tmp is",
   [](S& s, const V& v) { s.tmp_dir = v.text; }, "TMPDIR"},
  {"GASNET_VERBOSEENV", Kind::kYesNo, "no", 0, 0, "", false,
   "say every setting at the start of the job",
   [](S& s, const V& v) { s.verbose_env = v.yes; }},
  {"GASNET_QUIET", Kind::kYesNo, "no", 0, 0, "", false,
   "no warnings about the environment",
   [](S& s, const V& v) { s.quiet = v.yes; }},
  {"GASNET_TSC_RATE", Kind::kText, "walltime", 0, 0, "", false,
   "ticks of gasnet_tools.h in a second: walltime (measured), cpuinfo, or a number of Hz", [](S&, const V&) {}},
  {"GASNET_FREEZE", Kind::kYesNo, "no", 0, 0, "", false,
   "every rank waits for a debugger in gasnet_init, and says how to let it go on",
   [](S& s, const V& v) { s.freeze = v.yes; }},
  {"GASNET_FREEZE_ON_ERROR", Kind::kYesNo, "no", 0, 0, "", false,
   "a rank waits for a debugger before it dies of a fatal error or signal",
   [](S& s, const V& v) { s.freeze_on_error = v.yes; }},
  {"GASNET_FREEZE_SIGNAL", Kind::kSignal, "", 0, 0, "", false,
   "a rank that gets this signal waits for a debugger",
   [](S& s, const V& v) { s.freeze_signal = v.signal; }},
  {"GASNET_BACKTRACE", Kind::kYesNo, "no", 0, 0, "", false,
   "a rank shows where it is before it dies of a fatal error or signal",
   [](S& s, const V& v) { s.backtrace = v.yes; }},
  {"GASNET_BACKTRACE_NODES", Kind::kRanks, "*", 0, 0, "", false,
   "the ranks that GASNET_BACKTRACE is for",
   [](S& s, const V& v) { s.backtrace_nodes = v.ranks; }},
  {"GASNET_BACKTRACE_SIGNAL", Kind::kSignal, "", 0, 0, "", false,
   "a rank that gets this signal shows where it is and goes on",
   [](S& s, const V& v) { s.backtrace_signal = v.signal; }},
  {"GASNET_BACKTRACE_TYPE", Kind::kText, "GDB,EXECINFO", 0, 0, "", false,
   "what makes backtraces, in order of preference: GDB, the debugger; EXECINFO, libc and addr2line; or the client's own",
   [](S& s, const V& v) { s.backtrace_type = v.text; }},
  {"GASNET_BACKTRACE_MT", Kind::kChoice, "auto", 0, 0, "auto|yes|no", false,
   "show all threads where that can be done; auto: in PAR libraries",
   [](S& s, const V& v) { s.backtrace_mt = static_cast<AutoYesNo>(v.choice); }},
  {"GASNET_NO_CATCH_SIGNAL", Kind::kSignals, "", 0, 0, "", false,
   "signals that keep their default action, of those that the library else takes: ABRT, BUS, FPE, ILL, SEGV "
   "(reported before the rank dies), INT, TERM (become SIGQUIT), QUIT (heeded though a shell had it ignored)",
   [](S& s, const V& v) { s.no_catch_signals = v.signals; }},
  {"GASNET_TRACEFILE", Kind::kText, "", 0, 0, "", false,
   "write a line for each call of the API here: a file, in whose name % stands for the rank, or stdout, stderr, -; "
   "no effect in a program that may do more than its user",
   [](S& s, const V& v) { s.trace_file = v.text; }},
  {"GASNET_TRACEMASK", Kind::kLetters, "", 0, 0, "GPRSWBLAXIOCDNHU", false,
   "what is traced: Gets, Puts, Remote atomics, Synchronisation, Barriers, Locks, Active messages, X polls, Information, C drivers, "
   "Objects (segment, drivers, handlers, locks), Data of puts and messages (the first 32 bytes), N the client's source "
   "line before what its thread does, High-level lines of the client; U, lines that it forces, need no letter; ^ for all "
   "but. W records nothing: collectives are not traced",
   [](S& s, const V& v) { s.trace_mask = v.letters; }},
  {"GASNET_TRACENODES", Kind::kRanks, "*", 0, 0, "", false,
   "the ranks that write a trace",
   [](S& s, const V& v) { s.trace_nodes = v.ranks; }},
  {"GASNET_TRACEFLUSH", Kind::kYesNo, "no", 0, 0, "", false,
   "write every line of the trace at once: slow, but the last ones before a crash are there",
   [](S& s, const V& v) { s.trace_flush = v.yes; }},
  {"GASNET_TRACELOCAL", Kind::kYesNo, "yes", 0, 0, "", false,
   "trace also a rank's puts and gets to itself",
   [](S& s, const V& v) { s.trace_local = v.yes; }},
  {"GASNET_STATSFILE", Kind::kText, "", 0, 0, "", false,
   "write sums over all calls of the API here at the end; see GASNET_TRACEFILE",
   [](S& s, const V& v) { s.stats_file = v.text; }},
  {"GASNET_STATSMASK", Kind::kLetters, "", 0, 0, "GPRSWBLAXIOCDNHU", false,
   "what is summed up, see GASNET_TRACEMASK; C, I, O, H and U are written as they are, D and N have no sums",
   [](S& s, const V& v) { s.stats_mask = v.letters; }},
  {"GASNET_STATSNODES", Kind::kRanks, "*", 0, 0, "", false,
   "the ranks that write statistics",
   [](S& s, const V& v) { s.stats_nodes = v.ranks; }},
  {"GASNET_FAULTS", Kind::kText, "", 0, 0, "", false,
   "what drivers do wrong on purpose: refuse=P,delay=P,seed=N,fail=N,without=CAPABILITY (builds with checks only)",
   [](S& s, const V& v) { s.faults = v.text; }},
  {"GASNET_JOB_AGAIN", Kind::kText, "", 0, 0, "", true,
   "a file in which a rank asks for another start of the job, with the environment that it writes there",
   [](S&, const V&) {}},
  {"GASNET_JOB_DIR", Kind::kText, "", 0, 0, "", true,
   "the job's directory, from the launcher; under mpirun and srun, where pinwire_switch has its sockets: a directory to which "
   "its user alone may write. Below one to which others may write, the ranks make one of their own",
   [](S& s, const V& v) { s.job_dir = v.text; }},
  {"GASNET_JOB_FD", Kind::kText, "", 0, 0, "", true,
   "the launcher's end of the talk with this rank", [](S&, const V&) {}},
  {"GASNET_JOB_PMIX", Kind::kText, "", 0, 0, "", true,
   "the process that PMIx's variables name where the launcher starts this rank: where they name another one, mpirun or srun runs "
   "inside of the job, and its job is this process's",
   [](S&, const V&) {}},
  {"GASNET_JOB_RANK", Kind::kText, "", 0, 0, "", true,
   "this process's rank, for wrapper scripts", [](S&, const V&) {}},
  {"GASNET_JOB_FREE_CPUS", Kind::kText, "", 0, 0, "", true,
   "CPUs that --bind gave to no rank of this host, for threads that must not disturb them",
   [](S& s, const V& v) { s.free_cpus = v.text; }},
  {"GASNET_JOB_RANKS", Kind::kText, "", 0, 0, "", true,
   "ranks in the job, for wrapper scripts", [](S&, const V&) {}},
};

constexpr ElsewhereVariable kElsewhere[] = {
  {"GASNET_AMPSHM_MEMORY_REPORT", "a report on memory of another conduit's shared-memory queues"},
  {"GASNET_CATCH_EXIT", "the launcher ends a job whatever rank ends, so exit() is always caught"},
  {"GASNET_COLL_*", "collectives have nothing to tune"},
  {"GASNET_CSPAWN_CMD", "of the udp conduit's spawner"},
  {"GASNET_DISABLE_ARGDECODE", "arguments reach programs as they are"},
  {"GASNET_DISABLE_ENVDECODE", "the environment reaches programs as it is"},
  {"GASNET_DISABLE_MUNMAP", "what stays pinned outside the segment is watched; see GASNET_PIN_WATCH"},
  {"GASNET_FS_SYNC", "output goes through the launcher, which has written all of it when it ends"},
  {"GASNET_HWLOC_QUERY", "of configurations with several adapters"},
  {"GASNET_IBV_*", "of the ibv conduit"},
  {"GASNET_MALLOC*", "gasnett_debug_malloc always looks at all that it looks at"},
  {"GASNET_MAXIMIZE_*", "of gasnett_maximize_rlimit, which reads it when called"},
  {"GASNET_MASTERIP", "of the udp conduit's spawner"},
  {"GASNET_MPI_*", "of the mpi conduit"},
  {"GASNET_NODEFILE", "of the mpi spawner; see GASNET_SSH_NODEFILE"},
  {"GASNET_NODEMAP_EXACT", "the map of hosts is always exact"},
  {"GASNET_ODP_VERBOSE", "GASNET_VERBOSEENV says whether a device pages on demand"},
  {"GASNET_OFI_*", "of the ofi conduit"},
  {"GASNET_PHYSMEM_*", "no probing of pinnable memory: a segment that cannot be pinned is refused with a sentence"},
  {"GASNET_PSHM_*", "of another shared-memory engine; see GASNET_SHM_RING_SLOTS and GASNET_BARRIER"},
  {"GASNET_PREFIX", "where GASNet is installed, for the build systems of clients"},
  {"GASNET_ROUTE_OUTPUT", "output is always routed through the launcher"},
  {"GASNET_SMP_SPAWNER", "see GASNET_SPAWNER"},
  {"GASNET_SND_THREAD", "no driver here wants a thread to send"},
  {"GASNET_SPAWNFN", "see GASNET_SPAWNER"},
  {"GASNET_SPAWN_*", "see the options of gasnetrun_pinwire"},
  {"GASNET_SSH_KEEPDUP", "a host that is named twice counts once"},
  {"GASNET_SSH_OUT_DEGREE", "one connection for each host"},
  {"GASNET_SSH_REMOTE_PATH", "ranks run in the working directory of the launcher"},
  {"GASNET_TEST_*", "read by GASNet's own tests"},
  {"GASNET_THREAD_STACK_*", "threads of the library have stacks of the system's default size"},
  {"GASNET_TSC_*", "the tick is measured against the kernel's clock; GASNET_TSC_RATE gives it"},
  {"GASNET_UCX_*", "of the ucx conduit"},
  {"GASNET_USE_GETHOSTID", "see GASNET_HOST_DETECT"},
  {"GASNET_USE_PSHM_SINGLETON", "a segment is always shareable"},
  {"GASNET_VIS_*", "transfers of many pieces have nothing to tune"},
};
// clang-format on

}  // namespace

std::span<const Variable> variables() { return kVariables; }
std::span<const ElsewhereVariable> known_elsewhere() { return kElsewhere; }

const char* fallback_of(const Variable& variable, const Lookup& lookup) {
  if (variable.elsewhere == nullptr) return variable.fallback;
  const char* given = lookup(variable.elsewhere);
  if (given == nullptr || *given == '\0') return variable.fallback;
  if (variable.elsewhere_yes == nullptr) return given;
  return parse_yes_no(given).value_or(false) ? variable.elsewhere_yes : variable.fallback;
}

std::string allowed_values(const Variable& variable) {
  char text[160];
  switch (variable.kind) {
    case Kind::kText:
      return "any text";
    case Kind::kYesNo:
      return "yes or no";
    case Kind::kChoice:
      return std::string("one of ") + variable.choices;
    case Kind::kSignal:
      return "a signal (SIGUSR1, usr1, 10)";
    case Kind::kSignals:
      return "signals, separated by commas (SEGV,SIGBUS,6), or * for all";
    case Kind::kLetters:
      return std::string("letters of ") + variable.choices + ", perhaps after a ^; none: all";
    case Kind::kRanks:
      return "ranks (0,2-4,6) or * for all";
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
