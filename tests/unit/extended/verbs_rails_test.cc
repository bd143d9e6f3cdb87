// From the settings to the verbs drivers, on a fake RDMA network.
#include <gtest/gtest.h>

#include <algorithm>

#include "extended/drivers/table.h"
#include "tests/support/verbs/fake_verbs.h"

namespace pinwire {
namespace {

class VerbsRails : public testing::Test {
 protected:
  VerbsRails() {
    for (const uint8_t host : {uint8_t{1}, uint8_t{2}}) {
      auto spec = fake_verbs::roce("nic" + std::to_string(host), host);
      spec.odp = fake_verbs::all_paging();
      fabric_.add(spec);
    }
    job_.settings.verbs_device = "nic1,nic2";
  }
  std::string refusal() {
    auto rails = make_verbs_for(job_);
    return rails ? std::to_string(rails->size()) + " rails" : rails.sentence();
  }
  bool pages(SegmentKind kind, bool use_odp) {
    job_.kind = kind;
    job_.settings.use_odp = use_odp;
    auto rails = make_verbs_for(job_);
    return rails.ok() && (*rails)[0]->caps().exposes && (*rails)[1]->caps().exposes;
  }

  bool shares_receives(int ranks_min) {
    job_.settings.srq_ranks_min = ranks_min;
    auto rails = make_verbs_for(job_);
    EXPECT_TRUE(rails.ok() && (*rails)[0]->open({.rank = 0, .rank_count = 2}).ok());
    const auto live = fabric_.live();
    return std::any_of(live.begin(), live.end(),
                       [](const std::string& line) { return line.starts_with("srq"); });
  }

  fake_verbs::Fabric fabric_;
  Job job_;
};

TEST_F(VerbsRails, PageOnDemandForEverythingUnlessTheUserSaysNo) {
  EXPECT_TRUE(pages(SegmentKind::kEverything, true));
  EXPECT_FALSE(pages(SegmentKind::kEverything, false));
  EXPECT_FALSE(pages(SegmentKind::kFast, true));
  EXPECT_FALSE(pages(SegmentKind::kLarge, true));
}

TEST_F(VerbsRails, ShareReceiveQueuesFromTheRanksOnThatTheUserNames) {
  constexpr Rank kRanks = 1;  // of the engine, which has not started
  EXPECT_EQ(shares_receives(-1), fake_verbs::has_shared_receives());
  EXPECT_FALSE(shares_receives(0));
  EXPECT_EQ(shares_receives(kRanks), fake_verbs::has_shared_receives());
  EXPECT_FALSE(shares_receives(kRanks + 1));
}

TEST_F(VerbsRails, HaveThePartitionAndTheServiceThatTheUserNames) {
  job_.settings.ibv_service_level = 3;
  job_.settings.ibv_traffic_class = 104;
  auto rails = make_verbs_for(job_);
  ASSERT_TRUE(rails.ok()) << rails.sentence();
  Driver& rail = *(*rails)[0];
  ASSERT_TRUE(rail.open({.rank = 0, .rank_count = 1}).ok());
  ASSERT_TRUE(rail.connect(0, rail.address()).ok());
  uint64_t words[2] = {7, 0};
  auto region = rail.pin(words, sizeof words, -1, 0);
  Work put{};
  put.op = Op::kPut;
  put.local = &words[0];
  put.bytes = sizeof words[0];
  put.local_key = region->local_key;
  put.remote = reinterpret_cast<uint64_t>(&words[1]);
  put.remote_key = region->remote_key;
  fabric_.set_trace(true);
  Done done;
  while (rail.post(0, {&put, 1}) == 0) rail.recv(0, RecvFilter::kAll, {});
  while (rail.done(0, {&done, 1}) == 0) {
  }
  EXPECT_EQ(words[1], 7u);
  EXPECT_EQ(fabric_.trace().at(0).way.sl, 3);
  EXPECT_EQ(fabric_.trace().at(0).way.grh.traffic_class, 104);
  job_.settings.ibv_pkey = 0x55;
  EXPECT_NE(refusal().find("GASNET_IBV_PKEY=0x0055 is no partition key"), std::string::npos);
}

TEST_F(VerbsRails, EachHasAnAddressOfItsOwn) {
  job_.settings.gid = "10.0.0.1,10.0.0.2";
  EXPECT_EQ(refusal(), "2 rails");
  job_.settings.gid = "1,10.0.0.2";
  EXPECT_EQ(refusal(), "2 rails");
  job_.settings.gid = "10.0.0.2,10.0.0.1";
  EXPECT_NE(refusal().find("nic1 port 1: GASNET_GID=10.0.0.2 is not an address of the port"),
            std::string::npos)
      << refusal();
}

TEST_F(VerbsRails, AnIndexIsForAllOfThem) {
  job_.settings.gid = "3";
  EXPECT_EQ(refusal(), "2 rails");
  job_.settings.gid = "";
  EXPECT_EQ(refusal(), "2 rails");
}

TEST_F(VerbsRails, TooFewAddressesAndTooManyAreRefused) {
  for (const char* wanted : {"10.0.0.1", "10.0.0.1,10.0.0.2,10.0.0.3"}) {
    job_.settings.gid = wanted;
    const std::string said = refusal();
    EXPECT_NE(said.find(std::string("GASNET_GID=") + wanted + " names"), std::string::npos) << said;
    EXPECT_NE(said.find("this rank uses 2 ports, nic1:1,nic2:1; name one for each"),
              std::string::npos)
        << said;
  }
  job_.settings.verbs_device = "nic1";
  job_.settings.gid = "10.0.0.1,10.0.0.2";
  EXPECT_NE(refusal().find("this rank uses 1 port, nic1:1;"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace pinwire
