// Devices without shared receive queues, as Intel's E810 is (irdma), and users who want none: each
// connection has receive buffers of its own. All other tests run so, too, with FAKE_VERBS_SRQ=no.
#include <algorithm>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class OwnReceives : public TwoHosts {
 protected:
  static fake_verbs::HcaSpec without_shared(const std::string& name, uint8_t host) {
    auto spec = fake_verbs::roce(name, host);
    spec.limits.max_srq = spec.limits.max_srq_wr = spec.limits.max_srq_sge = 0;
    return spec;
  }
  bool has_shared_queue() {
    const auto live = fabric_.live();
    return std::any_of(live.begin(), live.end(),
                       [](const std::string& line) { return line.starts_with("srq"); });
  }
  /// A rank of a large job on a device that has completion queues of so many entries.
  Status open_one(int completions, Rank rank_count) {
    auto spec = without_shared("one", 9);
    spec.limits.max_cqe = completions;
    fabric_.add(spec);
    VerbsOptions options;
    options.device = "one";
    options.connects_in_polls = true;
    auto made = make_verbs_driver(options);
    if (!made) return made.error();
    return (*made)->open({.rank = 0, .rank_count = rank_count, .network_depth = kDepth});
  }
};

TEST_F(OwnReceives, ADeviceWithoutSharedReceiveQueuesIsTaken) {
  fabric_.add(without_shared("plain", 3));
  const auto ports = find_verbs_ports("plain");
  ASSERT_TRUE(ports.ok()) << ports.sentence();
  VerbsOptions options = options_of(0);
  options.device = "plain";
  open(options);
  send_requests(20 * kDepth);
  EXPECT_EQ(at(0).failure(), nullptr);
}

TEST_F(OwnReceives, WhoWantsNoSharedReceiveQueuesHasNone) {
  VerbsOptions options = options_of(0);
  options.shares_receives = false;
  auto made = make_verbs_driver(options);
  ASSERT_TRUE(made.ok()) << made.sentence();
  ASSERT_TRUE((*made)->open({.rank = 0, .rank_count = 2, .network_depth = kDepth}).ok());
  EXPECT_FALSE(has_shared_queue());
}

TEST_F(OwnReceives, FewCompletionsForManyRanksDo) {
  const Status enough = open_one(2048, 100);
  EXPECT_TRUE(enough.ok()) << enough.sentence();
}

TEST_F(OwnReceives, TooFewCompletionsForAllRanksAreASentence) {
  const Status opened = open_one(2048, 200);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.sentence().find("completion queues of 2048 entries, too few for 200 ranks"),
            std::string::npos)
      << opened.sentence();
}

/// The receiver holds what arrived for long, and gives it back one by one.
TEST_F(OwnReceives, ThereIsABufferForEveryRequestOfTheWindow) {
  fabric_.add(without_shared("plain", 3));
  depth_ = 20;  // credit comes for 5 requests at a time, and buffers are posted again 8 at a time
  open(options_of(0), {.device = "plain", .connects_in_polls = true});
  Recv held[kDepth];
  uint64_t sent = 0, given = 0;
  for (uint32_t turns = 0; given < 50 * kDepth; ++turns) {
    ASSERT_LT(turns, kTurnsMax) << sent << " sent, " << given << " given back";
    const Work work = message(MessageClass::kRequest);
    while (at(0).post(0, {&work, 1}) == 1) ++sent;
    turn(0);
    const uint32_t count = at(1).recv(0, RecvFilter::kAll, held);
    for (uint32_t i = 0; i < count; ++i, ++given) {
      at(1).give_back(0, {&held[i], 1});
      while (at(0).post(0, {&work, 1}) == 1) ++sent;
      fabric_.step(5);
    }
  }
  EXPECT_EQ(fabric_.counters("plain").rnr_naks, 0u);
}

}  // namespace
}  // namespace pinwire
