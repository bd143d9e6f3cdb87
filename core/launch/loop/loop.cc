#include "core/launch/loop/loop.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/clock.h"

namespace pinwire::launch {

int64_t now_ms() noexcept { return clock_ns(CLOCK_MONOTONIC) / 1'000'000; }

Loop::Watch::Watch(Watch&& other) noexcept
    : loop_(std::exchange(other.loop_, nullptr)), fd_(std::exchange(other.fd_, -1)) {}

Loop::Watch& Loop::Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  reset();
  loop_ = std::exchange(other.loop_, nullptr);
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void Loop::Watch::set_events(short events) {
  if (loop_ != nullptr) loop_->entries_.at(fd_).events = events;
}

void Loop::Watch::rest(int64_t until_ms) {
  if (loop_ != nullptr) loop_->entries_.at(fd_).rests_until_ms = until_ms;
}

void Loop::Watch::reset() noexcept {
  if (loop_ != nullptr) std::exchange(loop_, nullptr)->entries_.erase(fd_);
}

Loop::Watch Loop::watch(int fd, short events, Ready ready) {
  check(fd >= 0 && !entries_.contains(fd), "a descriptor watched twice", fd);
  entries_.emplace(fd, Entry{events, ++births_, std::move(ready)});
  return {this, fd};
}

int64_t Loop::run_once(int64_t deadline_ms) {
  std::vector<pollfd> list;
  std::vector<uint64_t> births;
  const int64_t began_ms = now_ms();
  for (const auto& [fd, entry] : entries_) {
    // A descriptor that hung up is always ready: those that nobody asks about stay out.
    if (entry.events == 0) continue;
    if (entry.rests_until_ms > began_ms) {
      deadline_ms = std::min(deadline_ms, entry.rests_until_ms);
      continue;
    }
    list.push_back({fd, entry.events, 0});
    births.push_back(entry.born);
  }
  int timeout_ms = -1;
  if (deadline_ms != kNever)
    timeout_ms = static_cast<int>(std::clamp<int64_t>(deadline_ms - began_ms, 0, 3'600'000));
  const int ready_count = ::poll(list.data(), list.size(), timeout_ms);
  const int64_t waited_ms = now_ms() - began_ms;
  if (ready_count <= 0) return waited_ms;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].revents == 0) continue;
    const auto it = entries_.find(list[i].fd);
    if (it == entries_.end() || it->second.born != births[i]) continue;
    const auto ready = it->second.ready;  // a copy: it may end its watch
    ready(list[i].revents);
  }
  return waited_ms;
}

int64_t Loop::run_counted(int64_t left_ms) {
  if (left_ms == kNever) {
    run_once(kNever);
    return kNever;
  }
  const int64_t began_ms = now_ms(), turn_ms = std::clamp<int64_t>(left_ms, 0, kTickMs);
  run_once(began_ms + turn_ms);
  return left_ms - counted_ms(now_ms() - began_ms, turn_ms);
}

}  // namespace pinwire::launch
