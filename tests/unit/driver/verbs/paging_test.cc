// Memory that the device pages on demand: all of a process's, without a pin. No soft device of
// Linux has that for all memory, so this fake one alone shows it.
#include <sys/mman.h>

#include <cerrno>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

using fake_verbs::all_paging;
using fake_verbs::Call;

const char kConstant[] = "a page that may only be read";

class PagingOnDemand : public TwoHosts {
 protected:
  PagingOnDemand() {
    for (const char* device : {"left", "right"}) fabric_.set_paging(device, all_paging());
  }
  static VerbsOptions wanting() {
    VerbsOptions options = options_of(0);
    options.pages_on_demand = true;
    return options;
  }
  /// A driver of device "left", as the caps tell it.
  static Caps caps_of(const VerbsOptions& options) {
    auto made = make_verbs_driver(options);
    EXPECT_TRUE(made.ok()) << made.sentence();
    return (*made)->caps();
  }
  /// Both ranks met; rank 1's memory is exposed, and rank 0's.
  void connect_exposed() {
    open_both_wanting();
    const Work hello = message(MessageClass::kReply);
    turn_until([&] { return at(0).post(0, {&hello, 1}) == 1; });
    turn_until([&] { return arrived(1, MessageClass::kReply) == 1 && is_met(1); });
    for (Rank rank = 0; rank < 2; ++rank) {
      auto all = at(rank).expose(nullptr, ~uint64_t{0});
      ASSERT_TRUE(all.ok()) << all.sentence();
      all_[rank] = *all;
    }
    fabric_.reset_counters();
  }
  void open_both_wanting() {
    for (Rank rank = 0; rank < 2; ++rank) {
      VerbsOptions options = options_of(rank);
      options.pages_on_demand = true;
      auto made = make_verbs_driver(options);
      ASSERT_TRUE(made.ok()) << made.sentence();
      drivers_[rank] = make_checked(std::move(*made));
      ASSERT_TRUE(at(rank)
                      .open({.rank = rank, .rank_count = 2, .job_key = 1, .network_depth = kDepth})
                      .ok());
    }
    for (Rank rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(at(rank).connect(1 - rank, at(1 - rank).address()).ok());
    }
  }
  void carry_out(const Work& work) {
    done_.clear();
    ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
    turn_until([&] { return done_.size() == 1; });
  }
  /// From memory of this process that nobody pinned, to some that nobody pinned.
  Work put_to(void* to, const void* from, uint64_t bytes) {
    Work work = put(from, bytes, all_[0].key_of_source());
    work.remote = reinterpret_cast<uint64_t>(to);
    work.remote_key = all_[1].remote_key;
    return work;
  }
  Work get_from(const void* from, void* to, uint64_t bytes) {
    Work work = put_to(const_cast<void*>(from), to, bytes);
    work.op = Op::kGet;
    work.local_key = all_[0].local_key;
    work.remote_key = all_[1].key_to_get();
    return work;
  }

  Region all_[2] = {};
};

TEST_F(PagingOnDemand, IsUsedWhereItIsWantedAndTheDeviceHasAllOfIt) {
  EXPECT_TRUE(caps_of(wanting()).exposes);
  EXPECT_TRUE(caps_of(wanting()).on_demand_paging);
  EXPECT_FALSE(caps_of(options_of(0)).exposes) << "not wanted";
  ibv_odp_caps caps = all_paging();
  caps.general_caps = 0;
  fabric_.set_paging("left", caps);
  EXPECT_FALSE(caps_of(wanting()).exposes) << "none";
  caps.general_caps = IBV_ODP_SUPPORT;
  fabric_.set_paging("left", caps);
  EXPECT_FALSE(caps_of(wanting()).exposes) << "of memory that is named alone";
  for (const uint32_t missing : {IBV_ODP_SUPPORT_WRITE, IBV_ODP_SUPPORT_READ}) {
    caps = all_paging();
    caps.per_transport_caps.rc_odp_caps &= ~missing;
    fabric_.set_paging("left", caps);
    EXPECT_FALSE(caps_of(wanting()).exposes) << missing;
  }
  fabric_.set_paging("left", all_paging());
  fabric_.fail(Call::kQueryDeviceEx, EIO);
  EXPECT_FALSE(caps_of(wanting()).exposes) << "cannot be asked";
}

TEST_F(PagingOnDemand, ReachesHeapStackAndConstantsWithoutAPin) {
  connect_exposed();
  std::vector<char> heap(100'000, 'h'), back(heap.size());
  char stack[3000] = {};
  carry_out(put_to(stack, heap.data(), sizeof stack));
  EXPECT_EQ(std::memcmp(stack, heap.data(), sizeof stack), 0);
  carry_out(get_from(heap.data(), back.data(), heap.size()));
  EXPECT_EQ(back, heap);
  carry_out(put_to(stack, kConstant, sizeof kConstant));
  EXPECT_STREQ(stack, kConstant);
  carry_out(get_from(kConstant, back.data(), sizeof kConstant));
  EXPECT_STREQ(back.data(), kConstant);
  EXPECT_EQ(fabric_.counters().registrations, 0u);
  EXPECT_GT(fabric_.counters().paged_bytes, heap.size());
}

TEST_F(PagingOnDemand, WhatMayOnlyBeReadIsNotReachedByAKeyThatMayWrite) {
  connect_exposed();
  char back[sizeof kConstant];
  Work work = get_from(kConstant, back, sizeof back);
  work.remote_key = all_[1].remote_key;
  carry_out(work);
  EXPECT_EQ(done_[0].status, WorkStatus::kRemoteAccess) << "why there are two keys";
}

TEST_F(PagingOnDemand, MemoryMappedAnewAtTheSameAddressIsTheNewOne) {
  connect_exposed();
  constexpr size_t kBytes = 8192;
  void* place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  const char first[] = "first", second[] = "second";
  carry_out(put_to(place, first, sizeof first));
  ASSERT_EQ(munmap(place, kBytes), 0);
  ASSERT_EQ(mmap(place, kBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
            place);
  EXPECT_EQ(*static_cast<char*>(place), 0);
  carry_out(put_to(place, second, sizeof second));
  EXPECT_STREQ(static_cast<char*>(place), second);
  ASSERT_EQ(munmap(place, kBytes), 0);
  carry_out(put_to(place, first, sizeof first));
  EXPECT_EQ(done_[0].status, WorkStatus::kRemoteAccess) << "no memory is there";
  ASSERT_NE(at(0).failure(), nullptr);
  EXPECT_NE(std::strstr(at(0).failure()->sentence, "pinned, or mapped"), nullptr);
}

TEST_F(PagingOnDemand, ARefusedRegistrationIsASentenceAndLeavesNothing) {
  open_both_wanting();
  for (const uint32_t nth : {1u, 2u}) {
    fabric_.fail(Call::kRegMr, EOPNOTSUPP, nth);
    const size_t before = fabric_.live().size();
    const auto refused = at(0).expose(nullptr, ~uint64_t{0});
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.sentence().find("left says that it pages all memory on demand, but "
                                      "registering that failed: Operation not supported"),
              std::string::npos)
        << refused.sentence();
    EXPECT_EQ(fabric_.live().size(), before);
    EXPECT_NE(at(0).caps().atomic64, 0u);
  }
  EXPECT_FALSE(at(0).expose(memory_, 4096).ok()) << "a part";
}

TEST_F(PagingOnDemand, IsTakenBack) {
  connect_exposed();
  const size_t before = fabric_.live().size();
  EXPECT_TRUE(at(1).unpin(all_[1]).ok());
  EXPECT_EQ(fabric_.live().size(), before - 2);
  uint64_t word = 0;
  carry_out(put_to(&word, kConstant, sizeof word));
  EXPECT_EQ(done_[0].status, WorkStatus::kRemoteAccess);
}

TEST_F(PagingOnDemand, AtomicsAreTheDevicesWhereItPagesForThem) {
  connect_exposed();
  EXPECT_EQ(at(0).caps().atomic64, kRdmaAtomics);
  EXPECT_FALSE(at(0).caps().atomics_meet_cpu) << "of IBV_ATOMIC_HCA";
  uint64_t word = 40, old = 0;
  AtomicOperands add{AtomicCode::kAdd, 2, 0};
  Work work = put_to(&word, &old, sizeof old);
  work.op = Op::kFetchOp;
  work.head = &add;
  work.head_bytes = sizeof add;
  carry_out(work);
  EXPECT_EQ(done_[0].status, WorkStatus::kOk);
  EXPECT_EQ(word, 42u);
  EXPECT_EQ(old, 40u);
}

TEST_F(PagingOnDemand, AtomicsAreNotTheDevicesWhereItDoesNotPageForThem) {
  ibv_odp_caps caps = all_paging();
  caps.per_transport_caps.rc_odp_caps &= ~uint32_t{IBV_ODP_SUPPORT_ATOMIC};
  for (const char* device : {"left", "right"}) fabric_.set_paging(device, caps);
  open_both_wanting();
  EXPECT_EQ(at(0).caps().atomic64, kRdmaAtomics);
  ASSERT_TRUE(at(0).expose(nullptr, ~uint64_t{0}).ok());
  EXPECT_EQ(at(0).caps().atomic64, 0u);
}

}  // namespace
}  // namespace pinwire
