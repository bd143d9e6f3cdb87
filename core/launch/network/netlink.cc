#include "core/launch/network/netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace pinwire::launch {

/// A message under construction: a header, fixed fields, attributes that may nest.
class NetlinkRequest {
 public:
  NetlinkRequest(uint16_t type, uint16_t flags) {
    bytes_.resize(NLMSG_LENGTH(sizeof(ifinfomsg)));
    auto* head = header();
    head->nlmsg_type = type;
    head->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  }
  nlmsghdr* header() noexcept { return reinterpret_cast<nlmsghdr*>(bytes_.data()); }
  ifinfomsg* link() noexcept { return static_cast<ifinfomsg*>(NLMSG_DATA(bytes_.data())); }
  void put(uint16_t type, const void* data, size_t count) {
    const size_t at = begin(type);
    put_raw(data, count);
    end(at);
  }
  void put_text(uint16_t type, const std::string& text) {
    put(type, text.c_str(), text.size() + 1);
  }
  template <typename Number>
  void put_number(uint16_t type, Number number) {
    put(type, &number, sizeof number);
  }
  void put_raw(const void* data, size_t count) {
    const auto* first = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + count);
  }
  size_t begin(uint16_t type) {
    const size_t at = bytes_.size();
    const rtattr attribute{0, type};
    put_raw(&attribute, sizeof attribute);
    return at;
  }
  void end(size_t at) {
    const auto length = static_cast<uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at + offsetof(rtattr, rta_len), &length, sizeof length);
    bytes_.resize(RTA_ALIGN(bytes_.size()));
  }
  std::vector<uint8_t> finished(uint32_t sequence) const {
    auto bytes = bytes_;
    auto* head = reinterpret_cast<nlmsghdr*>(bytes.data());
    head->nlmsg_len = static_cast<uint32_t>(bytes.size());
    head->nlmsg_seq = sequence;
    return bytes;
  }

 private:
  std::vector<uint8_t> bytes_;
};

Result<Netlink> Netlink::open() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return error("cannot open a netlink socket: %s", std::strerror(errno));
  return Netlink(std::move(socket));
}

Status Netlink::ask(const NetlinkRequest& request, const char* what, const std::string& name) {
  const auto bytes = request.finished(++sequence_);
  if (::send(socket_.get(), bytes.data(), bytes.size(), 0) < 0)
    return error("cannot %s %s: %s", what, name.c_str(), std::strerror(errno));
  alignas(nlmsghdr) char answer[8192];
  const ssize_t got = ::recv(socket_.get(), answer, sizeof answer, 0);
  const auto* head = reinterpret_cast<const nlmsghdr*>(answer);
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))) || head->nlmsg_type != NLMSG_ERROR)
    return error("cannot %s %s: the kernel's answer is odd", what, name.c_str());
  const int os_error = -static_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
  if (os_error == 0) return success();
  return error("cannot %s %s: %s%s", what, name.c_str(), std::strerror(os_error),
               os_error == EPERM ? " (this needs root)" : "");
}

Status Netlink::add_bridge(const std::string& name) {
  NetlinkRequest request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  request.put_text(IFLA_IFNAME, name);
  const auto info = request.begin(IFLA_LINKINFO);
  request.put_text(IFLA_INFO_KIND, "bridge");
  const auto data = request.begin(IFLA_INFO_DATA);
  request.put_number<uint8_t>(IFLA_BR_MCAST_SNOOPING, 0);
  request.end(data);
  request.end(info);
  return ask(request, "make the bridge", name);
}

Status Netlink::add_veth(const std::string& name, const std::string& peer_name,
                         const EtherAddress& peer_address, uint32_t mtu_bytes,
                         int peer_namespace_fd) {
  NetlinkRequest request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  request.put_text(IFLA_IFNAME, name);
  request.put_number(IFLA_MTU, mtu_bytes);
  const auto info = request.begin(IFLA_LINKINFO);
  request.put_text(IFLA_INFO_KIND, "veth");
  const auto data = request.begin(IFLA_INFO_DATA);
  const auto peer = request.begin(VETH_INFO_PEER);
  const ifinfomsg peer_link{};
  request.put_raw(&peer_link, sizeof peer_link);
  request.put_text(IFLA_IFNAME, peer_name);
  request.put_number(IFLA_MTU, mtu_bytes);
  request.put(IFLA_ADDRESS, peer_address.data(), peer_address.size());
  request.put_number(IFLA_NET_NS_FD, peer_namespace_fd);
  request.end(peer);
  request.end(data);
  request.end(info);
  return ask(request, "make the veth pair", name);
}

Status Netlink::join_bridge(const std::string& name, const std::string& bridge) {
  NetlinkRequest request(RTM_SETLINK, 0);
  request.put_text(IFLA_IFNAME, name);
  request.put_number(IFLA_MASTER, ::if_nametoindex(bridge.c_str()));
  return ask(request, "attach to the bridge", name);
}

Status Netlink::bring_up(const std::string& name) {
  NetlinkRequest request(RTM_SETLINK, 0);
  request.link()->ifi_flags = IFF_UP;
  request.link()->ifi_change = IFF_UP;
  request.put_text(IFLA_IFNAME, name);
  return ask(request, "bring up", name);
}

}  // namespace pinwire::launch
