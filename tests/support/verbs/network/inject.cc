// The part of Fabric that makes devices, breaks them, and tells of them.
#include <endian.h>

#include <cstdio>
#include <cstring>

#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

template <typename T>
void name_all(const char* kind, const Table<T>& table, std::vector<std::string>& lines) {
  for (const auto& [handle, object] : table) {
    lines.push_back(std::string(kind) + " " + object->context->device->name + " #" +
                    std::to_string(handle));
  }
}

void add_up(Counters& sum, const Counters& more) {
  // All its members are of one type, so it can be seen as an array of them.
  constexpr size_t kCount = sizeof(Counters) / sizeof(uint64_t);
  std::array<uint64_t, kCount> sums, others;
  std::memcpy(sums.data(), &sum, sizeof sum);
  std::memcpy(others.data(), &more, sizeof more);
  for (size_t i = 0; i < kCount; ++i) sums[i] += others[i];
  std::memcpy(static_cast<void*>(&sum), sums.data(), sizeof sum);
}

}  // namespace

void Fabric::add(HcaSpec spec) {
  Locked lock;
  auto hca = std::make_unique<Hca>();
  hca->node_type = IBV_NODE_CA;
  hca->transport_type = IBV_TRANSPORT_IB;
  std::snprintf(hca->name, sizeof hca->name, "%s", spec.name.c_str());
  std::snprintf(hca->dev_name, sizeof hca->dev_name, "uverbs%zu", lock->hcas.size());
  spec.limits.phys_port_cnt = static_cast<uint8_t>(spec.ports.size());
  spec.limits.node_guid = spec.limits.sys_image_guid = htobe64(spec.guid);
  for (PortSpec& port : spec.ports) {
    port.facts.gid_tbl_len = static_cast<int>(port.gids.size());
    port.facts.pkey_tbl_len = static_cast<uint16_t>(port.pkeys.size());
    hca->ports.push_back({port});
  }
  // Each device numbers for itself, so the same numbers come up on several.
  hca->next_qp_num = 0x11;
  hca->spec = std::move(spec);
  lock->hcas.push_back(std::move(hca));
}

void Fabric::set_port_state(const std::string& device, uint8_t number, ibv_port_state state) {
  Locked lock;
  Hca& hca = lock->hca(device);
  Port* port = hca.port(number);
  check(port != nullptr, "the device has no such port", number);
  const bool was_active = port->state() == IBV_PORT_ACTIVE;
  port->spec.facts.state = state;
  if (was_active == (state == IBV_PORT_ACTIVE)) return;
  for (auto& [handle, context] : lock->contexts) {
    if (context->hca != &hca) continue;
    raise(*context, was_active ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE, number);
  }
}

void Fabric::device_fatal(const std::string& device) {
  Locked lock;
  Hca& hca = lock->hca(device);
  hca.health = Health::kFatal;
  for (auto& [handle, context] : lock->contexts) {
    if (context->hca == &hca) raise(*context, IBV_EVENT_DEVICE_FATAL, 0);
  }
  for (auto& [handle, qp] : lock->qps) {
    if (qp->hca == &hca && qp->state != IBV_QPS_RESET) to_error(*lock, *qp);
  }
}

void Fabric::kill(const std::string& device) {
  Locked lock;
  lock->hca(device).health = Health::kDead;
}

void Fabric::break_qp(const std::string& device, uint32_t qp_num) {
  Locked lock;
  Hca& hca = lock->hca(device);
  const auto found = hca.by_qp_num.find(qp_num);
  check(found != hca.by_qp_num.end(), "no such queue pair", qp_num);
  raise(IBV_EVENT_QP_FATAL, *found->second);
  to_error(*lock, *found->second);
}

void Fabric::set_paging(const std::string& device, const ibv_odp_caps& odp) {
  Locked lock;
  lock->hca(device).spec.odp = odp;
}

void Fabric::deny_thread_domains(const std::string& device) {
  Locked lock;
  lock->hca(device).spec.has_thread_domains = false;
}

void Fabric::deny_datagrams(const std::string& device) {
  Locked lock;
  lock->hca(device).spec.has_datagrams = false;
}

void Fabric::break_connections(const std::string& device) {
  Locked lock;
  Hca& hca = lock->hca(device);
  for (auto& [number, qp] : hca.by_qp_num) {
    if (qp->qp_type != IBV_QPT_RC || qp->state != IBV_QPS_RTS) continue;
    raise(IBV_EVENT_QP_FATAL, *qp);
    to_error(*lock, *qp);
  }
}

void Fabric::fail_work(const std::string& device, ibv_wc_status status) {
  Locked lock;
  lock->hca(device).next_status = status;
}

void Fabric::break_queue(const std::string& device, ibv_event_type event) {
  Locked lock;
  Hca& hca = lock->hca(device);
  if (event == IBV_EVENT_CQ_ERR) {
    for (auto& [handle, cq] : lock->cqs)
      if (&hca_of(cq->context) == &hca) return raise(event, *cq);
  } else {
    for (auto& [handle, srq] : lock->srqs)
      if (&hca_of(srq->context) == &hca) return raise(event, *srq);
  }
  check(false, "the device has no queue to break");
}

void Fabric::set_late_writes(const std::string& device) {
  Locked lock;
  lock->hca(device).spec.has_late_writes = true;
}

void Fabric::set_early_completions(const std::string& device) {
  Locked lock;
  lock->hca(device).spec.has_early_completions = true;
}

Counters Fabric::counters(const std::string& device) const {
  Locked lock;
  Counters sum;
  for (const auto& hca : lock->hcas) {
    if (device.empty() || device == hca->name) add_up(sum, hca->counters);
  }
  return sum;
}

void Fabric::reset_counters() {
  Locked lock;
  for (auto& hca : lock->hcas) {
    hca->counters = {};
    hca->connections_max = hca->connections;
  }
}

uint32_t Fabric::connections_max(const std::string& device) const {
  Locked lock;
  return lock->hca(device).connections_max;
}

std::vector<std::string> Fabric::live() const {
  Locked lock;
  std::vector<std::string> lines;
  for (const auto& [handle, context] : lock->contexts) {
    lines.push_back(std::string("context ") + context->hca->name + " #" + std::to_string(handle));
  }
  name_all("pd", lock->pds, lines);
  name_all("td", lock->tds, lines);
  name_all("mr", lock->mrs, lines);
  name_all("channel", lock->channels, lines);
  name_all("cq", lock->cqs, lines);
  name_all("srq", lock->srqs, lines);
  name_all("qp", lock->qps, lines);
  name_all("ah", lock->ahs, lines);
  return lines;
}

}  // namespace pinwire::fake_verbs
