#include "tests/sim/hostile.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/bits.h"
#include "nicfw/wire/bytes.h"
#include "nicfw/wire/wire.h"
#include "tests/sim/client/pattern.h"
#include "tests/sim/fabric/ether.h"
#include "tests/sim/world.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kPauseNsMin = 3'000;  ///< the longest pause is at least that
constexpr size_t kKeyedBytes = 54;       ///< behind them: a frame's header, all of it under its tag
constexpr size_t kMemoryBytes = 4096;

// Where nicfw/wire/wire.h puts the lengths of a frame.
constexpr size_t kRecordBytesAt = 68;
constexpr size_t kHeadBytesAt = 70;
constexpr size_t kRecordsAt = kEncapsulationBytes + kKeyedBytes;
static_assert(kRecordsAt == kRecordsOffset);

/// The longest pause between two attacks, and twice their mean. A stranger who fills a receive ring
/// faster than its rank empties it denies service to every transport. Between two polls of the
/// slowest rank the attacks therefore take half of the buffers, even if all of them meet that rank.
uint64_t longest_pause_ns(const Scenario& scenario) {
  const uint64_t poll_ns = scenario.poll_ns * (scenario.slow_ranks != 0 ? kSlowPollFactor : 1);
  const uint64_t attacks_per_poll = std::max(scenario.rx_buffers / 2, 1u);
  return std::max(kPauseNsMin, 2 * poll_ns / attacks_per_poll);
}

size_t record_bytes_of(const std::vector<std::byte>& frame) { return frame.size() - kRecordsAt; }

bool has_records(const std::vector<std::byte>& frame) {
  return frame.size() > kRecordsAt &&
         load_little<uint16_t>(frame.data() + kRecordBytesAt) == record_bytes_of(frame);
}

/// Makes every length of a frame say what it has, but for how many bytes its sender checked.
void set_lengths(std::vector<std::byte>& frame) {
  store_little<uint16_t>(frame.data() + kRecordBytesAt,
                         static_cast<uint16_t>(record_bytes_of(frame)));
  write_lengths(frame);
}

void set_head_bytes(std::vector<std::byte>& frame, size_t bytes) {
  store_little<uint16_t>(frame.data() + kHeadBytesAt, static_cast<uint16_t>(bytes));
}

}  // namespace

/// Sends as the rank that it impersonates and hears nothing.
class Hostile::StrangerPort final : public Port {
 public:
  StrangerPort(World& world, Rank rank) : world_(world), facts_(world.fabric().port(rank).facts()) {
    facts_.zero_copy_tx = false;
  }
  PortFacts facts() const noexcept override { return facts_; }
  uint32_t tx(uint32_t, std::span<const TxFrame> frames) noexcept override {
    for (const TxFrame& frame : frames) {
      std::vector<std::byte> bytes(frame.head, frame.head + frame.head_bytes);
      bytes.insert(bytes.end(), frame.body, frame.body + frame.body_bytes);
      if (facts_.udp_checksum_offload) write_checksums(bytes);
      const MacAddress to = destination_of(bytes);
      world_.fabric().inject(Rank{to[4]} << 8 | to[5], bytes);
    }
    return static_cast<uint32_t>(frames.size());
  }
  uint32_t rx(uint32_t, std::span<RxFrame>) noexcept override { return 0; }
  void release(uint32_t, std::span<const RxFrame>) noexcept override {}
  bool widen(uint32_t, RxFrame&, uint32_t) noexcept override { return false; }
  Result<uint32_t> attach(void*, uint64_t) override { return 0u; }
  void detach(uint32_t) override {}
  int event_fd(uint32_t) const noexcept override { return -1; }
  PortArmed arm(uint32_t) noexcept override { return PortArmed::kArmed; }

 private:
  World& world_;
  PortFacts facts_;
};

Hostile::Hostile(World& world, const OpenInfo& info,
                 const std::vector<std::vector<std::byte>>& addresses)
    : world_(world),
      random_(world.scenario().seed ^ 0xbad),
      pause_ns_max_(longest_pause_ns(world.scenario())),
      memory_(kMemoryBytes) {
  const auto ranks = world.scenario().ranks;
  OpenInfo mine = info;
  mine.rank = static_cast<Rank>(random_.below(ranks));
  mine.job_key = info.job_key ^ (uint64_t{1} << random_.below(64));
  port_ = std::make_unique<StrangerPort>(world, mine.rank);
  stranger_ = make_nic(*port_, world.clock(), world.scenario().nic);
  bool up = stranger_->open(mine).ok();
  for (Rank peer = 0; peer < ranks; ++peer)
    up = up && stranger_->connect(peer, addresses[peer]).ok();
  if (!up) world.verdict().fail("the stranger's NIC does not come up");
  fill_pattern(memory_, 0xbad);
  world.clock().at(world.clock().now() + 1, *this, 0);
}

Hostile::~Hostile() { stranger_->close(); }

void Hostile::fire(uint64_t) {
  if (stopped_) return;
  switch (random_.below(7)) {
    case 0:
      send_noise(static_cast<Rank>(random_.below(world_.scenario().ranks)));
      break;
    case 1:
    case 2:
      send_recorded();
      break;
    case 3:
      send_altered();
      break;
    case 4:
    case 5:
      send_lengthened();
      break;
    default:
      drive_stranger();
      break;
  }
  world_.clock().at(world_.clock().now() + 1 + random_.below(pause_ns_max_), *this, 0);
}

/// Random bytes; often behind a genuine encapsulation, so that they get past the first checks.
void Hostile::send_noise(Rank to) {
  const auto& recorded = world_.fabric().recorded();
  std::vector<std::byte> frame(kEtherBytesMin + random_.below(400));
  fill_pattern(frame, random_.next());
  if (!recorded.empty() && random_.chance(0.7)) {
    const auto& genuine = recorded[random_.below(recorded.size())];
    frame.resize(genuine.bytes.size());
    fill_pattern(frame, random_.next());
    std::memcpy(frame.data(), genuine.bytes.data(), kEncapsulationBytes);
    write_checksums(frame);
    to = genuine.to;
  }
  world_.fabric().inject(to, frame);
}

void Hostile::send_recorded() {
  const auto& recorded = world_.fabric().recorded();
  if (recorded.empty()) return;
  const auto genuine = recorded[random_.below(recorded.size())];
  world_.fabric().inject(genuine.to, genuine.bytes);
}

/// A genuine frame with other data, or whose header says something else: another sequence, source,
/// key, size. The frame may be one that is yet to arrive.
void Hostile::send_altered() {
  const auto& recorded = world_.fabric().recorded();
  if (recorded.empty()) return;
  auto frame = recorded[random_.below(recorded.size())];
  constexpr size_t kRecordsAt = kEncapsulationBytes + kKeyedBytes;
  const bool has_records = frame.bytes.size() > kRecordsAt;
  if (has_records && random_.chance(0.5)) {
    const size_t at = kRecordsAt + random_.below(frame.bytes.size() - kRecordsAt);
    frame.bytes[at] ^= static_cast<std::byte>(1 + random_.below(255));
    write_checksums(frame.bytes);
    world_.fabric().inject(frame.to, frame.bytes);
    return;
  }
  const uint64_t changes = 1 + random_.below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = kEncapsulationBytes + (i * 7 + random_.below(7)) % kKeyedBytes;
    frame.bytes[at] ^= static_cast<std::byte>(1 + random_.below(255));
  }
  write_checksums(frame.bytes);
  world_.fabric().inject(frame.to, frame.bytes);
}

/// A genuine frame with records appended, or cut, or cut and other bytes in their place. Lengths
/// and checksums are right, so that only the tag tells.
void Hostile::send_lengthened() {
  const auto& recorded = world_.fabric().recorded();
  if (recorded.empty()) return;
  auto [to, frame] = recorded[random_.below(recorded.size())];
  if (!has_records(frame)) return;
  const size_t before = record_bytes_of(frame);
  const bool cuts = random_.chance(0.4);
  if (cuts) frame.resize(kRecordsAt + 1 + random_.below(before));
  if (!cuts || random_.chance(0.5)) append_record(frame, to);
  set_lengths(frame);
  if (random_.chance(0.5)) {
    set_head_bytes(frame, random_.chance(0.5) ? record_bytes_of(frame) : 0);
  }
  write_checksums(frame);
  world_.fabric().inject(to, frame);
}

/// A message that nobody sent, a put or an atomic, as a sender with all region keys would make it.
void Hostile::append_record(std::vector<std::byte>& frame, Rank victim) {
  Memory& memory = *world_.cluster().memories[victim];
  constexpr RecordType kTypes[] = {RecordType::kMessage, RecordType::kPut, RecordType::kAtomic};
  Record record{};
  record.type = kTypes[random_.below(3)];
  record.bytes = record.type == RecordType::kAtomic ? 0 : 8;
  record.key = memory.region.remote_key;
  record.address = memory.window_address(8 * random_.below(world_.scenario().window_bytes / 8));
  record.length = record.bytes;
  record.operand = random_.next();
  const size_t at = kRecordsAt + align_up<size_t>(record_bytes_of(frame), kRecordAlign);
  frame.resize(at + record_fields(record.type) + record.bytes);
  const uint32_t fields = encode_record(frame.data() + at, record);
  fill_pattern(std::span(frame).subspan(at + fields), random_.next());
}

void Hostile::drive_stranger() {
  const auto ranks = world_.scenario().ranks;
  const auto victim = static_cast<Rank>(random_.below(ranks));
  Memory& memory = *world_.cluster().memories[victim];
  std::array<std::byte, 8> head{};
  Work work{.op = random_.chance(0.5) ? Op::kPut : Op::kSend,
            .cls = MessageClass::kRequest,
            .flags = kWorkCopied | kWorkSilent,
            .head_bytes = static_cast<uint8_t>(head.size()),
            .peer = victim,
            .head = head.data(),
            .local = memory_.data(),
            .bytes = random_.below(200) + 1,
            .remote = memory.window_address(0),
            .remote_key = memory.region.remote_key};
  stranger_->post(0, {&work, 1});
  std::array<Recv, 8> recv;
  std::array<Done, 8> done;
  stranger_->recv(0, RecvFilter::kAll, recv);
  stranger_->done(0, done);
}

}  // namespace pinwire::sim
