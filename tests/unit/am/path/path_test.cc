// The path of each kind of transfer: a table, and rules that hold of every combination.
#include "am/path/path.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/idle_driver.h"

namespace pinwire {

void PrintTo(const Path& path, std::ostream* out) {
  *out << "kind " << static_cast<int>(path.kind) << (path.is_copied ? ", copied" : "")
       << (path.waits ? ", waits" : "") << (path.is_silent ? ", silent" : "") << ", key "
       << path.local_key;
}

namespace {

/// The facts of this process that choose_path() asks for.
struct Local {
  uint32_t known = kNoRegion;
  bool is_pinned_to_the_end = false;
  bool can_pin = false;
  uint64_t striped_from = ~uint64_t{0};
  bool is_memory_of_host = true;

  constexpr uint32_t key() const noexcept { return known; }
  constexpr bool stays(uint32_t) const noexcept { return is_pinned_to_the_end; }
  constexpr bool pins() const noexcept { return can_pin; }
  constexpr uint64_t stripe_min() const noexcept { return striped_from; }
  constexpr bool is_hosts() const noexcept { return is_memory_of_host; }
};

constexpr uint64_t kInline = 100, kEager = 1'000, kCopied = 50'000, kCarried = 500;
constexpr uint64_t kLarge = 1 << 20, kStripe = 128 << 10;
constexpr uint32_t kKnownKey = 7;

/// A driver that reads any memory, as nicfw does.
constexpr Caps kReadsAll = {.put_bytes_max = 1 << 30,
                            .inline_bytes_max = kInline,
                            .eager_bytes_max = kEager,
                            .copied_bytes_max = kCopied};
/// A device that wants keys, as those of verbs do.
constexpr Caps kWantsKeys = {.put_bytes_max = 1 << 30,
                             .inline_bytes_max = kInline,
                             .eager_bytes_max = kEager,
                             .copied_bytes_max = kCopied,
                             .hw_rdma = true,
                             .needs_local_key = true};
/// Likewise, and small Longs go in messages.
constexpr Caps kCarries = {.put_bytes_max = 1 << 30,
                           .inline_bytes_max = kInline,
                           .eager_bytes_max = kEager,
                           .copied_bytes_max = kCopied,
                           .long_in_message_max = kCarried,
                           .hw_rdma = true,
                           .needs_local_key = true};
/// All is a copy, as over shm.
constexpr Caps kCopies = {.put_bytes_max = ~uint64_t{0},
                          .inline_bytes_max = ~uint64_t{0},
                          .eager_bytes_max = ~uint64_t{0},
                          .copied_bytes_max = ~uint64_t{0},
                          .hw_rdma = true};

constexpr Local kUnknown = {};
constexpr Local kPins = {.can_pin = true};
constexpr Local kKnown = {.known = kKnownKey};
constexpr Local kStays = {.known = kKnownKey, .is_pinned_to_the_end = true};
constexpr Local kOverRails = {
    .known = kKnownKey, .is_pinned_to_the_end = true, .striped_from = kStripe};
constexpr Local kUnknownBesideRails = {.striped_from = kStripe};
constexpr Local kDeviceMemory = {.known = kKnownKey, .is_memory_of_host = false};

test::IdleDriver some_driver;
Route route_by(Reach reach, bool is_device = false) {
  return {.driver = &some_driver, .reach = reach, .is_device = is_device, .region_key = 9};
}

Path choose(Op op, const Route& route, const Caps& caps, const Local& local, uint64_t bytes,
            SourceUntil until, Patience patience) {
  switch (op) {
    case Op::kPut:
      return choose_path<Op::kPut>(route, caps, local, bytes, until, patience);
    case Op::kGet:
      return choose_path<Op::kGet>(route, caps, local, bytes, until, patience);
    default:
      return choose_path<Op::kPutSend>(route, caps, local, bytes, until, patience);
  }
}

struct Row {
  const char* what;
  Op op;
  Reach reach;
  Caps caps;
  Local local;
  uint64_t bytes;
  SourceUntil until;
  Patience patience;
  Path path;
};

constexpr auto kPut = Op::kPut, kGet = Op::kGet, kLong = Op::kPutSend;
constexpr auto kWhole = Reach::kWhole, kBuckets = Reach::kBuckets, kMessages = Reach::kMessages,
               kDevice = Reach::kDevice;
constexpr auto kReturn = SourceUntil::kReturn, kDone = SourceUntil::kDone,
               kReply = SourceUntil::kReply, kPosted = SourceUntil::kPosted;
constexpr auto kWaits = Patience::kWaits, kTries = Patience::kTries;

constexpr Path kCopiedByKeys = {.kind = PathKind::kKeys, .is_copied = true};
constexpr Path keys(uint32_t key, bool waits = false) {
  return {.kind = PathKind::kKeys, .waits = waits, .local_key = key};
}
constexpr Path rails(bool waits = false) {
  return {.kind = PathKind::kRails, .waits = waits, .local_key = kKnownKey};
}
constexpr Path other(PathKind kind, bool waits = false) { return {.kind = kind, .waits = waits}; }
constexpr Path kSilent = {.kind = PathKind::kKeys, .is_silent = true, .local_key = kKnownKey};
constexpr Path kCopiedByBuckets = {.kind = PathKind::kBuckets, .is_copied = true};

// clang-format off
const Row kRows[] = {
  // Puts to memory that one key covers: copied up to a limit, which is higher where the source must
  // be free on return; beyond it the put is waited for.
  {"put, inline", kPut, kWhole, kReadsAll, kUnknown, kInline, kDone, kWaits, kCopiedByKeys},
  {"put, more than inline", kPut, kWhole, kReadsAll, kUnknown, kInline + 1, kDone, kWaits, keys(0)},
  {"put, eager", kPut, kWhole, kReadsAll, kUnknown, kEager, kReturn, kWaits, kCopiedByKeys},
  {"put, more than eager", kPut, kWhole, kReadsAll, kUnknown, kEager + 1, kReturn, kWaits, keys(0, true)},
  {"put, large, of any memory", kPut, kWhole, kReadsAll, kPins, kLarge, kDone, kTries, keys(0)},
  {"put, all copied", kPut, kWhole, kCopies, kUnknown, kLarge, kReturn, kWaits, kCopiedByKeys},
  {"put, all copied, done", kPut, kWhole, kCopies, kUnknown, kLarge, kDone, kTries, kCopiedByKeys},
  {"put under a key", kPut, kWhole, kWantsKeys, kKnown, kInline + 1, kDone, kWaits, keys(kKnownKey)},
  {"put under a key, inline", kPut, kWhole, kWantsKeys, kKnown, kInline, kDone, kWaits, kCopiedByKeys},
  {"put under a key, free", kPut, kWhole, kWantsKeys, kKnown, kEager + 1, kReturn, kTries, keys(kKnownKey, true)},
  {"put, large, under a key", kPut, kWhole, kWantsKeys, kStays, kLarge, kReturn, kWaits, keys(kKnownKey, true)},
  {"put without a key", kPut, kWhole, kWantsKeys, kUnknown, kInline + 1, kDone, kWaits, other(PathKind::kBounced)},
  {"put without a key, free", kPut, kWhole, kWantsKeys, kUnknown, kEager + 1, kReturn, kWaits, other(PathKind::kBounced, true)},
  {"put without a key, large, unpinned", kPut, kWhole, kWantsKeys, kUnknown, kLarge, kDone, kWaits, other(PathKind::kBounced)},
  {"put without a key, too small to pin", kPut, kWhole, kWantsKeys, kPins, kAloneBytesMin - 1, kDone, kWaits, other(PathKind::kBounced)},
  {"put, pinned", kPut, kWhole, kWantsKeys, kPins, kAloneBytesMin, kDone, kWaits, other(PathKind::kPinned)},
  {"put, pinned, free", kPut, kWhole, kWantsKeys, kPins, kAloneBytesMin, kReturn, kTries, other(PathKind::kPinned, true)},
  {"put of device memory", kPut, kWhole, kWantsKeys, kDeviceMemory, 8, kDone, kWaits, keys(kKnownKey)},
  {"put of device memory, free", kPut, kWhole, kWantsKeys, kDeviceMemory, 8, kReturn, kWaits, keys(kKnownKey, true)},
  {"put, striped", kPut, kWhole, kWantsKeys, kOverRails, kStripe, kDone, kWaits, rails()},
  {"put, striped, free", kPut, kWhole, kWantsKeys, kOverRails, kStripe, kReturn, kWaits, rails(true)},
  {"put, too small to stripe", kPut, kWhole, kWantsKeys, kOverRails, kStripe - 1, kDone, kWaits, keys(kKnownKey)},
  {"put, copied rather than striped", kPut, kWhole, kWantsKeys, {.known = kKnownKey, .is_pinned_to_the_end = true, .striped_from = 1}, kInline, kDone, kWaits, kCopiedByKeys},
  {"put that tries is not striped", kPut, kWhole, kWantsKeys, kOverRails, kLarge, kDone, kTries, keys(kKnownKey)},
  {"put without a key is not striped", kPut, kWhole, kWantsKeys, kUnknownBesideRails, kLarge, kDone, kWaits, other(PathKind::kBounced)},

  // Gets are not copied, and nobody waits for a source.
  {"get, small", kGet, kWhole, kReadsAll, kUnknown, 1, kDone, kWaits, keys(0)},
  {"get, all copied", kGet, kWhole, kCopies, kUnknown, 1, kDone, kWaits, keys(0)},
  {"get under a key", kGet, kWhole, kWantsKeys, kKnown, 1, kDone, kTries, keys(kKnownKey)},
  {"get without a key", kGet, kWhole, kWantsKeys, kUnknown, 1, kDone, kWaits, other(PathKind::kBounced)},
  {"get, pinned", kGet, kWhole, kWantsKeys, kPins, kAloneBytesMin, kDone, kTries, other(PathKind::kPinned)},
  {"get, too small to pin", kGet, kWhole, kWantsKeys, kPins, kAloneBytesMin - 1, kDone, kWaits, other(PathKind::kBounced)},
  {"get into device memory", kGet, kWhole, kWantsKeys, kDeviceMemory, 8, kDone, kWaits, keys(kKnownKey)},
  {"get, striped", kGet, kWhole, kWantsKeys, kOverRails, kStripe, kDone, kWaits, rails()},
  {"get that tries is not striped", kGet, kWhole, kWantsKeys, kOverRails, kStripe, kDone, kTries, keys(kKnownKey)},

  // Memory in buckets.
  {"put by buckets, inline", kPut, kBuckets, kWantsKeys, kPins, kInline, kDone, kWaits, kCopiedByBuckets},
  {"put by buckets", kPut, kBuckets, kWantsKeys, kPins, kInline + 1, kDone, kTries, other(PathKind::kBuckets)},
  {"put by buckets, eager", kPut, kBuckets, kWantsKeys, kPins, kEager, kReturn, kTries, kCopiedByBuckets},
  {"put by buckets, free", kPut, kBuckets, kWantsKeys, kPins, kEager + 1, kReturn, kWaits, other(PathKind::kBuckets, true)},
  {"put by buckets, large", kPut, kBuckets, kWantsKeys, kOverRails, kLarge, kDone, kWaits, other(PathKind::kBuckets)},
  {"get by buckets, small", kGet, kBuckets, kWantsKeys, kPins, 1, kDone, kWaits, other(PathKind::kBuckets)},
  {"get by buckets, large", kGet, kBuckets, kWantsKeys, kOverRails, kLarge, kDone, kTries, other(PathKind::kBuckets)},
  {"Long by buckets, eager", kLong, kBuckets, kWantsKeys, kPins, kEager, kReturn, kWaits, kCopiedByBuckets},
  {"Long by buckets", kLong, kBuckets, kWantsKeys, kPins, kEager + 1, kReturn, kTries, other(PathKind::kBuckets, true)},
  {"Long by buckets, counted", kLong, kBuckets, kWantsKeys, kPins, kEager, kDone, kWaits, kCopiedByBuckets},
  {"Long by buckets, counted, large", kLong, kBuckets, kWantsKeys, kPins, kLarge, kDone, kWaits, other(PathKind::kBuckets, true)},
  {"LongAsync by buckets, inline", kLong, kBuckets, kWantsKeys, kStays, kInline, kReply, kWaits, kCopiedByBuckets},
  {"LongAsync by buckets", kLong, kBuckets, kWantsKeys, kStays, kInline + 1, kReply, kWaits, other(PathKind::kBuckets)},

  // Memory that no driver reaches: messages copy the source. Its owner pins it where that pays and
  // the call may wait for the answer.
  {"put by messages", kPut, kMessages, kWantsKeys, kPins, kAloneBytesMin - 1, kReturn, kWaits, other(PathKind::kMessages)},
  {"put by messages, nobody pins", kPut, kMessages, kReadsAll, kUnknown, kLarge, kDone, kWaits, other(PathKind::kMessages)},
  {"put that tries asks no owner", kPut, kMessages, kWantsKeys, kPins, kLarge, kDone, kTries, other(PathKind::kMessages)},
  {"put in a visit", kPut, kMessages, kWantsKeys, kPins, kAloneBytesMin, kReturn, kWaits, other(PathKind::kVisit)},
  {"get by messages", kGet, kMessages, kWantsKeys, kPins, 1, kDone, kWaits, other(PathKind::kMessages)},
  {"get that tries asks no owner", kGet, kMessages, kWantsKeys, kPins, kLarge, kDone, kTries, other(PathKind::kMessages)},
  {"get in a visit", kGet, kMessages, kWantsKeys, kPins, kAloneBytesMin, kDone, kWaits, other(PathKind::kVisit)},
  {"Long by messages", kLong, kMessages, kWantsKeys, kPins, kEager, kReturn, kWaits, other(PathKind::kMessages)},
  {"Long of a handler asks no owner", kLong, kMessages, kWantsKeys, kPins, kLarge, kReturn, kTries, other(PathKind::kMessages)},
  {"Long in a visit", kLong, kMessages, kWantsKeys, kPins, kAloneBytesMin, kReturn, kWaits, other(PathKind::kVisit)},
  {"LongAsync in a visit", kLong, kMessages, kWantsKeys, kPins, kLarge, kReply, kWaits, other(PathKind::kVisit)},
  {"put to device memory", kPut, kDevice, kWantsKeys, kPins, kLarge, kReturn, kWaits, other(PathKind::kMessages)},
  {"get from device memory", kGet, kDevice, kWantsKeys, kPins, kLarge, kDone, kWaits, other(PathKind::kMessages)},
  {"Long to device memory", kLong, kDevice, kWantsKeys, kPins, kLarge, kReturn, kWaits, other(PathKind::kMessages)},

  // Longs to memory that one key covers.
  {"Long in its message", kLong, kWhole, kCarries, kStays, kCarried, kReturn, kWaits, other(PathKind::kMessages)},
  {"Long too large for its message", kLong, kWhole, kCarries, kStays, kEager + 1, kReturn, kWaits, keys(kKnownKey, true)},
  {"a put of that size goes by keys", kPut, kWhole, kCarries, kStays, kCarried, kDone, kWaits, keys(kKnownKey)},
  {"Long in its message, buckets", kLong, kBuckets, kCarries, kStays, kCarried, kReply, kTries, other(PathKind::kMessages)},
  {"Long, eager", kLong, kWhole, kWantsKeys, kStays, kEager, kReturn, kWaits, kCopiedByKeys},
  {"Long", kLong, kWhole, kWantsKeys, kStays, kEager + 1, kReturn, kWaits, keys(kKnownKey, true)},
  {"Long, counted, inline", kLong, kWhole, kWantsKeys, kStays, kInline, kDone, kWaits, kCopiedByKeys},
  {"Long, counted", kLong, kWhole, kWantsKeys, kStays, kInline + 1, kDone, kWaits, keys(kKnownKey)},
  {"LongAsync, inline", kLong, kWhole, kWantsKeys, kStays, kInline, kReply, kWaits, kCopiedByKeys},
  {"LongAsync", kLong, kWhole, kWantsKeys, kStays, kInline + 1, kReply, kWaits, kSilent},
  {"LongAsync that may go, eager", kLong, kWhole, kWantsKeys, kKnown, kEager, kReply, kWaits, kCopiedByKeys},
  {"LongAsync that may go", kLong, kWhole, kWantsKeys, kKnown, kEager + 1, kReply, kWaits, keys(kKnownKey, true)},
  {"LongAsync without a key", kLong, kWhole, kReadsAll, kUnknown, kEager + 1, kReply, kWaits, keys(0, true)},
  {"Long without a key", kLong, kWhole, kWantsKeys, kUnknown, kEager + 1, kReturn, kWaits, other(PathKind::kBounced, true)},
  {"Long is not pinned here", kLong, kWhole, kWantsKeys, kPins, kLarge, kReturn, kWaits, other(PathKind::kBounced, true)},
  {"Long, counted, without a key", kLong, kWhole, kWantsKeys, kPins, kLarge, kDone, kWaits, other(PathKind::kBounced)},
  {"Long, striped", kLong, kWhole, kWantsKeys, kOverRails, kStripe, kReturn, kWaits, rails(true)},
  {"Long of a handler is not striped", kLong, kWhole, kWantsKeys, kOverRails, kStripe, kReturn, kTries, keys(kKnownKey, true)},
  {"reply that may not wait, copied", kLong, kWhole, kReadsAll, kUnknown, kCopied, kPosted, kTries, kCopiedByKeys},
  {"reply that may not wait", kLong, kWhole, kReadsAll, kStays, kCopied + 1, kPosted, kTries, keys(kKnownKey, true)},
  {"reply that may not wait, no key", kLong, kWhole, kWantsKeys, kUnknown, kCopied + 1, kPosted, kTries, other(PathKind::kBounced, true)},
};
// clang-format on

TEST(ChoosePath, IsThatOfItsRow) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Route route = route_by(row.reach, row.reach == kDevice);
    EXPECT_EQ(choose(row.op, route, row.caps, row.local, row.bytes, row.until, row.patience),
              row.path);
  }
}

/// Known by the compiler: the function reads its arguments alone.
static_assert(choose_path<Op::kPut>(Route{}, kWantsKeys, kPins, kLarge, kReturn, kWaits) == Path{});

TEST(ChoosePath, OwnMemoryIsMovedHereWhateverTheDriverDoes) {
  for (const Op op : {kPut, kGet, kLong}) {
    for (const Reach reach : {kWhole, kBuckets, kMessages, kDevice}) {
      for (const uint64_t bytes : {uint64_t{1}, kLarge}) {
        const Route own{.reach = reach};
        EXPECT_EQ(choose(op, own, kCarries, kOverRails, bytes, kReturn, kWaits), Path{});
      }
    }
  }
}

TEST(ChoosePath, ALongToDeviceMemoryThatTheDriverReachesIsNotCarried) {
  const Route route = route_by(kWhole, true);
  EXPECT_EQ(choose(kLong, route, kCarries, kStays, kCarried, kDone, kWaits), keys(kKnownKey));
}

/// The rules that `path` breaks.
std::string breaches(const Path& path, Op op, const Caps& caps, const Local& local, uint64_t bytes,
                     SourceUntil until, Patience patience, Reach reach) {
  std::string all;
  const auto expect = [&all](bool holds, const char* rule) {
    if (!holds) all += std::string(rule) + "; ";
  };
  const auto is = [&path](PathKind kind) { return path.kind == kind; };
  const bool copies = path.is_copied || is(PathKind::kMessages) || is(PathKind::kVisit);
  const bool is_put = op != kGet;
  const bool wants_source = is_put && (until == kReturn || until == kPosted);
  expect(!wants_source || copies || path.waits || (reach == kBuckets && op == kLong),
         "the source is free on return");
  expect(!path.is_copied || (is_put && bytes <= caps.copied_bytes_max), "only puts are copied");
  expect(!path.is_copied || (!path.waits && !path.is_silent), "a copy waits for nothing");
  expect(!path.is_copied || path.local_key == kNoRegion, "a copy has no key");
  expect(is_put || !path.waits, "a get has no source to wait for");
  expect(!path.is_silent || (until == kReply && local.is_pinned_to_the_end), "silent memory stays");
  const bool needs_peers = is(PathKind::kRails) || is(PathKind::kVisit);
  expect(patience == kWaits || !needs_peers, "a call that tries waits for no peer");
  expect(!is(PathKind::kRails) || path.local_key != kNoRegion, "rails want a key");
  expect(!is(PathKind::kKeys) || path.is_copied || caps.reaches(path.local_key), "a key is there");
  const bool needs_pins = is(PathKind::kPinned) || is(PathKind::kVisit);
  expect(!needs_pins || local.can_pin, "memory is pinned only where that is open");
  expect(!is(PathKind::kBuckets) || reach == kBuckets, "buckets are those of the peer");
  expect(!is(PathKind::kHere), "the peer is another rank");
  return all;
}

/// The values of SourceUntil that a caller has for such a transfer.
std::vector<SourceUntil> untils_of(Op op) {
  if (op == kGet) return {kDone};
  if (op == kPut) return {kReturn, kDone};
  return {kReturn, kDone, kReply, kPosted};
}

TEST(ChoosePath, KeepsTheRulesInEveryCombination) {
  const uint64_t sizes[] = {1,          kInline, kCarried,    kCarried + 1,   kEager,
                            kEager + 1, kStripe, kCopied + 1, kAloneBytesMin, kLarge};
  for (const Op op : {kPut, kGet, kLong}) {
    for (const Reach reach : {kWhole, kBuckets, kMessages, kDevice}) {
      for (const Caps& caps : {kReadsAll, kWantsKeys, kCarries, kCopies}) {
        for (const Local& local : {kUnknown, kPins, kKnown, kStays, kOverRails}) {
          for (const uint64_t bytes : sizes) {
            for (const SourceUntil until : untils_of(op)) {
              for (const Patience patience : {kWaits, kTries}) {
                const Path path = choose(op, route_by(reach), caps, local, bytes, until, patience);
                EXPECT_EQ(breaches(path, op, caps, local, bytes, until, patience, reach), "")
                    << testing::PrintToString(path);
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pinwire
