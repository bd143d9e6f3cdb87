// Agent and launcher hold together by it while a network that breaks ends no connection: the agent
// says from time to time that it is still there, and takes a launcher that says nothing for long
// for lost.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/launch/loop/silence.h"

namespace pinwire::launch {

class AgentHeartbeat {
 public:
  struct Events {
    /// It is time to say that the agent is still there.
    std::function<void()> beat;
    /// Once: a sentence about a launcher of which nothing was heard for too long.
    std::function<void(const std::string& sentence)> lost;
  };
  explicit AgentHeartbeat(Events events) : events_(std::move(events)) {}
  /// From now on both ends are to be heard within `limit_ms` (0: whenever they like). Beats at
  /// once.
  void begin(int64_t limit_ms, int64_t now_ms);
  /// The launcher said something.
  void heard(int64_t now_ms);
  /// When due() is to be called.
  int64_t next_ms() const;
  void due(int64_t now_ms);
  bool has_lost_launcher() const noexcept { return has_lost_launcher_; }

 private:
  void look_for_launcher(int64_t now_ms);

  const Events events_;
  int64_t limit_ms_ = 0;
  int64_t last_beat_ms_ = 0;
  std::optional<Silence> silence_;  // of the launcher; none: it may last
  bool has_lost_launcher_ = false;
};

}  // namespace pinwire::launch
