#include "hostile.h"

#include <array>
#include <cstring>

#include "ether.h"
#include "pattern.h"
#include "world.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kPauseNsMax = 3'000;
constexpr size_t kEncapsulationBytes = 42;  ///< Ethernet, IPv4, UDP
constexpr size_t kKeyedBytes = 54;  ///< behind them: a frame's header, all of it under its tag
constexpr size_t kMemoryBytes = 4096;

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
    : world_(world), random_(world.scenario().seed ^ 0xbad), memory_(kMemoryBytes) {
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
  switch (random_.below(5)) {
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
    default:
      drive_stranger();
      break;
  }
  world_.clock().at(world_.clock().now() + 1 + random_.below(kPauseNsMax), *this, 0);
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
