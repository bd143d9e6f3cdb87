// Interrupts. Every device wakes differently (an eventfd, an epoll fd that storms when
// level-triggered, a counter that nobody drains); an edge-triggered epoll fd around it makes them
// all alike: readable from the first event after arm() drained it.
#include <rte_ethdev.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/check.h"
#include "driver/dpdk/port/ethdev_port.h"

namespace pinwire {
namespace {

void drain(int fd) noexcept {
  epoll_event events[4];
  while (epoll_wait(fd, events, 4, 0) > 0) {
  }
}

}  // namespace

void stop_interrupts(PortQueue& queue) noexcept {
  // A device that cannot switch interrupts off wakes once too often: harmless.
  rte_eth_dev_rx_intr_disable(queue.ethdev, queue.index);
  queue.armed = false;
}

void wake_sleeper(PortQueue& queue) noexcept {
  stop_interrupts(queue);
  const uint64_t any = 1;
  if (write(queue.poke_fd, &any, sizeof any) < 0)
    return;  // it would overflow: readable in any case
}

bool EthdevPort::open_wake_fds() noexcept {
  for (PortQueue& queue : queues_) {
    const int device_fd = rte_eth_dev_rx_intr_ctl_q_get_fd(ethdev_, queue.index);
    if (device_fd < 0) return false;
    queue.wake_fd = epoll_create1(EPOLL_CLOEXEC);
    queue.poke_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue.wake_fd < 0 || queue.poke_fd < 0) return false;
    for (const int fd : {device_fd, queue.poke_fd}) {
      epoll_event event{};
      event.events = EPOLLIN | EPOLLET;
      if (epoll_ctl(queue.wake_fd, EPOLL_CTL_ADD, fd, &event) != 0) return false;
    }
    stop_interrupts(queue);
  }
  return true;
}

int EthdevPort::event_fd(uint32_t index) const noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  return facts_.event_fd ? queues_[index].wake_fd : -1;
}

PortArmed EthdevPort::arm(uint32_t index) noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  PortQueue& queue = queues_[index];
  const DeviceTurn turn(queue);
  if (!facts_.event_fd || !flush_unsent(queue)) return PortArmed::kBusy;
  // Drain, enable, look once more: what arrives before the look is found by it, what arrives after
  // makes the fd readable. Some devices (virtio) do not wake for what was there before enabling.
  drain(queue.wake_fd);
  rte_eth_dev_rx_intr_enable(queue.ethdev, queue.index);
  queue.armed = true;
  if (receive_ahead(queue) != 0) {
    stop_interrupts(queue);
    return PortArmed::kBusy;
  }
  ++queue.counters.wakeups_armed;
  return PortArmed::kArmed;
}

bool EthdevPort::disarm(uint32_t index) noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  PortQueue& queue = queues_[index];
  if (!queue.armed) return false;
  const NoCancel whole;
  stop_interrupts(queue);
  return true;
}

}  // namespace pinwire
