#include "core/launch/agent/agent_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "core/launch/remote/input_window.h"

namespace pinwire::launch {

AgentInput::AgentInput(Loop& loop, Fd fd, std::function<void(int bytes)> took)
    : fd_(std::move(fd)), took_(std::move(took)) {
  ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  watch_ = loop.watch(fd_.get(), 0, [this](short) { write_some(); });
}

bool AgentInput::feed(Bytes bytes) {
  if (!fd_) return true;  // what was under way when the rank closed its end
  // The last read of the launcher may go beyond the window by one chunk.
  if (pending_.size() + bytes.size() > kInputWindowBytes + kChunkBytesMax) return false;
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  last_ = last_ || bytes.empty();
  write_some();
  return true;
}

void AgentInput::write_some() {
  const ssize_t wrote = ::write(fd_.get(), pending_.data(), pending_.size());
  if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
    close();
    return took_(-1);
  }
  if (wrote > 0) {
    pending_.erase(pending_.begin(), pending_.begin() + wrote);
    took_(static_cast<int>(wrote));
  }
  watch_.set_events(pending_.empty() ? 0 : POLLOUT);
  if (pending_.empty() && last_) close();
}

void AgentInput::close() {
  watch_.reset();
  fd_.reset();
}

}  // namespace pinwire::launch
