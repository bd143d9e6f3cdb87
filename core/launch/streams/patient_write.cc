#include "core/launch/streams/patient_write.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "core/launch/loop/loop.h"
#include "core/launch/loop/signals.h"
#include "core/launch/streams/shared_file.h"

namespace pinwire::launch {
namespace {

/// Blocked signals end no poll(2): it looks for them from time to time.
constexpr int kLookMs = 20;

/// Waits for room, and returns how long. A file that rests may poll as ready, and so may a pipe
/// whose room another process takes.
int64_t wait_for_room(int fd, bool rests) noexcept {
  const int64_t began_ms = now_ms();
  pollfd one{rests ? -1 : fd, POLLOUT, 0};
  if (::poll(&one, 1, kLookMs) > 0) ::usleep(1000);
  return std::min<int64_t>(now_ms() - began_ms, kLookMs);
}

}  // namespace

int write_patiently(int fd, std::string_view text) noexcept {
  static int64_t patience_ms = kUnreadMs;
  SharedFile file(fd);
  while (!text.empty()) {
    // A line goes with one write(2), so that lines of several processes do not mix.
    const ssize_t wrote = file.write(text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (wrote > 0) {
      text.remove_prefix(static_cast<size_t>(wrote));
      patience_ms = kUnreadMs;
      continue;
    }
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno != EAGAIN) return errno;
    if (end_was_asked() != 0 && patience_ms <= 0) return ECANCELED;
    const int64_t waited_ms = wait_for_room(fd, file.rests_until_ms() > now_ms());
    if (end_was_asked() != 0) patience_ms -= waited_ms;
  }
  return 0;
}

}  // namespace pinwire::launch
