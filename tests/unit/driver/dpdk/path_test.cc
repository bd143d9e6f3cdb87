// Two ranks whose ports carry 9,014 bytes, and a router between them that sends on 1,514 at most.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/driver/dpdk/namespaces.h"
#include "tests/unit/driver/dpdk/node.h"

namespace pinwire {
namespace {

constexpr uint32_t kRouterRank = 2;

/// Drops what is longer than 1,514 bytes. Its links carry more: af_packet would repeat for ever,
/// and send nothing else, what a veth device refuses.
std::string route_narrowly(Meeting& meeting) {
  forward_packets();
  for (const char* command :
       {"ip address add 10.1.0.1/24 dev e0", "ip address add 10.2.0.1/24 dev e1",
        "ip route replace 10.1.0.0/24 dev e0 mtu lock 1500",
        "ip route replace 10.2.0.0/24 dev e1 mtu lock 1500"})
    if (std::string wrong = shell(command); !wrong.empty()) return wrong;
  if (!meeting.barrier(3)) return "alone";
  const std::atomic_ref<uint64_t> done(meeting.words[7]);
  for (const double begin = monotonic_s(); done.load() < 2; usleep(10'000))
    if (monotonic_s() - begin > 2 * kPatience) return "the ranks did not finish";
  return "";
}

std::string exchange(const DpdkOptions& options, Meeting& meeting, Board& board) {
  Node node(options.rank, 2, meeting, board);
  if (std::string wrong = node.start(options); !wrong.empty()) return "start: " + wrong;
  if (node.driver().caps().mtu_bytes <= 1514) return "skip: the port carries no longer frames";
  for (auto step : {&Node::all_to_all, &Node::put_and_get, &Node::settle})
    if (std::string wrong = (node.*step)(); !wrong.empty()) return wrong;
  for (const char* stat : {"path_holes", "frames_in_pieces"})
    if (std::string wrong = node.await_stat(stat); !wrong.empty()) return wrong;
  if (std::string wrong = node.settle(); !wrong.empty()) return wrong;
  if (!meeting.barrier(2, kPatience)) return "the other did not finish";
  node.driver().close();
  return "";
}

std::string across_a_narrow_path(uint32_t rank, Meeting& meeting, Board& board,
                                 const std::string& directory) {
  if (std::string wrong = join_namespaces(rank, 3, meeting); !wrong.empty()) return wrong;
  if (rank == kRouterRank) return route_narrowly(meeting);
  if (!meeting.barrier(3)) return "alone";
  DpdkOptions options = packet_options(rank, directory);
  options.address = "10.1.0.2/24,10.2.0.2/24";
  options.gateway = rank == 0 ? "10.1.0.1" : "10.2.0.1";
  const std::string wrong = exchange(options, meeting, board);
  std::atomic_ref<uint64_t>(meeting.words[7]).fetch_add(1);
  return wrong;
}

TEST(Path, MessagesPutsAndGetsPassARouterThatDropsLongFrames) {
  const ScratchDirectory scratch;
  const SharedBoard board;
  const auto said = run_processes(3, 120, [&](uint32_t rank, Meeting& meeting) {
    return across_a_narrow_path(rank, meeting, *board, scratch.path());
  });
  EXPECT_ALL_CONTENT(said);
}

}  // namespace
}  // namespace pinwire
