#include "core/launch/agent_heartbeat.h"

#include <algorithm>
#include <cstdio>

#include "core/launch/loop.h"

namespace pinwire::launch {

void AgentHeartbeat::begin(double limit_s, int64_t now_ms) {
  limit_s_ = limit_s;
  last_beat_ms_ = now_ms;
  silence_.reset();
  if (limit_s > 0) silence_.emplace(limit_s).heard(now_ms);
  events_.beat();
}

void AgentHeartbeat::heard(int64_t now_ms) {
  if (silence_) silence_->heard(now_ms);
}

int64_t AgentHeartbeat::next_ms() const {
  if (!silence_) return kNever;
  return std::min(last_beat_ms_ + silence_period_ms(limit_s_), silence_->next_look_ms());
}

void AgentHeartbeat::due(int64_t now_ms) {
  if (silence_ && now_ms - last_beat_ms_ >= silence_period_ms(limit_s_)) {
    last_beat_ms_ = now_ms;
    events_.beat();
  }
  look_for_launcher(now_ms);
}

void AgentHeartbeat::look_for_launcher(int64_t now_ms) {
  if (has_lost_launcher_ || !silence_ || !silence_->is_too_long(now_ms)) return;
  has_lost_launcher_ = true;
  char text[96];
  std::snprintf(text, sizeof text,
                "nothing was heard of the launcher for %g s (GASNET_SSH_TIMEOUT)", limit_s_);
  events_.lost(text);
}

}  // namespace pinwire::launch
