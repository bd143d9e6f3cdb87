#include "core/launch/remote/frame_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pinwire::launch {

FrameStream::FrameStream(Loop& loop, Fd in, Fd out, std::string_view greeting, Events events,
                         Out kind)
    : in_(std::move(in)),
      out_(std::move(out)),
      out_kind_(kind),
      greeting_(greeting),
      events_(std::move(events)) {
  for (const Fd* fd : {&in_, &out_})
    ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  in_watch_ = loop.watch(in_.get(), POLLIN, [this](short) { read_some(); });
  out_watch_ = loop.watch(out_.get(), 0, [this](short) { write_some(); });
}

void FrameStream::put_text(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out_bytes_.insert(out_bytes_.end(), bytes, bytes + text.size());
  write_some();
}

void FrameStream::put(const FrameHeader& header, Bytes message) {
  const uint32_t bytes_max = out_kind_ == Out::kShared ? kSharedChunkBytesMax : kChunkBytesMax;
  uint64_t offset = 0;
  do {
    const auto chunk = bootstrap::chunk_header(header, offset, message.size(), bytes_max);
    put_chunk(chunk, message.subspan(offset, chunk.bytes));
    offset += chunk.bytes;
  } while (offset < message.size());
}

void FrameStream::put_chunk(const FrameHeader& header, Bytes chunk) {
  if (ended_) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  out_bytes_.insert(out_bytes_.end(), bytes, bytes + sizeof header);
  out_bytes_.insert(out_bytes_.end(), chunk.begin(), chunk.end());
  write_some();
}

size_t FrameStream::bytes_of_write(size_t done) const {
  if (out_kind_ == Out::kOwn) return out_bytes_.size() - done;
  FrameHeader header{};
  std::memcpy(&header, out_bytes_.data() + done, sizeof header);
  return sizeof header + header.bytes;
}

void FrameStream::write_some() {
  size_t done = 0;
  while (done < out_bytes_.size()) {
    const ssize_t wrote = ::write(out_.get(), out_bytes_.data() + done, bytes_of_write(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0) {  // reading will tell that it is gone
      done = out_bytes_.size();
      break;
    }
    done += static_cast<size_t>(wrote);
  }
  out_bytes_.erase(out_bytes_.begin(), out_bytes_.begin() + static_cast<ptrdiff_t>(done));
  out_watch_.set_events(out_bytes_.empty() ? 0 : POLLOUT);
}

void FrameStream::read_some() {
  std::byte part[64 << 10];
  const ssize_t got = ::read(in_.get(), part, sizeof part);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end(got == 0 ? "the connection ended" : std::strerror(errno));
  events_.heard();
  in_bytes_.insert(in_bytes_.end(), part, part + got);
  if (skip_to_greeting()) take_frames();
}

bool FrameStream::skip_to_greeting() {
  if (greeting_.empty()) return true;
  const std::string_view seen(reinterpret_cast<const char*>(in_bytes_.data()), in_bytes_.size());
  const auto at = seen.find(greeting_);
  if (at == std::string_view::npos) {
    if (in_bytes_.size() > kNoiseBytesMax) end("what answers is no agent of gasnetrun_pinwire");
    return false;
  }
  const auto end_of_greeting = static_cast<ptrdiff_t>(at + greeting_.size());
  in_bytes_.erase(in_bytes_.begin(), in_bytes_.begin() + end_of_greeting);
  greeting_.clear();
  return true;
}

void FrameStream::take_frames() {
  size_t at = 0;
  while (!ended_ && in_bytes_.size() - at >= sizeof(FrameHeader)) {
    FrameHeader header{};
    std::memcpy(&header, in_bytes_.data() + at, sizeof header);
    if (!bootstrap::frame_ok(header)) return end("it sent a malformed frame");
    if (in_bytes_.size() - at - sizeof header < header.bytes) break;
    events_.frame(header, Bytes(in_bytes_).subspan(at + sizeof header, header.bytes));
    at += sizeof header + header.bytes;
  }
  in_bytes_.erase(in_bytes_.begin(), in_bytes_.begin() + static_cast<ptrdiff_t>(at));
}

void FrameStream::end(const std::string& why) {
  if (std::exchange(ended_, true)) return;
  in_watch_.set_events(0);
  out_watch_.set_events(0);
  events_.ended(why);
}

}  // namespace pinwire::launch
