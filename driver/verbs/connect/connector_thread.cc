// The connector's thread: asleep until a greeting or an invitation comes, or a hello is due.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/descriptors/event_fd.h"
#include "core/base/threads/library_thread.h"
#include "driver/verbs/connect/connector.h"

namespace pinwire::verbs {
Status Connector::start_thread() {
  shared_.connector_fd = open_event_fd();
  if (shared_.connector_fd < 0)
    return error("no eventfd to wake a thread: %s", std::strerror(errno));
  const int failed = start_library_thread(
      &thread_,
      [](void* self) -> void* {
        static_cast<Connector*>(self)->run();
        return nullptr;
      },
      this);
  if (failed != 0) {
    return error("%s: no thread to make connections: %s; %s", shared_.device.name.c_str(),
                 std::strerror(failed), kRaiseThreads);
  }
  has_thread_ = true;
  pthread_setname_np(thread_, "pinwire-connect");
  return success();
}

void Connector::close() noexcept {
  if (has_thread_) {
    is_ending_.store(true, std::memory_order_release);
    shared_.wake_connector();
    pthread_join(thread_, nullptr);
    has_thread_ = false;
  }
  if (shared_.connector_fd >= 0) ::close(shared_.connector_fd);
  shared_.connector_fd = -1;
  datagrams_.close();
  manager_.reset();
}

void Connector::run() noexcept {
  while (!is_ending_.load(std::memory_order_acquire)) {
    datagrams_.arm();
    sleep(turn(monotonic_us()));  // looks once more after arming
  }
}

void Connector::sleep(uint64_t for_us) noexcept {
  constexpr uint64_t kLongestMs = 60'000;
  pollfd files[] = {{shared_.connector_fd, POLLIN, 0}, {datagrams_.fd(), POLLIN, 0}};
  const uint64_t ms = std::min(for_us / 1000 + 1, kLongestMs);
  if (::poll(files, 2, static_cast<int>(ms)) > 0 && files[0].revents != 0) {
    drain_event_fd(shared_.connector_fd);
  }
}

}  // namespace pinwire::verbs
