#include "core/launch/process/supervisor_loop.h"

#include <algorithm>

#include "core/launch/process/child_process.h"

namespace pinwire::launch {
SupervisorLoop::SupervisorLoop()
    : signals_(loop_,
               {.child_changed = [this] { reap(); },
                .user_signal = [this](int number,
                                      bool from_terminal) { take(number, from_terminal); }}) {}

void SupervisorLoop::reap() {
  reap_children([this](pid_t process) {
    return std::any_of(reaps_.begin(), reaps_.end(),
                       [process](const Reap* one) { return (*one)(process); });
  });
}

void SupervisorLoop::EndChildWatch::operator()(const Reap* reap) const {
  std::erase(loop->reaps_, reap);
  delete reap;
}

SupervisorLoop::ChildWatch SupervisorLoop::watch_children(Reap reap) {
  ChildWatch watch(new Reap(std::move(reap)), EndChildWatch{this});
  reaps_.push_back(watch.get());
  return watch;
}

void SupervisorLoop::take(int signal_number, bool from_terminal) {
  if (heed_) return heed_(signal_number, from_terminal);
  kept_.emplace_back(signal_number, from_terminal);
  if (asks_for_end(signal_number)) note_end(signal_number);
}

void SupervisorLoop::hand_signals_to(Heed heed) {
  heed_ = std::move(heed);
  if (!heed_) return;
  if (end_asked() != 0) forget_end();  // `heed` decides about them
  for (const auto& [number, from_terminal] : std::exchange(kept_, {})) heed_(number, from_terminal);
}

int SupervisorLoop::end_asked() const noexcept {
  const auto first = std::find_if(kept_.begin(), kept_.end(),
                                  [](const auto& one) { return asks_for_end(one.first); });
  return first == kept_.end() ? 0 : first->first;
}

bool SupervisorLoop::turn_until(const std::function<bool()>& done, int64_t limit_ms) {
  turn_until_in_any_case([&] { return end_asked() != 0 || done(); }, limit_ms);
  return done();
}

bool SupervisorLoop::turn_until_in_any_case(const std::function<bool()>& done, int64_t limit_ms) {
  while (!done()) {
    if (limit_ms <= 0) return false;
    limit_ms = loop_.run_counted(limit_ms);
  }
  return true;
}

}  // namespace pinwire::launch
