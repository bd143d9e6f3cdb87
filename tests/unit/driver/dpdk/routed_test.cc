// Ranks whose kernels see their frames, too, and ranks of several IP networks.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/driver/dpdk/namespaces.h"
#include "tests/unit/driver/dpdk/node.h"

namespace pinwire {
namespace {

/// A rank on a host that routes: whatever it receives for others it sends on.
std::string beside_a_router(uint32_t rank, Meeting& meeting, Board& board,
                            const std::string& directory, const std::string& address) {
  if (std::string wrong = join_namespaces(rank, 2, meeting); !wrong.empty()) return wrong;
  forward_packets();
  const std::string mine = std::to_string(rank + 1), other = std::to_string(2 - rank);
  for (const std::string& command : {"ip address add 192.0.2." + mine + "/24 dev e0",
                                     "ip route add default via 192.0.2." + other})
    if (std::string wrong = shell(command); !wrong.empty()) return wrong;
  DpdkOptions options = packet_options(rank, directory);
  options.address = address;
  const uint64_t forwarded = kernel_counter("Ip", "ForwDatagrams");
  const uint64_t answered = kernel_counter("Icmp", "OutMsgs");
  const uint64_t received = kernel_counter("Ip", "InReceives");
  if (std::string wrong = run_rank(options, meeting, board); !wrong.empty()) return wrong;
  if (kernel_counter("Ip", "InReceives") < received + kMessages / 100)
    return "the kernel saw nothing: this shows nothing";
  if (const uint64_t count = kernel_counter("Ip", "ForwDatagrams") - forwarded; count != 0)
    return "the kernel sent " + std::to_string(count) + " frames on";
  if (const uint64_t count = kernel_counter("Icmp", "OutMsgs") - answered; count != 0)
    return "the kernel answered " + std::to_string(count) + " frames";
  return "";
}

void run_beside_routers(const std::string& address) {
  const ScratchDirectory scratch;
  const SharedBoard board;
  const auto said = run_processes(2, 120, [&](uint32_t rank, Meeting& meeting) {
    return beside_a_router(rank, meeting, *board, scratch.path(), address);
  });
  EXPECT_ALL_CONTENT(said);
}

TEST(Routed, AKernelThatForwardsNeitherSendsFramesOnNorAnswersThem) { run_beside_routers(""); }

TEST(Routed, NorDoesOneThatOwnsTheAddressesOfTheRanks) { run_beside_routers("interface"); }

/// Rank r has 10.<r + 1>.0.2; the last process routes between the networks.
std::string across_a_gateway(uint32_t rank, Meeting& meeting, Board& board,
                             const std::string& directory, const std::string& gateway_of_rank_1) {
  if (std::string wrong = join_namespaces(rank, 3, meeting); !wrong.empty()) return wrong;
  if (rank == 2) {
    forward_packets();
    for (const char* command :
         {"ip address add 10.1.0.1/24 dev e0", "ip address add 10.2.0.1/24 dev e1",
          "ip link set e1 address 02:00:00:00:00:99"})
      if (std::string wrong = shell(command); !wrong.empty()) return wrong;
  }
  if (!meeting.barrier(3)) return "alone";
  std::string wrong;
  if (rank == 2) {
    const std::atomic_ref<uint64_t> done(meeting.words[7]);
    for (const double begin = monotonic_s(); done.load() < 2;) {
      if (monotonic_s() - begin > 2 * kPatience) return "the ranks did not finish";
      usleep(10'000);
    }
    return kernel_counter("Ip", "ForwDatagrams") >= kMessages / 10 ? "" : "nothing was routed";
  }
  DpdkOptions options = packet_options(rank, directory);
  options.address = "10.1.0.2/24,10.2.0.2/24";
  options.gateway = rank == 0 ? "10.1.0.1" : gateway_of_rank_1;
  wrong = run_rank(options, meeting, board);
  std::atomic_ref<uint64_t>(meeting.words[7]).fetch_add(1);
  return wrong;
}

TEST(Routed, RanksOfTwoNetworksMeetThroughTheirGateways) {
  for (const char* gateway : {"10.2.0.1", "02:00:00:00:00:99"}) {
    const ScratchDirectory scratch;
    const SharedBoard board;
    const auto said = run_processes(3, 120, [&](uint32_t rank, Meeting& meeting) {
      return across_a_gateway(rank, meeting, *board, scratch.path(), gateway);
    });
    EXPECT_ALL_CONTENT(said);
  }
}

}  // namespace
}  // namespace pinwire
