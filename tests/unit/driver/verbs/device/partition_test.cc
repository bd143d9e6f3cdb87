// The partition of a job, its service level and traffic class: where the device is told of them.
#include "driver/verbs/device/partition.h"

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

uint32_t index_of(std::initializer_list<uint16_t> table, uint32_t wanted) {
  const std::vector<uint16_t> keys(table);
  auto index = verbs::choose_partition(keys, wanted);
  return index ? *index : ~0u;
}

TEST(Partition, IsFoundByItsKeyOfFifteenBits) {
  EXPECT_EQ(index_of({0xffff, 0x8012}, 0), 0u);
  EXPECT_EQ(index_of({0xffff, 0x8012}, 0x12), 1u);
  EXPECT_EQ(index_of({0xffff, 0x8012}, 0x8012), 1u);
  EXPECT_EQ(index_of({0xffff, 0x0012}, 0x8012), 1u);
  EXPECT_EQ(index_of({0xffff, 0x0012, 0x8012}, 0x12), 2u) << "a full member before a limited one";
  EXPECT_EQ(index_of({0xffff}, 0x7fff), 0u);
  EXPECT_EQ(index_of({0xffff, 0x8012}, 0x13), ~0u);
  EXPECT_EQ(index_of({}, 0x13), ~0u);
  EXPECT_EQ(index_of({0xffff, 0}, 0x8000), ~0u) << "an empty entry is no partition";
}

class Service : public TwoHosts {
 protected:
  static constexpr uint16_t kKey = 0x8123;

  /// Two ports of one network, with two partitions each, in different places.
  Service() {
    for (const bool is_first : {true, false}) {
      auto spec = fake_verbs::infiniband(is_first ? "ib0" : "ib1", is_first ? 10 : 11);
      spec.ports[0].pkeys = is_first ? std::vector<uint16_t>{0xffff, 0x8001, kKey}
                                     : std::vector<uint16_t>{0xffff, kKey};
      fabric_.add(spec);
    }
  }
  static VerbsOptions on(const char* device, uint32_t pkey = 0) {
    return {.device = device, .pkey = pkey, .connects_in_polls = true};
  }
  /// All that was posted from opening to a message that arrived, datagrams too.
  std::vector<fake_verbs::PostedWr> trace_of_greeting(const VerbsOptions& left,
                                                      const VerbsOptions& right) {
    fabric_.set_trace(true);
    open(left, right);
    const Work hello = message(MessageClass::kReply);
    turn_until([&] { return at(0).post(0, {&hello, 1}) == 1; });
    turn_until([&] { return arrived(1, MessageClass::kReply) == 1; });
    EXPECT_TRUE(fabric_.run());
    return fabric_.trace();
  }
};

TEST_F(Service, RanksMeetAndTalkInThePartition) {
  for (const auto& one : trace_of_greeting(on("ib0", kKey & 0x7fff), on("ib1", kKey))) {
    EXPECT_EQ(one.pkey, kKey);
    EXPECT_EQ(one.way.sl, 0);
    EXPECT_EQ(one.way.is_global, 0);
  }
}

TEST_F(Service, APartitionThatThePortIsNotInIsASentence) {
  auto made = make_verbs_driver(on("ib1", 0x8001));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.sentence(),
            "ib1 port 1: GASNET_IBV_PKEY=0x8001 is no partition key of the port, which has 0xffff, "
            "0x8123");
}

TEST_F(Service, AllPacketsHaveTheServiceLevelAndTheTrafficClass) {
  VerbsOptions left = options_of(0), right = options_of(1);
  left.service_level = right.service_level = 3;
  left.traffic_class = right.traffic_class = 104;
  for (const auto& one : trace_of_greeting(left, right)) {
    EXPECT_EQ(one.way.sl, 3);
    EXPECT_EQ(one.way.is_global, 1);
    EXPECT_EQ(one.way.grh.traffic_class, 104);
  }
}

TEST_F(Service, ATrafficClassOnInfiniBandBringsAGlobalHeader) {
  VerbsOptions left = on("ib0"), right = on("ib1");
  left.traffic_class = right.traffic_class = 7;
  for (const auto& one : trace_of_greeting(left, right)) {
    EXPECT_EQ(one.way.is_global, 1);
    EXPECT_EQ(one.way.grh.traffic_class, 7);
  }
}

TEST_F(Service, APortThatRequiresAGlobalHeaderGetsOne) {
  for (const uint16_t lid : {uint16_t{20}, uint16_t{21}}) {
    auto spec = fake_verbs::infiniband("opa" + std::to_string(lid), lid);
    spec.ports[0].facts.flags = IBV_QPF_GRH_REQUIRED;
    fabric_.add(spec);
  }
  const auto posted = trace_of_greeting(on("opa20"), on("opa21"));
  EXPECT_FALSE(posted.empty());
  for (const auto& one : posted) EXPECT_EQ(one.way.is_global, 1);
}

}  // namespace
}  // namespace pinwire
