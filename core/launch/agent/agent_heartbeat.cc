#include "core/launch/agent/agent_heartbeat.h"

#include <algorithm>

#include "core/launch/loop/loop.h"

namespace pinwire::launch {

void AgentHeartbeat::begin(int64_t limit_ms, int64_t now_ms) {
  limit_ms_ = limit_ms;
  last_beat_ms_ = now_ms;
  silence_.reset();
  if (limit_ms > 0) silence_.emplace(limit_ms).heard(now_ms);
  events_.beat();
}

void AgentHeartbeat::heard(int64_t now_ms) {
  if (silence_) silence_->heard(now_ms);
}

int64_t AgentHeartbeat::next_ms() const {
  if (!silence_) return kNever;
  return std::min(last_beat_ms_ + silence_period_ms(limit_ms_), silence_->next_look_ms());
}

void AgentHeartbeat::due(int64_t now_ms) {
  if (silence_ && now_ms - last_beat_ms_ >= silence_period_ms(limit_ms_)) {
    last_beat_ms_ = now_ms;
    events_.beat();
  }
  look_for_launcher(now_ms);
}

void AgentHeartbeat::look_for_launcher(int64_t now_ms) {
  if (has_lost_launcher_ || !silence_ || !silence_->is_too_long(now_ms)) return;
  has_lost_launcher_ = true;
  events_.lost(silence_sentence("the launcher", limit_ms_));
}

}  // namespace pinwire::launch
