#include "driver/verbs/connect/connection_manager.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/base/clock.h"
#include "driver/verbs/connect/greeting.h"

namespace pinwire::verbs {
namespace {

constexpr int kBacklog = 1024;
constexpr int kStepMs = 2000;  // for the address and the route, which are of this host's tables
constexpr int kPauseMs = 100;  // before calling again whoever does not listen yet
constexpr size_t kIpv4Offset = 12;  // of an IPv4 address inside a GID

using Id = Owned<rdma_cm_id, [](rdma_cm_id* id) {
  id->qp = nullptr;  // ours
  rdma_destroy_id(id);
}>;

sockaddr_in socket_address(const uint8_t* ip, uint16_t port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  std::memcpy(&address.sin_addr, ip, sizeof address.sin_addr);
  return address;
}
sockaddr* any(sockaddr_in& address) noexcept { return reinterpret_cast<sockaddr*>(&address); }

std::string text_of(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return text;
}

/// The data of a call: the caller, and for which of the two ranks' connections.
Greeting call_of(Rank from, Rank to, uint32_t lane, uint32_t link) noexcept {
  return {Greeting::Kind::kHello, from, to, lane * kLinksPerPeer + link, {}};
}

class Manager final : public ConnectionManager {
 public:
  explicit Manager(Setting setting) noexcept : setting_(std::move(setting)) {}
  Status open(const Device& device, const std::string& wanted_ip);
  void fill_in(Place& place) const noexcept override;
  Status join(const Place& peer, std::span<const End> ends) override;

 private:
  enum class Step : uint8_t { kAddress, kRoute, kConnected, kRefused, kFailed };

  Result<Id> make_id() const;
  Status listen_on(const Device& device, const std::string& wanted_ip);
  Result<Id> call(const Place& place, const End& end);
  Result<Step> step_of(rdma_cm_id* id);
  /// The next event, or none within the deadline; calls are answered at once.
  Status take_event(rdma_cm_id* mine, Step& step, bool& has_step);
  void answer(rdma_cm_event& event);
  rdma_conn_param parameters(ibv_qp* queue, const GreetingBytes& call) const noexcept;
  Status wait_to_be_called(std::span<const End> ends);
  bool is_late() const noexcept { return setting_.timeout_s != 0 && monotonic_s() > deadline_s_; }

  using Key = std::tuple<Rank, uint32_t, uint32_t>;
  Setting setting_;
  std::string name_;
  sockaddr_in own_{};
  double deadline_s_ = 0;
  int reason_ = 0;  // of the last event that was none of success
  Owned<rdma_event_channel, rdma_destroy_event_channel> channel_;
  Id listener_;
  std::vector<Id> connections_;          // they live as long as their connections
  std::map<rdma_cm_id*, Key> answered_;  // calls that become connections
  std::set<Key> called_;                 // ends that were called, and are connected
};

Result<Id> Manager::make_id() const {
  rdma_cm_id* made = nullptr;
  if (rdma_create_id(channel_.get(), &made, nullptr, RDMA_PS_TCP) != 0) {
    return error("%s: the RDMA connection manager gives no id: %s (is the module rdma_ucm loaded?)",
                 name_.c_str(), std::strerror(errno));
  }
  return Id(made);
}

Status Manager::open(const Device& device, const std::string& wanted_ip) {
  name_ = device.name;
  channel_.reset(rdma_create_event_channel());
  if (!channel_ || fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) {
    return error(
        "%s: the RDMA connection manager cannot be reached: %s (is the module rdma_ucm loaded?)",
        name_.c_str(), std::strerror(errno));
  }
  return listen_on(device, wanted_ip);
}

/// An address of this host is the device's if the connection manager binds it to the device.
Status Manager::listen_on(const Device& device, const std::string& wanted_ip) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return error("getifaddrs: %s", std::strerror(errno));
  const Owned<ifaddrs, freeifaddrs> owner(all);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    address.sin_port = 0;
    if (!wanted_ip.empty() && text_of(address) != wanted_ip) continue;
    auto id = make_id();
    if (!id) return id.error();
    rdma_cm_id* const raw = id->get();
    if (rdma_bind_addr(raw, any(address)) != 0 || raw->verbs == nullptr ||
        name_ != ibv_get_device_name(raw->verbs->device)) {
      continue;
    }
    if (rdma_listen(raw, kBacklog) != 0) {
      return error("%s: cannot listen on %s: %s", name_.c_str(), text_of(address).c_str(),
                   std::strerror(errno));
    }
    own_ = address;
    own_.sin_port = rdma_get_src_port(raw);
    listener_ = std::move(*id);
    return success();
  }
  return error("%s has no IPv4 address%s%s: give its interface one", device.name.c_str(),
               wanted_ip.empty() ? "" : " ", wanted_ip.c_str());
}

void Manager::fill_in(Place& place) const noexcept {
  place.gid = {};
  place.gid[10] = place.gid[11] = 0xff;  // as an IPv4 address looks in IPv6
  std::memcpy(place.gid.data() + kIpv4Offset, &own_.sin_addr, sizeof own_.sin_addr);
  place.lid = ntohs(own_.sin_port);
}

rdma_conn_param Manager::parameters(ibv_qp* queue, const GreetingBytes& call) const noexcept {
  rdma_conn_param parameters{};
  parameters.private_data = call.data();
  parameters.private_data_len = static_cast<uint8_t>(call.size());
  parameters.responder_resources = parameters.initiator_depth =
      static_cast<uint8_t>(setting_.reads_max);
  parameters.qp_num = queue->qp_num;
  parameters.srq = queue->srq != nullptr ? 1 : 0;
  return parameters;
}

/// A stranger's call is refused; so is one for an end that is connected.
void Manager::answer(rdma_cm_event& event) {
  Id id(event.id);
  const auto* data = static_cast<const std::byte*>(event.param.conn.private_data);
  const size_t bytes = event.param.conn.private_data_len;
  const auto call = decode({data, std::min(bytes, kGreetingBytes)}, setting_.job_key);
  const uint32_t lane = call ? call->lane / kLinksPerPeer : 0;
  const uint32_t link = call ? call->lane % kLinksPerPeer : 0;
  const bool is_ours = call && call->to == setting_.rank && call->from < setting_.rank;
  ibv_qp* const queue = is_ours ? setting_.end_of(call->from, lane, link) : nullptr;
  if (queue == nullptr || called_.contains({call->from, lane, link})) {
    rdma_reject(id.get(), nullptr, 0);
    return;
  }
  const GreetingBytes reply =
      encode(call_of(setting_.rank, call->from, lane, link), setting_.job_key);
  rdma_conn_param wish = parameters(queue, reply);
  id->qp = queue;
  if (rdma_accept(id.get(), &wish) != 0) return;  // the caller hears of it
  answered_.emplace(id.get(), Key{call->from, lane, link});
  connections_.push_back(std::move(id));
}

Status Manager::take_event(rdma_cm_id* mine, Step& step, bool& has_step) {
  has_step = false;
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_.get(), &event) != 0) {
    if (errno != EAGAIN && errno != EINTR)
      return error("%s: the RDMA connection manager: %s", name_.c_str(), std::strerror(errno));
    pollfd file{channel_->fd, POLLIN, 0};
    ::poll(&file, 1, kPauseMs);
    return success();
  }
  has_step = mine != nullptr && event->id == mine;
  if (event->status != 0) reason_ = std::abs(event->status);
  switch (event->event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST: {
      rdma_cm_event request = *event;
      std::array<std::byte, 256> data{};
      std::memcpy(data.data(), request.param.conn.private_data,
                  request.param.conn.private_data_len);
      request.param.conn.private_data = data.data();
      rdma_ack_cm_event(event);  // its id cannot be destroyed before
      answer(request);
      return success();
    }
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      step = Step::kAddress;
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      step = Step::kRoute;
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      step = Step::kConnected;
      if (const auto found = answered_.find(event->id); found != answered_.end())
        called_.insert(found->second);
      break;
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_UNREACHABLE:
      step = Step::kRefused;
      break;
    default:
      step = Step::kFailed;
  }
  rdma_ack_cm_event(event);
  return success();
}

Result<Manager::Step> Manager::step_of(rdma_cm_id* id) {
  for (;;) {
    Step step{};
    bool has_step = false;
    if (auto taken = take_event(id, step, has_step); !taken) return taken.error();
    if (has_step) return step;
    if (is_late()) return Step::kFailed;
  }
}

Result<Id> Manager::call(const Place& place, const End& end) {
  sockaddr_in theirs = socket_address(place.gid.data() + kIpv4Offset, place.lid);
  sockaddr_in mine = own_;
  mine.sin_port = 0;
  const GreetingBytes greeting =
      encode(call_of(setting_.rank, end.peer, end.lane, end.link), setting_.job_key);
  const auto failed = [&](const char* what) {
    return error(
        "%s: no connection to %s port %u (%s): %s; is the way between the two hosts open for TCP?",
        name_.c_str(), text_of(theirs).c_str(), place.lid, what,
        std::strerror(reason_ != 0 ? reason_ : errno));
  };
  auto id = make_id();
  if (!id) return id.error();
  rdma_cm_id* const raw = id->get();
  if (rdma_resolve_addr(raw, any(mine), any(theirs), kStepMs) != 0) return failed("address");
  auto step = step_of(raw);
  if (!step) return step.error();
  if (*step != Step::kAddress || rdma_resolve_route(raw, kStepMs) != 0) return failed("address");
  if (step = step_of(raw); !step) return step.error();
  if (*step != Step::kRoute) return failed("route");
  raw->qp = end.queue;
  rdma_conn_param wish = parameters(end.queue, greeting);
  if (rdma_connect(raw, &wish) != 0) return failed("connect");
  if (step = step_of(raw); !step) return step.error();
  if (*step != Step::kConnected) return failed(*step == Step::kRefused ? "refused" : "connect");
  return id;
}

Status Manager::wait_to_be_called(std::span<const End> ends) {
  for (const End& end : ends) {
    while (!called_.contains({end.peer, end.lane, end.link})) {
      Step step{};
      bool has_step = false;
      if (auto taken = take_event(nullptr, step, has_step); !taken) return taken.error();
      if (is_late()) {
        return error(
            "%s: rank %u has not called in %u s (GASNET_CONNECT_TIMEOUT): is its process stopped, "
            "or the way between the two "
            "hosts closed for TCP?",
            name_.c_str(), end.peer, setting_.timeout_s);
      }
    }
  }
  return success();
}

Status Manager::join(const Place& peer, std::span<const End> ends) {
  deadline_s_ = monotonic_s() + setting_.timeout_s;
  if (ends.empty()) return success();
  if (ends[0].peer < setting_.rank) return wait_to_be_called(ends);
  for (const End& end : ends) {
    auto id = call(peer, end);
    if (!id) return id.error();
    connections_.push_back(std::move(*id));
  }
  return success();
}

}  // namespace

bool has_connection_manager() noexcept { return true; }

Result<std::unique_ptr<ConnectionManager>> make_connection_manager(
    const Device& device, const std::string& wanted_ip, ConnectionManager::Setting setting) {
  auto manager = std::make_unique<Manager>(std::move(setting));
  if (auto opened = manager->open(device, wanted_ip); !opened) return opened.error();
  return std::unique_ptr<ConnectionManager>(std::move(manager));
}

}  // namespace pinwire::verbs
