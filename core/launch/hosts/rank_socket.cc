#include "core/launch/hosts/rank_socket.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>

namespace pinwire::launch {
namespace {

/// Whether a rank may send it. The other kinds are those of launcher and agent, which would take
/// them for each other's.
constexpr bool rank_may_send(FrameKind kind) noexcept {
  return kind == FrameKind::kHello || kind == FrameKind::kGather || kind == FrameKind::kLeaving;
}

}  // namespace

RankSocket::RankSocket(Loop& loop, Rank rank, Fd fd, Heard heard)
    : rank_(rank), heard_(std::move(heard)), fd_(std::move(fd)), outbox_(fd_.get()) {
  watch_ = loop.watch(fd_.get(), POLLIN, [this](short events) {
    if (events & POLLOUT) flush();
    if (events & ~POLLOUT) read();
  });
}

/// Whether the rank may send one more such frame. It joins and leaves once; a few more are no
/// attack, but each costs an answer that waits for the rank to read it.
bool RankSocket::may_come(const FrameHeader& header) {
  constexpr uint32_t kOtherFramesMax = 16;
  if (!bootstrap::frame_ok(header) || !rank_may_send(header.kind)) return false;
  return header.kind == FrameKind::kGather || ++other_frames_ <= kOtherFramesMax;
}

void RankSocket::read() {
  std::byte record[sizeof(FrameHeader) + kChunkBytesMax];
  while (fd_ && !is_broken_) {
    const ssize_t got = ::recv(fd_.get(), record, sizeof record, MSG_TRUNC | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return hang_up();
    FrameHeader header{};
    const auto bytes = static_cast<size_t>(got);
    const bool fits = bytes >= sizeof header && bytes <= sizeof record;
    if (fits) std::memcpy(&header, record, sizeof header);
    if (!fits || header.bytes != bytes - sizeof header || !may_come(header)) return give_up();
    heard_(header, Bytes(record + sizeof header, header.bytes));
  }
}

/// The rank's death, if it is that, is told by waitpid(2).
void RankSocket::hang_up() {
  watch_.reset();
  fd_.reset();
  heard_(bootstrap::frame_header(FrameKind::kHungUp, rank_), {});
}

/// Stops reading: a broken rank may send without end. Messages to the rank still leave.
void RankSocket::give_up() {
  is_broken_ = true;
  heard_(bootstrap::frame_header(FrameKind::kBroken, rank_), {});
  flush();
}

void RankSocket::send(const FrameHeader& header, const SharedBytes& message) {
  if (!fd_) return;
  outbox_.put(header, message);
  flush();
}

void RankSocket::flush() {
  if (!fd_) return;
  const bool all_sent = outbox_.flush();
  watch_.set_events(static_cast<short>((is_broken_ ? 0 : POLLIN) | (all_sent ? 0 : POLLOUT)));
}

}  // namespace pinwire::launch
