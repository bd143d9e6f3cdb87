// EVERYTHING over devices that page on demand: on a fake RDMA network, as no soft device of Linux
// pages all memory.
#include "tests/unit/extended/two_ranks.h"

struct pinwire_reach* pinwire_reach = nullptr;

namespace pinwire {

/// There is no other process to ask for the segments of its endpoints.
bool learn_segment(Target) noexcept { return false; }

namespace {

class Paging : public TwoRanks {};

TEST_F(Paging, PutsAndGetsReachHeapStackAndConstantsWithoutAMessageOrAPin) {
  attach(1, {true}, {true});
  EXPECT_EQ(registrations_, 2u) << "one key to write with, one to read with";
  EXPECT_EQ(routes_[1].reach, Reach::kWhole);
  std::vector<char> heap(400'000);
  for (size_t i = 0; i < heap.size(); ++i) heap[i] = static_cast<char>(i * 13);
  char stack[5000] = {};
  for (const size_t bytes : {size_t{1}, size_t{8}, size_t{300}, sizeof stack}) {
    put(stack, heap.data() + 7, bytes);
    EXPECT_EQ(std::memcmp(stack, heap.data() + 7, bytes), 0) << bytes;
  }
  for (const size_t bytes : {size_t{5000}, size_t{70'000}, sizeof everywhere}) {
    for (const SourceUntil until : {SourceUntil::kReturn, SourceUntil::kDone}) {
      put(everywhere, heap.data(), bytes, until);
      EXPECT_EQ(std::memcmp(everywhere, heap.data(), bytes), 0) << bytes;
      std::memset(everywhere, 0, bytes);
    }
    std::vector<char> back(bytes);
    get(back.data(), heap.data() + 1, bytes);
    EXPECT_EQ(std::memcmp(back.data(), heap.data() + 1, bytes), 0) << bytes;
  }
  expect_constants_to_pass();
  const auto counters = fabric_.counters();
  EXPECT_EQ(counters.sends, 1u) << "that of a Long";
  EXPECT_EQ(counters.registrations, 0u);
  EXPECT_GT(counters.paged_bytes, 2 * sizeof everywhere);
}

/// Where the device reaches all memory as where it is pinned.
TEST_F(Paging, AShortLongIsOneMessageThatCarriesItsData) {
  constexpr size_t kCarried = 4096;
  attach(1, {true}, {true});
  std::vector<char> heap(2 * kCarried, 'l');
  for (const bool is_async : {false, true}) {
    fabric_.reset_counters();
    const AmCall call{200, 0, nullptr};
    ASSERT_EQ(request_long(1, call, heap.data(), kCarried, everywhere, is_async), Sent::kAll);
    std::vector<std::vector<std::byte>> found;
    for (uint32_t turns = 0; found.empty() && turns < kTurnsMax; ++turns) found = receive(1, 0);
    ASSERT_EQ(found.size(), 1u);
    AmHeader header;
    std::memcpy(&header, found[0].data(), sizeof header);
    EXPECT_EQ(header.category(), Category::kCarriedLong);
    EXPECT_EQ(header.payload_bytes, kCarried);
    EXPECT_EQ(std::memcmp(found[0].data() + found[0].size() - kCarried, heap.data(), kCarried), 0);
    EXPECT_EQ(fabric_.counters().sends, 1u);
    EXPECT_EQ(fabric_.counters().writes, 0u);
  }
  request_long(1, {200, 0, nullptr}, heap.data(), kCarried + 1, everywhere, false);
  expect_long(everywhere, kCarried + 1);
  EXPECT_EQ(fabric_.counters().writes, 1u);
}

TEST_F(Paging, ALongIsOneMessageBehindItsData) {
  attach(1, {true}, {true});
  std::vector<char> heap(200'000, 'l');
  char stack[5000] = {};
  request_long(1, {200, 0, nullptr}, heap.data(), sizeof stack, stack, false);
  expect_long(stack, sizeof stack);
  EXPECT_EQ(std::memcmp(stack, heap.data(), sizeof stack), 0);
  request_long(1, {200, 0, nullptr}, heap.data(), heap.size(), everywhere, false);
  expect_long(everywhere, heap.size());
  EXPECT_EQ(std::memcmp(everywhere, heap.data(), heap.size()), 0);
  EXPECT_EQ(fabric_.counters().sends, 2u);
  EXPECT_EQ(fabric_.counters().registrations, 0u);
}

TEST_F(Paging, TheSourceOfALongAsyncMayGoOnceItReturns_C1_146) {
  attach(1, {true}, {true});
  constexpr size_t kBytes = 64 << 10;
  void* source = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(source, MAP_FAILED);
  std::memset(source, 'a', kBytes);
  request_long(1, {200, 0, nullptr}, source, kBytes, everywhere, true);
  ASSERT_EQ(munmap(source, kBytes), 0);
  expect_long(everywhere, kBytes);
  EXPECT_EQ(everywhere[kBytes - 1], 'a');
  EXPECT_TRUE(fabric_.run());
  EXPECT_EQ(drivers_[0][0]->failure(), nullptr);
}

TEST_F(Paging, LargeTransfersGoOverAllRailsByAKeyOfEach) {
  attach(2, {true, true}, {true, true});
  EXPECT_EQ(registrations_, 4u);
  std::vector<char> heap(sizeof everywhere, 'r'), back(sizeof everywhere);
  put(everywhere, heap.data(), heap.size());
  EXPECT_EQ(std::memcmp(everywhere, heap.data(), heap.size()), 0);
  get(back.data(), everywhere, back.size());
  EXPECT_EQ(back, heap);
  expect_constants_to_pass();
  for (const char* device : {"r0_0", "r0_1"}) {
    EXPECT_GT(fabric_.counters(device).writes, 0u) << device;
    EXPECT_GT(fabric_.counters(device).reads, 0u) << device;
  }
  request_long(1, {200, 0, nullptr}, heap.data(), heap.size(), everywhere, false);
  expect_long(everywhere, heap.size());
  EXPECT_EQ(fabric_.counters().sends, 2u);
  EXPECT_EQ(fabric_.counters().registrations, 0u);
}

TEST_F(Paging, ARankWhoseDeviceDoesNotPageIsReachedByMessages) {
  attach(1, {true}, {false});
  EXPECT_EQ(routes_[1].reach, Reach::kMessages);
  EXPECT_NE(engine.local_key(0, everywhere, 1), kNoRegion) << "the other way round all is reached";
}

TEST_F(Paging, OfARankWithoutPagingThePeersThatPageAreReachedStraight) {
  attach(1, {false}, {true});
  EXPECT_EQ(registrations_, 0u);
  EXPECT_EQ(routes_[1].reach, Reach::kWhole);
  EXPECT_EQ(engine.source_key(0, everywhere, 1), kNoRegion);
  std::vector<char> heap(sizeof everywhere, 'n'), back(sizeof everywhere);
  put(everywhere, heap.data(), heap.size());  // its own memory is pinned for this transfer alone
  EXPECT_EQ(std::memcmp(everywhere, heap.data(), heap.size()), 0);
  get(back.data(), everywhere, 3000);
  EXPECT_EQ(std::memcmp(back.data(), heap.data(), 3000), 0);
  EXPECT_EQ(fabric_.counters().sends, 0u);
  EXPECT_EQ(fabric_.counters().registrations, 1u);
}

TEST_F(Paging, ARailThatDoesNotPageCarriesNoStripes) {
  attach(2, {false, true}, {true, true});
  ASSERT_EQ(routes_[1].driver_index, 1u) << "by the one that does";
  std::vector<char> heap(sizeof everywhere, 's');
  put(everywhere, heap.data(), heap.size());
  EXPECT_EQ(std::memcmp(everywhere, heap.data(), heap.size()), 0);
  EXPECT_EQ(fabric_.counters("r0_0").writes, 0u);
  EXPECT_EQ(fabric_.counters().registrations, 0u);
}

TEST_F(Paging, ALargeSegmentIsLentInPartsByTheRailOfEachPeerWhichHasAllOfTheBudget) {
  kind_ = SegmentKind::kLarge;
  pin_bytes_ = 256 << 10;
  attach(2, {true, true}, {true, true});
  EXPECT_EQ(registrations_, 0u) << "nothing at attach, though the device could page";
  EXPECT_EQ(routes_[1].reach, Reach::kBuckets);
  const Shares& used = demands[routes_[1].driver_index]->own.shares();
  EXPECT_EQ(used.buckets_per_peer, 2u);
  EXPECT_EQ(used.alone_bytes, 64u << 10);
  EXPECT_EQ(demands[1 - routes_[1].driver_index]->own.shares().alone_bytes, 0u);
}

TEST_F(Paging, ADeviceThatRefusesWhatItPromisedIsDoneWithout) {
  refuses_ = true;
  testing::internal::CaptureStderr();
  attach(1, {true}, {false});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      said.find("messages carry puts and gets to this rank: r0_0 says that it pages all memory"),
      std::string::npos)
      << said;
  EXPECT_EQ(engine.local_key(0, everywhere, 1), kNoRegion);
  EXPECT_EQ(engine.source_key(0, everywhere, 1), kNoRegion);
}

}  // namespace
}  // namespace pinwire
