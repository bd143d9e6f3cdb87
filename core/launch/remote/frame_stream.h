// Frames over a pair of byte streams: how the launcher and its agent talk through ssh.
#pragma once

#include <limits.h>

#include <functional>
#include <string>

#include "core/launch/hosts/host.h"
#include "core/launch/loop/loop.h"
#include "core/launch/process/process.h"

namespace pinwire::launch {

/// The first bytes that an agent sends; any output of a login shell before them is skipped.
inline constexpr std::string_view kAgentGreeting = "\nPINWIRE-AGENT 6\n";

class FrameStream {
 public:
  struct Events {
    std::function<void(const FrameHeader&, Bytes chunk)> frame;
    /// Something came, be it a part of a frame: a slow connection carries a frame for seconds.
    std::function<void()> heard;
    /// Once: the other side is gone, or talks nonsense.
    std::function<void(const std::string& why)> ended;
  };
  /// Whether another process writes frames to `out`, too (pulse.h). The kernel does not mix writes
  /// to a pipe of at most PIPE_BUF bytes, so that each write is one whole frame then.
  enum class Out { kOwn, kShared };
  /// `greeting`: to be skipped to before the first frame; may be empty.
  FrameStream(Loop& loop, Fd in, Fd out, std::string_view greeting, Events events,
              Out kind = Out::kOwn);
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  void put_text(std::string_view text);
  /// Cut into chunks.
  void put(const FrameHeader& header, Bytes message);
  /// One chunk of another's message, as it is.
  void put_chunk(const FrameHeader& header, Bytes chunk);
  bool greeted() const noexcept { return greeting_.empty(); }
  /// Whether all is written, or the other side is gone.
  bool drained() const noexcept { return out_bytes_.empty() || ended_; }
  int out_fd() const noexcept { return out_.get(); }

 private:
  static constexpr size_t kNoiseBytesMax = 64 << 10;
  static constexpr uint32_t kSharedChunkBytesMax = PIPE_BUF - sizeof(FrameHeader);
  void read_some();
  void write_some();
  size_t bytes_of_write(size_t done) const;
  bool skip_to_greeting();
  void take_frames();
  void end(const std::string& why);

  Fd in_, out_;
  const Out out_kind_;
  std::string greeting_;
  Events events_;
  std::vector<std::byte> in_bytes_, out_bytes_;
  bool ended_ = false;
  Loop::Watch in_watch_, out_watch_;
};

}  // namespace pinwire::launch
