#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/check.h"
#include "core/base/log.h"
#include "driver/verbs/connect/connection_manager.h"
#include "driver/verbs/connect/connector.h"
#include "driver/verbs/device/ports.h"
#include "driver/verbs/device/regions.h"
#include "driver/verbs/driver.h"
#include "driver/verbs/lane/events.h"
#include "driver/verbs/lane/lane.h"
#include "driver/verbs/lane/needs.h"

namespace pinwire {
namespace verbs {
namespace {

/// Beyond this, a put whose source must be free on return waits for the device rather than copies.
constexpr uint64_t kEagerBytes = kMediumBytes;

class Verbs final : public Driver {
 public:
  Verbs(const VerbsOptions& options, Device device) {
    shared_.options = options;
    shared_.device = std::move(device);
  }
  ~Verbs() override { close(); }

  const char* name() const noexcept override { return "verbs"; }
  Caps caps() const noexcept override;
  Status open(const OpenInfo& info) override;
  std::vector<std::byte> address() const override;
  Status connect(Rank peer, std::span<const std::byte> address) override;
  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    return regions_.pin(shared_.device, base, bytes);
  }
  Result<Region> expose(void* base, uint64_t bytes) override;
  Result<Region> pin_device(void* base, uint64_t bytes, int dmabuf) override {
    return regions_.pin_dmabuf(shared_.device, base, bytes, dmabuf);
  }
  Status unpin(const Region& region) override { return regions_.unpin(region); }
  void close() override;

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    return lane_at(lane).post(work);
  }
  Lent lend(uint32_t lane, Rank, uint64_t) noexcept override { return lane_at(lane).lend(); }
  void take_back(uint32_t lane, const Lent& lent) noexcept override {
    lane_at(lane).take_back(lent);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    return lane_at(lane).done(out);
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    if (shared_.options.connects_in_polls) [[unlikely]]
      connector_->turn_in_poll();
    return lane_at(lane).recv(filter, out);
  }
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    lane_at(lane).give_back(buffers);
  }
  bool idle(uint32_t lane) const noexcept override { return !lane_at(lane).has_arrivals(); }
  bool has_arrivals(uint32_t lane) const noexcept override { return lane_at(lane).has_arrivals(); }
  int event_fd(uint32_t lane) const noexcept override { return lane_at(lane).event_fd(); }
  Armed arm(uint32_t lane) noexcept override { return lane_at(lane).arm(); }
  bool drained(uint32_t lane) const noexcept override { return lane_at(lane).drained(); }
  const Failure* failure() const noexcept override {
    if (shared_.device.context) note_events(shared_);
    return shared_.failure.get();
  }
  void stats(StatSink& sink) const noexcept override;

 private:
  Lane& lane_at(uint32_t lane) const noexcept {
    dcheck(lane < lanes_.size(), "a lane that is not open", lane);
    return *lanes_[lane];
  }

  mutable Shared shared_;  // failure() looks for the device's events
  Regions regions_;
  bool has_exposed_ = false;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<Connector> connector_;
};

Caps Verbs::caps() const noexcept {
  Caps caps;
  caps.lanes_max = 16;
  caps.send_bytes_max = kMessageBytesMax;
  caps.put_bytes_max = shared_.device.port_facts.max_msg_sz;
  caps.inline_bytes_max = shared_.inline_bytes;
  caps.eager_bytes_max = std::max<uint64_t>(kEagerBytes, caps.inline_bytes_max);
  caps.copied_bytes_max = kLargeBufferBytes;
  caps.long_in_message_max = kMediumBytes;
  caps.lent_bytes_max = kMediumBytes;
  caps.mtu_bytes = shared_.device.mtu_bytes();
  caps.hw_rdma = true;
  const Paging& paging = shared_.device.paging;
  const bool has_atomics = shared_.device.has_atomics() && (!has_exposed_ || paging.has_atomics);
  caps.atomic64 = has_atomics ? kRdmaAtomics : 0;
  caps.atomics_meet_cpu = shared_.device.atomics_meet_cpu();
  caps.reaches_self = connector_ != nullptr && connector_->datagram_queue() != 0;
  caps.on_demand_paging = caps.exposes = paging.is_used;
  caps.ordered_put_send = !shared_.options.fences_puts;
  caps.bounded_replies = shared_.device.is_iwarp;
  caps.needs_local_key = true;
  caps.zero_copy_tx = true;
  caps.in_place_rx = true;
  caps.event_fd = true;
  return caps;
}

Status Verbs::open(const OpenInfo& info) {
  check(lanes_.empty(), "opened twice");
  check(info.rank < info.rank_count, "a rank that the job has not", info.rank, info.rank_count);
  check(info.lanes != 0, "a driver without a lane");
  shared_.info = info;
  if (auto enough = check_needs(shared_.device, info); !enough) return enough;
  // As many as there are is no bound, and costs nothing.
  const uint32_t peers_max = shared_.options.peers_max;
  shared_.peers_max = peers_max + 1 < info.rank_count ? peers_max : 0;
  if (auto can = check_bound(shared_.device, shared_.peers_max); !can) return can;
  shared_.places.resize(info.rank_count);
  if (shared_.device.is_iwarp) shared_.send_opcode = IBV_WR_SEND;
  shared_.confirms_puts = shared_.device.is_iwarp || shared_.options.confirms_puts;
  for (uint32_t index = 0; index < info.lanes; ++index) {
    lanes_.push_back(std::make_unique<Lane>(shared_, index));
    if (auto opened = lanes_.back()->open(); !opened) return opened;
  }
  connector_ = std::make_unique<Connector>(shared_, lanes_);
  if (auto opened = connector_->open(); !opened) return opened;
  if (shared_.peers_max != 0 && connector_->datagram_queue() == 0) {
    return error("%s has no datagrams, so that connections are made at start and stay: %s",
                 shared_.device.name.c_str(), kBoundAdvice);
  }
  if (shared_.options.show_story) {
    log_note(
        "verbs: %s, %u bytes inline, %u requests under way to each peer, %s; connections are made "
        "%s",
        shared_.device.describe().c_str(), shared_.inline_bytes, shared_.window,
        shared_.device.shares_receives ? "shared receive queues" : "receive queues of each peer",
        connector_->datagram_queue() != 0 ? "on first use" : "now, as the device has no datagrams");
    if (shared_.options.pages_on_demand) {
      log_note("verbs: on-demand paging by %s: %s", shared_.device.name.c_str(),
               shared_.device.paging.description.c_str());
    }
  }
  return success();
}

Result<Region> Verbs::expose(void* base, uint64_t bytes) {
  if (!shared_.device.paging.is_used || base != nullptr || bytes != ~uint64_t{0}) {
    return error("%s reaches pinned memory, or all of it", shared_.device.name.c_str());
  }
  auto region = regions_.expose_all(shared_.device);
  has_exposed_ = region.ok();
  return region;
}

std::vector<std::byte> Verbs::address() const {
  const Device& device = shared_.device;
  Address address;
  address.place = {device.gid.bytes, 0, device.port_facts.lid,
                   static_cast<uint8_t>(device.port_facts.active_mtu)};
  connector_->fill_in(address.place);
  address.is_ethernet = device.is_ethernet;
  address.lanes = shared_.info.lanes;
  if (address.place.datagram_queue == 0) address.ends = connector_->all_ends();
  return encode(address);
}

Status Verbs::connect(Rank peer, std::span<const std::byte> bytes) {
  check(peer < shared_.info.rank_count, "connect to a rank of the job", peer);
  check(peer != shared_.info.rank || connector_->datagram_queue() != 0,
        "a device without datagrams does not reach its own rank", peer);
  auto address = decode(bytes, shared_.info.rank_count);
  if (!address) return address.error();
  if (address->is_ethernet != shared_.device.is_ethernet) {
    return error("%s here is %s, the peer's device is not; GASNET_VERBS_DEVICE chooses",
                 shared_.device.name.c_str(),
                 shared_.device.is_ethernet ? "on Ethernet" : "on InfiniBand");
  }
  if (address->lanes != shared_.info.lanes) {
    return error("it has %u lanes, this rank %u; set GASNET_LANES alike everywhere", address->lanes,
                 shared_.info.lanes);
  }
  if ((address->place.datagram_queue == 0) != (connector_->datagram_queue() == 0)) {
    return error(
        "one of the two devices has no datagrams, the other has; GASNET_VERBS_DEVICE "
        "chooses");
  }
  if (address->place.mtu < IBV_MTU_256 || address->place.mtu > IBV_MTU_4096) {
    return error("its device has packets of kind %u, which is none", address->place.mtu);
  }
  Place& place = shared_.places[peer];
  place.gid = address->place.gid;
  place.lid = address->place.lid;
  place.mtu = address->place.mtu;
  // Last, as a greeting of a faster peer may be there already; pairs with Connector::take.
  std::atomic_ref(place.datagram_queue)
      .store(address->place.datagram_queue, std::memory_order_release);
  return address->ends.empty() ? success() : connector_->join_all(peer, address->ends);
}

void Verbs::close() {
  if (connector_) connector_->close();
  for (const auto& lane : lanes_) lane->close();
  lanes_.clear();
  connector_.reset();
  regions_.unpin_all();
  shared_.device.pd.reset();
  shared_.device.context.reset();
}

void Verbs::stats(StatSink& sink) const noexcept {
  LaneCounters sum;
  for (const auto& lane : lanes_) {
    const LaneCounters& one = lane->counters();
    sum.messages_sent += one.messages_sent;
    sum.messages_received += one.messages_received;
    sum.doorbells += one.doorbells;
    sum.requests_posted += one.requests_posted;
    sum.signalled += one.signalled;
    sum.bytes_inline += one.bytes_inline;
    sum.bytes_copied += one.bytes_copied;
    sum.bytes_in_place += one.bytes_in_place;
    sum.puts_confirmed += one.puts_confirmed;
    sum.credit_reports += one.credit_reports;
    sum.wakeups_armed += one.wakeups_armed;
    sum.atomics += one.atomics;
  }
  sink.stat("messages_sent", sum.messages_sent);
  sink.stat("messages_received", sum.messages_received);
  sink.stat("doorbells", sum.doorbells);
  sink.stat("requests_posted", sum.requests_posted);
  sink.stat("requests_signalled", sum.signalled);
  sink.stat("inline_bytes", sum.bytes_inline);
  sink.stat("copied_bytes", sum.bytes_copied);
  sink.stat("in_place_bytes", sum.bytes_in_place);
  sink.stat("puts_confirmed", sum.puts_confirmed);
  sink.stat("credit_reports", sum.credit_reports);
  sink.stat("wakeups_armed", sum.wakeups_armed);
  sink.stat("atomics_posted", sum.atomics);
  sink.stat("regions_pinned", regions_.count());
  sink.stat("thread_domains",
            static_cast<uint64_t>(std::count_if(lanes_.begin(), lanes_.end(), [](const auto& lane) {
              return lane->has_thread_domain();
            })));
  if (!connector_) return;
  const ConnectorCounters& meetings = connector_->counters();
  sink.stat("connections_made", meetings.met * kLinksPerPeer);
  sink.stat("greetings_sent", meetings.greetings_sent);
  sink.stat("greetings_received", meetings.greetings_received);
  sink.stat("greetings_ignored", meetings.greetings_ignored);
  sink.stat("connections_closed", meetings.closed * kLinksPerPeer);
  sink.stat("connections_made_anew", meetings.made_anew * kLinksPerPeer);
  sink.stat("closings_refused", meetings.refused);
  sink.stat("peers_over_bound", meetings.over_bound);
  sink.stat("unmet_peer_bytes", sizeof(Place) + lanes_.size() * sizeof(Peer*));
  sink.stat("met_peer_bytes",
            sizeof(Peer) + sizeof(uint64_t) + (shared_.peers_max != 0 ? sizeof(Pooled) : 0));
  sink.stat("met_peer_send_queue_bytes", kLinksPerPeer * mlx5_send_queue_bytes(shared_.sizes));
}

}  // namespace
}  // namespace verbs

Result<std::vector<VerbsPort>> find_verbs_ports(const std::string& names) {
  auto list = verbs::DeviceList::make();
  if (!list) return list.error();
  std::vector<VerbsPort> all;
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    auto ports =
        verbs::find_ports(*list, names.substr(at, end - at), verbs::has_connection_manager());
    if (!ports) return ports.error();
    if (!names.empty()) ports->resize(1);
    for (const verbs::PortName& port : *ports) {
      all.push_back(
          {std::string(ibv_get_device_name(port.device)) + ":" + std::to_string(port.port),
           verbs::pci_address(port.device)});
    }
    at = end + 1;
  }
  return all;
}

Result<std::unique_ptr<Driver>> make_verbs_driver(const VerbsOptions& options) {
  auto device = verbs::open_device(options, verbs::has_connection_manager());
  if (!device) return device.error();
  return std::unique_ptr<Driver>(std::make_unique<verbs::Verbs>(options, std::move(*device)));
}

}  // namespace pinwire
