#include "driver/verbs/lane/events.h"

#include "core/base/clock.h"
#include "core/base/log.h"

namespace pinwire::verbs {
namespace {

constexpr const char* kPortAdvice =
    "the port went down; is its cable in, its switch up, its interface (`ip link`) up?";

/// nullptr: no harm done, or the completions tell.
const char* harm_of(const ibv_async_event& event) noexcept {
  switch (event.event_type) {
    case IBV_EVENT_DEVICE_FATAL:
      return "the device failed; see its log (dmesg)";
    case IBV_EVENT_CQ_ERR:
      return "a completion queue overran, which is a bug of Pinwire";
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
      return "a connection broke; see the device's log (dmesg)";
    case IBV_EVENT_SRQ_ERR:
      return "a receive queue broke; see the device's log (dmesg)";
    default:
      return nullptr;
  }
}

void note_port(Shared& shared, const ibv_async_event& event) noexcept {
  const bool is_of_port =
      event.event_type == IBV_EVENT_PORT_ERR || event.event_type == IBV_EVENT_PORT_ACTIVE;
  if (!is_of_port || event.element.port_num != shared.device.port) return;
  if (event.event_type == IBV_EVENT_PORT_ERR) {
    shared.outage.begin(monotonic_us());
  } else {
    shared.outage.end();
  }
}

void note_port_down(Shared& shared, ibv_port_state state) noexcept {
  shared.failure.record(shared.info.rank, WorkStatus::kUnreachable, "%s port %u is %s: %s",
                        shared.device.name.c_str(), shared.device.port, ibv_port_state_str(state),
                        kPortAdvice);
}

void look_at_outage(Shared& shared) noexcept {
  const VerbsOptions& options = shared.options;
  const uint64_t patience_us = repetition_us(options.timeout, options.retry_count);
  if (!shared.outage.lasts_longer(monotonic_us(), patience_us)) return;
  ibv_port_attr facts{};
  if (ibv_query_port(shared.device.context.get(), shared.device.port, &facts) != 0) return;
  if (facts.state == IBV_PORT_ACTIVE) {
    shared.outage.end();  // the event that said so was not for this context
  } else {
    note_port_down(shared, facts.state);
  }
}

}  // namespace

void note_events(Shared& shared) noexcept {
  ibv_async_event event;
  while (ibv_get_async_event(shared.device.context.get(), &event) == 0) {
    note_port(shared, event);
    if (const char* harm = harm_of(event)) {
      shared.failure.record(shared.info.rank, WorkStatus::kUnreachable, "%s port %u: %s: %s",
                            shared.device.name.c_str(), shared.device.port,
                            ibv_event_type_str(event.event_type), harm);
    }
    ibv_ack_async_event(&event);
  }
  if (shared.outage.is_now()) [[unlikely]]
    look_at_outage(shared);
}

void note_cause(Shared& shared, uint32_t patience_ms) noexcept {
  const Device& device = shared.device;
  for (uint32_t waited_ms = 0;; ++waited_ms) {
    note_events(shared);
    ibv_port_attr facts{};
    if (ibv_query_port(device.context.get(), device.port, &facts) != 0) return;
    if (facts.state != IBV_PORT_ACTIVE) note_port_down(shared, facts.state);
    if (shared.failure.get() != nullptr || waited_ms == patience_ms) return;
    const timespec one_ms{0, 1'000'000};
    nanosleep(&one_ms, nullptr);
  }
}

}  // namespace pinwire::verbs
