// Atomic domains over NICs whose atomics meet no CPU's, or do: from attach to the operations.
#include <vector>

#include "extended/atomics/atomic.h"
#include "extended/atomics/domain.h"
#include "extended/state/objects.h"
#include "tests/unit/extended/two_ranks.h"

namespace pinwire {

static Job job_of_test;
Job* job() noexcept { return &job_of_test; }

namespace {

constexpr gex_OP_t kOfNics =
    GEX_OP_FADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_FDEC | GEX_OP_CAS | GEX_OP_FCAS | GEX_OP_GET;

class NicAtomics : public TwoRanks {
 protected:
  NicAtomics() {
    kind_ = SegmentKind::kFast;
    stay({0, 1});
    team_.size = 2;
    std::memset(everywhere, 0, sizeof everywhere);
  }
  ~NicAtomics() override { job_of_test.settings.driver = DriverChoice::kAuto; }
  static void stay(std::vector<uint16_t> supernodes) {
    job_of_test.places.clear();
    for (const uint16_t one : supernodes) job_of_test.places.push_back({one, one});
  }
  void attach_with(ibv_atomic_cap of_0, ibv_atomic_cap of_1, uint32_t rails = 1) {
    atomics_[0] = of_0;
    atomics_[1] = of_1;
    attach(rails, {false, false}, {false, false});
  }
  AtomicWay way(gex_OP_t codes = kOfNics, gex_DT_t type = GEX_DT_U64, gex_Flags_t flags = 0) {
    return way_of(team_, type, codes, flags);
  }
  /// Returns what it found.
  uint64_t operate(Rank to, gex_OP_t code, uint64_t a, uint64_t b = 0, gex_OP_t codes = kOfNics) {
    pinwire_ad domain{{&team_}, &team_, GEX_DT_U64, codes, 0, way(codes)};
    uint64_t found = 77;
    pinwire_op op{};
    EXPECT_TRUE(
        start_atomic(domain, to, word(), {GEX_DT_U64, code, a, b}, &found, op, Patience::kWaits));
    wait_until([&] { return op.finished(); });
    return found;
  }
  static uint64_t* word() { return reinterpret_cast<uint64_t*>(everywhere); }
  uint64_t by(const char* device) { return fabric_.counters(device).atomics; }

  pinwire_tm team_;
};

TEST_F(NicAtomics, ADomainThatItsOperationsAllowIsTheNicsAlone_GX_163) {
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA);
  EXPECT_EQ(engine.nic_atomics, kRdmaAtomics);
  EXPECT_EQ(way(), AtomicWay::kNic);
  EXPECT_EQ(way(kOfNics, GEX_DT_I64), AtomicWay::kNic);
  EXPECT_EQ(way(GEX_OP_GET | GEX_OP_FCAS, GEX_DT_DBL), AtomicWay::kNic) << "bits are bits";
  EXPECT_EQ(way(kOfNics, GEX_DT_U64, GEX_FLAG_AD_FAVOR_REMOTE), AtomicWay::kNic);
  EXPECT_EQ(way(kOfNics, GEX_DT_U32), AtomicWay::kFastest);
  EXPECT_EQ(way(GEX_OP_ADD, GEX_DT_DBL), AtomicWay::kFastest);
  for (const gex_OP_t none : {GEX_OP_SET, GEX_OP_SWAP, GEX_OP_MULT, GEX_OP_FMAX, GEX_OP_XOR}) {
    EXPECT_EQ(way(kOfNics | none), AtomicWay::kFastest) << none;
  }
}

TEST_F(NicAtomics, WhoSharesMemoryNeedsNoNic_GX_155) {
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA);
  EXPECT_EQ(way(kOfNics, GEX_DT_U64, GEX_FLAG_AD_FAVOR_MY_RANK), AtomicWay::kFastest);
  EXPECT_EQ(way(kOfNics, GEX_DT_U64, GEX_FLAG_AD_FAVOR_MY_NBRHD), AtomicWay::kFastest);
  stay({3, 3});
  EXPECT_EQ(way(), AtomicWay::kFastest);
  job_of_test.settings.driver = DriverChoice::kVerbs;
  EXPECT_EQ(way(), AtomicWay::kNic) << "as they share none";
  team_.size = 1;
  EXPECT_EQ(way(), AtomicWay::kFastest);
  const uint32_t further[] = {0, target_of(1, 1)};
  team_.members.targets = further;
  team_.size = 2;
  EXPECT_EQ(way(), AtomicWay::kFastest) << "a further endpoint, of which nobody need know yet";
}

TEST_F(NicAtomics, ItsOperationsOnOwnMemoryAreTheOwnNics) {
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA);
  EXPECT_EQ(operate(0, GEX_OP_FADD, 5), 0u);
  EXPECT_EQ(operate(0, GEX_OP_FDEC, 0), 5u);
  EXPECT_EQ(operate(0, GEX_OP_FCAS, 4, 40), 4u);
  EXPECT_EQ(operate(0, GEX_OP_GET, 0), 40u);
  EXPECT_EQ(by("r0_0"), 4u);
  EXPECT_EQ(by("r1_0"), 0u);
  EXPECT_EQ(operate(1, GEX_OP_FADD, 2), 40u);
  EXPECT_EQ(fabric_.counters().atomics, 5u);
  EXPECT_EQ(*word(), 42u);
  EXPECT_EQ(fabric_.counters().sends, 0u);
}

TEST_F(NicAtomics, EachRanksMemoryBelongsToOneNicOfIts) {
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA, 2);
  ASSERT_EQ(way(), AtomicWay::kNic);
  EXPECT_EQ(engine.rail_to(1), 1u);
  EXPECT_EQ(operate(0, GEX_OP_FADD, 1), 0u);
  EXPECT_EQ(by("r0_0"), 1u) << "rail 0 of rank 0";
  EXPECT_EQ(operate(1, GEX_OP_FADD, 1), 1u);
  EXPECT_EQ(by("r0_1"), 1u) << "to rail 1 of rank 1";
  EXPECT_EQ(fabric_.counters().atomics, 2u);
  EXPECT_EQ(engine.atomic_rail_of(0), 0u);
  EXPECT_EQ(engine.atomic_rail_of(1), 1u);
}

TEST_F(NicAtomics, ThoseThatMeetTheCpusNeedNotDoWhatIsNear) {
  attach_with(IBV_ATOMIC_GLOB, IBV_ATOMIC_GLOB);
  EXPECT_EQ(engine.nic_atomic_keys, nullptr);
  EXPECT_EQ(operate(0, GEX_OP_FADD, 5), 0u);
  EXPECT_EQ(fabric_.counters().atomics, 0u) << "by this CPU";
  EXPECT_EQ(operate(1, GEX_OP_FADD, 6), 5u);
  EXPECT_EQ(fabric_.counters().atomics, 1u);
  EXPECT_EQ(*word(), 11u);
}

// Atomics are the target's: what its NIC does counts, not what the asker's could.
TEST_F(NicAtomics, OneRankWhoseAtomicsMeetNoCpuMakesThemTheNicsAlone) {
  attach_with(IBV_ATOMIC_GLOB, IBV_ATOMIC_HCA);
  EXPECT_FALSE(engine.drivers[0].caps.atomics_meet_cpu);
  EXPECT_EQ(way(), AtomicWay::kNic);
  EXPECT_EQ(operate(0, GEX_OP_FADD, 5), 0u);
  EXPECT_EQ(by("r0_0"), 1u);
}

TEST_F(NicAtomics, OneRankWithoutThemLeavesThemToMessages) {
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_NONE);
  EXPECT_EQ(engine.drivers[0].caps.atomic64, 0u);
  EXPECT_EQ(engine.nic_atomic_keys, nullptr);
  EXPECT_EQ(way(), AtomicWay::kFastest);
}

TEST_F(NicAtomics, WhoMeetsNotAllRanksLeavesThemToMessages) {
  meets_all_ = false;
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA);
  EXPECT_EQ(way(), AtomicWay::kFastest);
}

TEST_F(NicAtomics, OfASegmentThatIsPinnedInPartsTheyAreMessages) {
  kind_ = SegmentKind::kLarge;
  pin_bytes_ = 256 << 10;
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA);
  EXPECT_NE(routes_[1].reach, Reach::kWhole);
  EXPECT_EQ(way(), AtomicWay::kFastest);
}

TEST_F(NicAtomics, UsersAreToldTheWay) {
  attach_with(IBV_ATOMIC_HCA, IBV_ATOMIC_HCA);
  pinwire_ad domain{{&team_}, &team_, GEX_DT_U64, kOfNics, 0, way()};
  EXPECT_STREQ(path_of(domain), "nic");
  domain.way = AtomicWay::kFastest;
  EXPECT_STREQ(path_of(domain), "cpu+messages");
  engine.drivers[0].caps.atomics_meet_cpu = true;
  EXPECT_STREQ(path_of(domain), "cpu+nic");
  domain.codes |= GEX_OP_SET;
  EXPECT_STREQ(path_of(domain), "cpu+messages");
  stay({0, 0});
  EXPECT_STREQ(path_of(domain), "cpu");
}

}  // namespace
}  // namespace pinwire
