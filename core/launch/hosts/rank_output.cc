#include "core/launch/hosts/rank_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace pinwire::launch {
namespace {

constexpr size_t kReadBytes = 64 << 10;

}  // namespace

RankOutput::RankOutput(Loop& loop, Fd out, Fd err, Said said)
    : said_(std::move(said)), out_{std::move(out), {}}, err_{std::move(err), {}} {
  for (const int stream : {1, 2}) watch(loop, stream);
}

/// A turn of the loop may drain a pipe that its poll found readable. (This end alone does not
/// block: the flag belongs to an end, and the rank's end stays as programs expect it.)
void RankOutput::watch(Loop& loop, int stream) {
  auto& one = of(stream);
  ::fcntl(one.fd.get(), F_SETFL, O_NONBLOCK);
  one.watch =
      loop.watch(one.fd.get(), POLLIN, [this, stream](short) { read_unless_paused(stream); });
}

/// Another pipe's words may have paused this one in the same turn of the loop.
void RankOutput::read_unless_paused(int stream) {
  if (!is_paused_) read(stream, kReadBytes);
}

/// Returns how much it read.
size_t RankOutput::read(int stream, size_t bytes_max) {
  char text[kReadBytes];
  const ssize_t got = ::read(of(stream).fd.get(), text, std::min(bytes_max, sizeof text));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (got <= 0) {
    stop(stream);
    return 0;
  }
  const auto bytes = static_cast<size_t>(got);
  said_(stream, std::string_view(text, bytes));
  return bytes;
}

void RankOutput::drain() {
  for (const int stream : {1, 2}) drain(stream);
}

void RankOutput::drain(int stream) {
  int bytes = 0;
  if (!of(stream).fd || ::ioctl(of(stream).fd.get(), FIONREAD, &bytes) != 0) return;
  auto left_bytes = static_cast<size_t>(bytes);
  while (left_bytes > 0) {
    const size_t got = read(stream, left_bytes);
    if (got == 0) break;
    left_bytes -= got;
  }
}

void RankOutput::pause(bool pause) {
  is_paused_ = pause;
  for (const int stream : {1, 2}) of(stream).watch.set_events(pause ? 0 : POLLIN);
}

void RankOutput::stop(int stream) {
  of(stream).watch.reset();
  of(stream).fd.reset();
}

}  // namespace pinwire::launch
