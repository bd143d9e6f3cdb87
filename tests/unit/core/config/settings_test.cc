#include "core/config/settings.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "core/base/udp_ports.h"
#include "core/config/suggest.h"
#include "core/config/variables.h"

namespace pinwire {
namespace {

using Given = std::map<std::string, std::string>;

Result<Settings> read(const Given& given) {
  return read_settings([&](const char* name) -> const char* {
    const auto it = given.find(name);
    return it == given.end() ? nullptr : it->second.c_str();
  });
}

TEST(Settings, DefaultsAreValid) {
  auto settings = read({});
  ASSERT_TRUE(settings.ok()) << settings.sentence();
  EXPECT_EQ(settings->driver, DriverChoice::kAuto);
  EXPECT_EQ(settings->tmp_dir, "/tmp");
  EXPECT_EQ(settings->max_segment, (MemoryBound{true, 0.85, 0}));
  EXPECT_FALSE(settings->quiet);
}

TEST(Settings, GivenValuesArrive) {
  auto settings = read({{"GASNET_DRIVER", "dpdk"},
                        {"GASNET_NETWORKDEPTH", "2"},
                        {"GASNET_DPDK_MTU", "9K"},
                        {"GASNET_DPDK_FABRIC", "af_packet"},
                        {"GASNET_USE_HUGEPAGES", "1"},
                        {"GASNET_QUIET", "Y"},
                        {"GASNET_MAX_SEGSIZE", "128.0MB/P"},
                        {"GASNET_WATCHDOG_US", "250"},
                        {"GASNET_EAL_ARGS", "-l 1 --no-pci"}});
  ASSERT_TRUE(settings.ok()) << settings.sentence();
  EXPECT_EQ(settings->driver, DriverChoice::kDpdk);
  EXPECT_EQ(settings->network_depth, 2U);
  EXPECT_EQ(settings->dpdk_mtu_bytes, 9U << 10);
  EXPECT_EQ(settings->dpdk_fabric, "af_packet");
  EXPECT_EQ(settings->hugepages, SegmentPages::kYes);
  EXPECT_TRUE(settings->quiet);
  EXPECT_EQ(settings->max_segment, (MemoryBound{false, 0, 128ULL << 20}));
  EXPECT_EQ(settings->eal_args, "-l 1 --no-pci");
  EXPECT_EQ(settings->watchdog_us, 250U);
}

/// A client may stay in a No-Interrupt Section of the order of 10 s.
TEST(Settings, NoPeerIsTakenForDeadInTenSeconds_C1_186) {
  auto settings = read({});
  ASSERT_TRUE(settings.ok()) << settings.sentence();
  EXPECT_GT(settings->peer_timeout_s, 10);
}

TEST(Settings, AReceiveThreadIsTheDispatchThreadWhereNothingElseIsSaid) {
  const auto dispatch_of = [](const Given& given) {
    auto settings = read(given);
    EXPECT_TRUE(settings.ok()) << settings.sentence();
    return settings.ok() ? settings->dispatch : DispatchMode::kWatchdog;
  };
  EXPECT_EQ(dispatch_of({{"GASNET_RCV_THREAD", "1"}}), DispatchMode::kThread);
  EXPECT_EQ(dispatch_of({{"GASNET_RCV_THREAD", "yes"}, {"GASNET_DISPATCH", ""}}),
            DispatchMode::kThread);
  EXPECT_EQ(dispatch_of({{"GASNET_RCV_THREAD", "0"}}), DispatchMode::kPoll);
  EXPECT_EQ(dispatch_of({{"GASNET_RCV_THREAD", "y"}, {"GASNET_DISPATCH", "interrupt"}}),
            DispatchMode::kInterrupt);
  EXPECT_FALSE(read({{"GASNET_RCV_THREAD", "perhaps"}}).ok());
}

// A variable that clients' launchers and build systems set is no typing mistake.
TEST(Warnings, NamesOfOtherConduitsAndOfClientsAreKnown) {
  const char* const environment[] = {"GASNET_PREFIX=/usr", "GASNET_RCV_THREAD=1",
                                     "GASNET_SND_THREAD=1", nullptr};
  EXPECT_EQ(warnings_about(environment), std::vector<std::string>{});
}

TEST(Settings, ABadValueIsNamedWithWhatIsAllowed) {
  const struct {
    const char *name, *value, *allowed;
  } cases[] = {{"GASNET_DRIVER", "floppy", "one of auto|shm|verbs|dpdk"},
               {"GASNET_NETWORKDEPTH", "0", "a whole number from 1 to 65535"},
               {"GASNET_NETWORKDEPTH", "many", "a whole number from 1 to 65535"},
               {"GASNET_QUIET", "perhaps", "yes or no"},
               {"GASNET_DPDK_MTU", "70000", "bytes from 576 to 65535"},
               {"GASNET_MAX_SEGSIZE", "0", "a fraction below 1"},
               {"GASNET_SHM_RING_SLOTS", "1000", "a power of two"},
               {"GASNET_DPDK_AUTH", "none", "one of full|header"},
               {"GASNET_DPDK_WINDOW", "100", "a power of two"},
               {"GASNET_DPDK_WINDOW", "2", "a power of two, 4 at least"},
               {"GASNET_DPDK_WINDOW", "1024", "a whole number from 0 to 512"},
               {"GASNET_FREEZE_SIGNAL", "SIGNONE", "a signal (SIGUSR1"},
               {"GASNET_NO_CATCH_SIGNAL", "SEGV,*", "separated by commas"},
               {"GASNET_BACKTRACE_NODES", "4-2", "ranks (0,2-4,6)"},
               {"GASNET_BACKTRACE_NODES", "1,", "ranks (0,2-4,6)"},
               {"GASNET_BARRIER", "RDMADISSEM", "one of DISSEM|AMDISSEM|PSHM"},
               {"GASNET_EXITTIMEOUT", "-1", "a number from 0 to 86400"}};
  for (const auto& one : cases) {
    auto settings = read({{one.name, one.value}});
    ASSERT_FALSE(settings.ok()) << one.name;
    for (const char* part : {one.name, one.value, one.allowed})
      EXPECT_NE(settings.sentence().find(part), std::string::npos) << settings.sentence();
  }
}

TEST(Settings, TheSentenceOfABadValueIsWhole) {
  EXPECT_EQ(read({{"GASNET_DRIVER", "foo"}}).sentence(),
            "invalid GASNET_DRIVER=\"foo\": expected one of auto|shm|verbs|dpdk (default auto)");
  EXPECT_EQ(read({{"GASNET_DPDK_WINDOW", "100"}}).sentence(),
            "invalid GASNET_DPDK_WINDOW=100: expected a power of two, 4 at least");
}

TEST(Settings, TheDepthOfRequestsAndTheWindowOfFramesAreTwoThings) {
  auto settings = read({{"GASNET_NETWORKDEPTH", "2"}});
  EXPECT_EQ(settings->network_depth, 2u);
  EXPECT_EQ(settings->dpdk_window_frames, 0u);
  EXPECT_EQ(read({{"GASNET_DPDK_WINDOW", "16"}})->dpdk_window_frames, 16u);
}

TEST(Settings, SharedReceiveQueuesAreForAllJobsNoneOrThoseOfManyRanks) {
  EXPECT_EQ(read({})->srq_ranks_min, -1);
  EXPECT_EQ(read({{"GASNET_USE_SRQ", "0"}})->srq_ranks_min, 0);
  EXPECT_EQ(read({{"GASNET_USE_SRQ", "500"}})->srq_ranks_min, 500);
  EXPECT_FALSE(read({{"GASNET_USE_SRQ", "-2"}}).ok());
}

TEST(Settings, ABoundOfConnectionsIsAWholeNumberOfPeers) {
  EXPECT_EQ(read({})->qp_max, 0u);
  EXPECT_EQ(read({{"GASNET_QP_MAX", "64"}})->qp_max, 64u);
  EXPECT_EQ(read({{"GASNET_QP_MAX", "16777216"}})->qp_max, 1u << 24);
  for (const char* bad : {"-1", "16777217", "many", "1.5", "64K"}) {
    const auto refused = read({{"GASNET_QP_MAX", bad}});
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_NE(refused.sentence().find(bad), std::string::npos) << refused.sentence();
    EXPECT_NE(refused.sentence().find("GASNET_QP_MAX"), std::string::npos) << refused.sentence();
  }
}

TEST(Settings, ThePartitionMayBeInHexadecimalWithItsMembership) {
  EXPECT_EQ(read({})->ibv_pkey, 0u);
  EXPECT_EQ(read({{"GASNET_IBV_PKEY", "0x8012"}})->ibv_pkey, 0x8012u);
  EXPECT_EQ(read({{"GASNET_IBV_PKEY", "18"}})->ibv_pkey, 18u);
  EXPECT_FALSE(read({{"GASNET_IBV_PKEY", "0x10000"}}).ok());
  EXPECT_FALSE(read({{"GASNET_IBV_SERVICE_LEVEL", "16"}}).ok());
  EXPECT_FALSE(read({{"GASNET_IBV_TRAFFIC_CLASS", "256"}}).ok());
}

TEST(Settings, FramesAreAuthenticatedAsAWholeUnlessToldOtherwise) {
  EXPECT_EQ(read({})->dpdk_auth, DpdkAuth::kFull);
  EXPECT_EQ(read({{"GASNET_DPDK_AUTH", "header"}})->dpdk_auth, DpdkAuth::kHeader);
}

TEST(Settings, UdpPortsLieInTheRangeAndNicsKeepNoneOfThem) {
  EXPECT_EQ(read({})->dpdk_udp_port, kDefaultUdpPort);
  const Given highest = {{"GASNET_DPDK_UDP_PORT", "65520"}, {"GASNET_DPDK_QUEUES", "16"}};
  EXPECT_EQ(read(highest)->dpdk_udp_port, 65520);
  EXPECT_TRUE(read({{"GASNET_DPDK_UDP_PORT", "4788"}}).ok());
  const struct {
    const char *port, *queues;
    std::vector<const char*> parts;
  } cases[] = {
      {"1023", "1", {"GASNET_DPDK_UDP_PORT", "1023", "from 1024 to 65535"}},
      {"65536", "1", {"GASNET_DPDK_UDP_PORT", "65536", "from 1024 to 65535"}},
      {"65521", "16", {"GASNET_DPDK_UDP_PORT is 65521", "port 65536", "set 65520 or less"}},
      {"4791", "1", {"GASNET_DPDK_UDP_PORT is 4791", "RoCE v2", "set another"}},
      {"4776", "16", {"GASNET_DPDK_UDP_PORT is 4776", "4776 to 4791", "for VXLAN"}},
      {"6080", "2", {"GASNET_DPDK_UDP_PORT is 6080", "port 6081", "for Geneve"}}};
  for (const auto& one : cases) {
    auto settings = read({{"GASNET_DPDK_UDP_PORT", one.port}, {"GASNET_DPDK_QUEUES", one.queues}});
    ASSERT_FALSE(settings.ok()) << one.port;
    for (const char* part : one.parts)
      EXPECT_NE(settings.sentence().find(part), std::string::npos) << settings.sentence();
  }
}

TEST(Settings, TheDefaultUdpPortIsNobodysElse) {
  constexpr uint32_t kQueuesMax = 16, kLinuxEphemeralMin = 32768, kLinuxEphemeralMax = 60999;
  for (uint32_t port = kDefaultUdpPort; port < kDefaultUdpPort + kQueuesMax; ++port) {
    EXPECT_EQ(udp_port_claimed_by(port), nullptr);
    EXPECT_TRUE(port > kLinuxEphemeralMax || port < kLinuxEphemeralMin) << port;
    EXPECT_GE(port, 49152u) << "registered with IANA for another's use";
    EXPECT_LE(port, 65535u);
  }
}

TEST(Settings, DebuggingVariables) {
  auto settings = read({{"GASNET_FREEZE_SIGNAL", "usr1"},
                        {"GASNET_BACKTRACE_SIGNAL", "SIGUSR2"},
                        {"GASNET_BACKTRACE_NODES", "0,2-4"},
                        {"GASNET_BACKTRACE_MT", "1"},
                        {"GASNET_BARRIER", "amdissem"},
                        {"GASNET_HOST_DETECT", "hostname"},
                        {"GASNET_NO_CATCH_SIGNAL", "SEGV,sigbus,6"}});
  ASSERT_TRUE(settings.ok()) << settings.sentence();
  EXPECT_EQ(settings->freeze_signal, SIGUSR1);
  EXPECT_EQ(settings->backtrace_signal, SIGUSR2);
  EXPECT_EQ(settings->backtrace_mt, AutoYesNo::kYes);
  EXPECT_EQ(settings->barrier, BarrierChoice::kAmDissem);
  EXPECT_EQ(settings->host_detect, HostDetect::kHostname);
  EXPECT_EQ(settings->no_catch_signals, 1u << SIGSEGV | 1u << SIGBUS | 1u << SIGABRT);
  for (const uint32_t rank : {0u, 2u, 4u}) EXPECT_TRUE(settings->backtrace_nodes.holds(rank));
  for (const uint32_t rank : {1u, 5u}) EXPECT_FALSE(settings->backtrace_nodes.holds(rank));
  EXPECT_TRUE(read({})->backtrace_nodes.holds(7));
  EXPECT_EQ(read({})->freeze_signal, 0);
}

TEST(Settings, TraceMasks) {
  const auto bit = [](char letter) { return 1u << (letter - 'A'); };
  const auto all = read({})->trace_mask;
  EXPECT_EQ(all & (bit('G') | bit('P') | bit('U') | bit('Z')), bit('G') | bit('P') | bit('U'));
  EXPECT_EQ(read({{"GASNET_TRACEMASK", "GP"}})->trace_mask, bit('G') | bit('P'));
  EXPECT_EQ(read({{"GASNET_STATSMASK", "^X"}})->stats_mask, all & ~bit('X'));
  for (const char* bad : {"GZ", "gp", "G^X", "G,P"})
    EXPECT_FALSE(read({{"GASNET_TRACEMASK", bad}}).ok()) << bad;
}

TEST(Settings, TmpdirCountsWhereGasnetsOwnIsNotSet) {
  EXPECT_EQ(read({{"TMPDIR", "/var/tmp"}})->tmp_dir, "/var/tmp");
  EXPECT_EQ(read({{"TMPDIR", ""}})->tmp_dir, "/tmp");
  EXPECT_EQ(read({{"TMPDIR", "/var/tmp"}, {"GASNET_TMPDIR", "/here"}})->tmp_dir, "/here");
}

TEST(Settings, AnEmptyValueIsNone) { EXPECT_TRUE(read({{"GASNET_NETWORKDEPTH", ""}}).ok()); }

TEST(Settings, C1_108_ExitTimeout) {
  EXPECT_DOUBLE_EQ(exit_timeout_s(*read({{"GASNET_EXITTIMEOUT", "7.5"}}), 1000), 7.5);
  const Given three = {{"GASNET_EXITTIMEOUT_MIN", "2"},
                       {"GASNET_EXITTIMEOUT_FACTOR", "0.5"},
                       {"GASNET_EXITTIMEOUT_MAX", "10"}};
  EXPECT_DOUBLE_EQ(exit_timeout_s(*read(three), 4), 4.0);
  EXPECT_DOUBLE_EQ(exit_timeout_s(*read(three), 400), 10.0);
}

TEST(Settings, WarnsAboutUnknownNamesOnly) {
  const char* environment[] = {"PATH=/bin",
                               "GASNET_DRIVER=shm",
                               "GASNET_BACKTRACE=1",
                               "GASNET_COLL_SCRATCH_SIZE=1",
                               "GASNET_TRACEFILE=x",
                               "GASNET_NETWORKDEPHT=3",
                               "GASNET_XYZZYPLUGH=1",
                               "GASNETX=1",
                               nullptr};
  const auto warnings = warnings_about(environment);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("GASNET_NETWORKDEPHT: did you mean GASNET_NETWORKDEPTH?"),
            std::string::npos)
      << warnings[0];
  EXPECT_EQ(warnings[1].find("did you mean"), std::string::npos) << warnings[1];
}

TEST(Settings, HelpNamesEveryPublicVariable) {
  for (const auto& variable : variables()) {
    EXPECT_EQ(
        ("\n" + help_text()).find("\n" + std::string(variable.name) + "\n") == std::string::npos,
        variable.internal)
        << variable.name;
    EXPECT_EQ(help_markdown().find("`" + std::string(variable.name) + "`") == std::string::npos,
              variable.internal);
  }
}

TEST(Settings, DescriptionMarksDefaults) {
  const auto text = describe_environment([](const char* name) -> const char* {
    return std::string_view(name) == "GASNET_DRIVER" ? "shm" : nullptr;
  });
  EXPECT_NE(text.find("GASNET_DRIVER = shm\n"), std::string::npos);
  EXPECT_NE(help_text().find("GASNET_CATCH_EXIT\n"), std::string::npos)
      << "says why it does nothing";
  EXPECT_NE(text.find("GASNET_TMPDIR = /tmp  (default)\n"), std::string::npos);
}

TEST(Suggest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("abc", "axc"), 1);
  EXPECT_EQ(edit_distance("abc", "acb"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

}  // namespace
}  // namespace pinwire
