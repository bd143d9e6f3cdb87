#include "nicfw/nic.h"

#include <bit>
#include <vector>

#include "core/base/bits.h"
#include "core/base/memory/page.h"
#include "nicfw/lane/lane.h"
#include "nicfw/wire/route.h"

namespace pinwire {
namespace {

constexpr uint32_t kAddressBytes = 19;
constexpr uint32_t kFrameBytesMin = 512;
constexpr uint32_t kFrameBytesMax = 16'000;
constexpr uint8_t kAddressVersion = 3;
constexpr uint32_t kRxBuffersMin = 4;

class Nic final : public Driver {
 public:
  Nic(Port& port, Clock& clock, const NicConfig& config) : shared_{port, clock, config} {
    shared_.facts = port.facts();
    smallest_frame_ = shared_.facts.frame_bytes_max;
  }
  ~Nic() override { close(); }

  const char* name() const noexcept override { return "nicfw"; }
  Caps caps() const noexcept override;
  Status open(const OpenInfo& info) override;
  std::vector<std::byte> address() const override;
  Status connect(Rank peer, std::span<const std::byte> address) override;
  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    return shared_.regions.pin(shared_.port, base, bytes);
  }
  Result<Region> expose(void* base, uint64_t bytes) override {
    return shared_.regions.expose(base, bytes);
  }
  Status unpin(const Region& region) override {
    return shared_.regions.unpin(shared_.port, region);
  }
  void close() override;

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    return lanes_[lane]->post(work);
  }
  Lent lend(uint32_t lane, Rank, uint64_t) noexcept override { return lanes_[lane]->lend(); }
  void take_back(uint32_t lane, const Lent& lent) noexcept override {
    lanes_[lane]->take_back(lent);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    return lanes_[lane]->done(out);
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    return lanes_[lane]->recv(filter, out);
  }
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    lanes_[lane]->give_back(buffers);
  }
  bool idle(uint32_t lane) const noexcept override { return lanes_[lane]->idle(); }
  bool has_arrivals(uint32_t lane) const noexcept override { return lanes_[lane]->has_arrivals(); }
  int event_fd(uint32_t lane) const noexcept override { return shared_.port.event_fd(lane); }
  Armed arm(uint32_t lane) noexcept override { return lanes_[lane]->arm(); }
  bool disarm(uint32_t lane) noexcept override { return shared_.port.disarm(lane); }
  bool drained(uint32_t lane) const noexcept override { return lanes_[lane]->quiet(); }
  const Failure* failure() const noexcept override { return shared_.failure.get(); }
  void stats(StatSink& sink) const noexcept override;

 private:
  Status make_frames(uint32_t lanes);

  NicShared shared_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  uint32_t smallest_frame_ = 0;  ///< of this port and those of the peers that are connected
  bool open_ = false;
};

Caps Nic::caps() const noexcept {
  Caps caps;
  caps.lanes_max = shared_.facts.queues;
  caps.send_bytes_max = smallest_frame_ - kRecordsOffset - kMessageHeaderBytes;
  caps.put_bytes_max = kPutBytesMax;
  caps.inline_bytes_max = kCopyBytes;
  caps.eager_bytes_max = copied_frame_bytes(smallest_frame_);
  caps.copied_bytes_max =
      copied_put_bytes(shared_.config.window_frames, put_fragment_bytes(smallest_frame_));
  caps.lent_bytes_max = caps.send_bytes_max - kHeadBytesMax;
  caps.scatter_bytes_max = scatter_list_bytes(smallest_frame_);
  caps.mtu_bytes = shared_.facts.frame_bytes_max;
  caps.atomic64 = kAllAtomics;
  caps.atomics_meet_cpu = true;  // which executes them
  caps.exposes = true;
  caps.zero_copy_tx = shared_.facts.zero_copy_tx;
  caps.in_place_rx = true;
  caps.tells_service = true;
  caps.event_fd = shared_.facts.event_fd;
  caps.recv_gap_ns_max = shared_.facts.memory_medium ? 0 : shared_.config.peer_timeout_ns;
  return caps;
}

Status Nic::open(const OpenInfo& info) {
  check(!open_, "opened twice");
  const PortFacts& facts = shared_.facts;
  const NicConfig& config = shared_.config;
  if (info.lanes == 0 || info.lanes > facts.queues) {
    return error("nicfw: %u lanes wanted, but the port has %u queues; lower the number of lanes",
                 info.lanes, facts.queues);
  }
  if (facts.frame_bytes_max < kFrameBytesMin || facts.frame_bytes_max > kFrameBytesMax) {
    return error("nicfw: the port's frames of %u bytes are outside %u to %u; set its MTU",
                 facts.frame_bytes_max, kFrameBytesMin, kFrameBytesMax);
  }
  if (config.path_bytes < kFrameBytesMin || config.path_bytes > kFrameBytesMax) {
    return error("nicfw: paths for frames of %u bytes are outside %u to %u", config.path_bytes,
                 kFrameBytesMin, kFrameBytesMax);
  }
  if (facts.rx_buffers < kRxBuffersMin) {
    return error("nicfw: the port has %u receive buffers, at least %u are needed", facts.rx_buffers,
                 kRxBuffersMin);
  }
  if (!std::has_single_bit(config.window_frames) || config.window_frames < 4 ||
      config.window_frames > kWindowFramesMax) {
    return error("nicfw: a window of %u frames is not a power of two between 4 and %u",
                 config.window_frames, kWindowFramesMax);
  }
  if (info.rank >= info.rank_count || info.rank_count > (1u << 24)) {
    return error("nicfw: rank %u of %u makes no sense", info.rank, info.rank_count);
  }
  shared_.info = info;
  shared_.self.mac = facts.mac;
  shared_.self.ipv4 = config.ipv4 != 0 ? config.ipv4 : loopback_address(info.rank);
  shared_.self.udp_port = config.udp_port;
  shared_.self.frame_bytes_max = static_cast<uint16_t>(facts.frame_bytes_max);
  shared_.self.rx_buffers = static_cast<uint16_t>(std::min(facts.rx_buffers, 0xffffu));
  shared_.regions.make(info.job_key, info.rank);
  if (auto made = make_frames(info.lanes); !made) return made;
  for (uint32_t lane = 0; lane < info.lanes; ++lane) {
    lanes_.push_back(std::make_unique<Lane>(shared_, lane));
  }
  open_ = true;
  return success();
}

Status Nic::make_frames(uint32_t lanes) {
  FrameMemory& frames = shared_.frames;
  frames.stride = round_up<uint32_t>(shared_.facts.frame_bytes_max, 64);
  const size_t bytes = round_up<size_t>(
      size_t{lanes} * frame_buffers(shared_.config.window_frames, shared_.info.rank_count) *
          frames.stride,
      kPageBytes);
  if (!frames.bytes.try_make(bytes)) {
    return error("nicfw: no memory for %zu bytes of frames", bytes);
  }
  auto attached = shared_.port.attach(frames.bytes.get(), bytes);
  if (!attached) return attached.error();
  frames.port_key = *attached;
  return success();
}

std::vector<std::byte> Nic::address() const {
  check(open_, "address before open");
  std::vector<std::byte> bytes(kAddressBytes);
  bytes[0] = std::byte{kAddressVersion};
  bytes[1] = static_cast<std::byte>(lanes_.size());
  std::memcpy(&bytes[2], shared_.self.mac.data(), 6);
  store_little<uint32_t>(&bytes[8], shared_.self.ipv4);
  store_little<uint16_t>(&bytes[12], shared_.self.udp_port);
  store_little<uint16_t>(&bytes[14], shared_.self.frame_bytes_max);
  store_little<uint16_t>(&bytes[16], shared_.self.rx_buffers);
  bytes[18] = static_cast<std::byte>(shared_.config.auth);
  return bytes;
}

Status Nic::connect(Rank peer, std::span<const std::byte> address) {
  check(open_ && peer < shared_.info.rank_count, "connect: no such rank", peer);
  if (address.size() != kAddressBytes || std::to_integer<uint8_t>(address[0]) != kAddressVersion) {
    return error(
        "nicfw: rank %u sent an address of %zu bytes that this version does not understand; "
        "all ranks must run the same build",
        peer, address.size());
  }
  if (std::to_integer<size_t>(address[1]) != lanes_.size()) {
    return error("nicfw: rank %u has %u lanes, this rank %zu; give all ranks the same number", peer,
                 std::to_integer<uint32_t>(address[1]), lanes_.size());
  }
  const auto auth = static_cast<FrameAuth>(address[18]);
  if (auth != shared_.config.auth) {
    return error(
        "nicfw: rank %u has GASNET_DPDK_AUTH=%s, this rank %s; give all ranks the same value", peer,
        auth_name(auth), auth_name(shared_.config.auth));
  }
  Endpoint endpoint;
  std::memcpy(endpoint.mac.data(), &address[2], 6);
  endpoint.ipv4 = load_little<uint32_t>(&address[8]);
  endpoint.udp_port = load_little<uint16_t>(&address[12]);
  endpoint.frame_bytes_max = load_little<uint16_t>(&address[14]);
  endpoint.rx_buffers = load_little<uint16_t>(&address[16]);
  if (endpoint.frame_bytes_max < kFrameBytesMin) {
    return error("nicfw: rank %u says that its port carries frames of %u bytes, fewer than %u",
                 peer, endpoint.frame_bytes_max, kFrameBytesMin);
  }
  if (peer != shared_.info.rank && endpoint.ipv4 == shared_.config.ipv4 && endpoint.ipv4 != 0) {
    return error("nicfw: rank %u has this rank's address %s; give each rank its own", peer,
                 ipv4_text(endpoint.ipv4).c_str());
  }
  if (Status routed = route_to(shared_.self, shared_.config, peer, endpoint); !routed)
    return routed;
  smallest_frame_ = std::min<uint32_t>(smallest_frame_, endpoint.frame_bytes_max);
  for (auto& lane : lanes_) lane->connect(peer, endpoint);
  return success();
}

void Nic::close() {
  if (!open_) return;
  open_ = false;
  for (auto& lane : lanes_) lane->close();
  shared_.regions.unpin_all(shared_.port);
  if (shared_.frames.port_key != 0) shared_.port.detach(shared_.frames.port_key);
}

void Nic::stats(StatSink& sink) const noexcept {
  Counters sum;
  uint64_t slots = 0;
  uint64_t ops = 0;
  for (const auto& lane : lanes_) {
    for (size_t i = 0; i < std::size(sum.counts); ++i) sum.counts[i] += lane->counters().counts[i];
    for (size_t i = 0; i < std::size(sum.drops); ++i) sum.drops[i] += lane->counters().drops[i];
    slots = std::max<uint64_t>(slots, lane->slot_high_water());
    ops = std::max<uint64_t>(ops, lane->op_high_water());
  }
  for (size_t i = 0; i < std::size(sum.counts); ++i) sink.stat(kCountNames[i], sum.counts[i]);
  for (size_t i = 1; i < std::size(sum.drops); ++i) {
    char name[48] = "rx_drop_";
    std::snprintf(name + 8, sizeof name - 8, "%s", reject_name(static_cast<Reject>(i)));
    sink.stat(name, sum.drops[i]);
  }
  sink.stat("send_slots_high_water", slots);
  sink.stat("operations_high_water", ops);
}

}  // namespace

std::unique_ptr<Driver> make_nic(Port& port, Clock& clock, const NicConfig& config) {
  return std::make_unique<Nic>(port, clock, config);
}

}  // namespace pinwire
