// An agent's connection to its launcher: frames both ways, the window of output, and the heartbeat
// by which both ends notice a network that breaks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch/agent/agent_heartbeat.h"
#include "core/launch/hosts/host.h"
#include "core/launch/loop/fd.h"
#include "core/launch/loop/loop.h"
#include "core/launch/remote/frame_stream.h"
#include "core/launch/remote/output_window.h"

namespace pinwire::launch {

class LauncherConnection {
 public:
  struct Events {
    /// kOutput or kSignal: a request that is this header alone.
    std::function<void(const FrameHeader& order)> order;
    /// Standard input for rank 0; empty: its end.
    std::function<void(Bytes bytes)> input;
    std::function<void(const FrameHeader& header, std::vector<std::byte> message)> message;
    /// The launcher has taken output: has_room() may have changed.
    std::function<void()> taken;
    /// A sentence for the launcher: it sent what makes no sense, or nothing for too long.
    std::function<void(const std::string& sentence)> failed;
    /// Once: the launcher is gone.
    std::function<void()> ended;
  };
  /// Greets the launcher.
  LauncherConnection(Loop& loop, Fd in, Fd out, Events events);
  /// From now on both ends are to be heard within `limit_ms`; 0: whenever they like.
  void begin(int64_t limit_ms, int64_t now_ms) { heartbeat_.begin(limit_ms, now_ms); }
  void tell(FrameKind kind, Rank rank, int code, std::string_view text);
  /// A frame of the rank, as it is.
  void relay(Rank rank, const FrameHeader& header, Bytes chunk);
  void say_output(Rank rank, int stream, std::string_view text);
  /// Whether the launcher takes more output.
  bool has_room() const noexcept { return !window_.is_used_up(); }
  /// Whether all is written, or the launcher is gone.
  bool drained() const noexcept { return stream_.drained(); }
  bool has_lost_launcher() const noexcept { return heartbeat_.has_lost_launcher(); }
  /// When due() is to be called.
  int64_t next_ms() const { return heartbeat_.next_ms(); }
  void due(int64_t now_ms) { heartbeat_.due(now_ms); }

 private:
  void on_frame(const FrameHeader& header, Bytes chunk);
  void assemble(const FrameHeader& header, Bytes chunk);

  const Events events_;
  FrameStream stream_;
  bootstrap::Assembly assembly_;
  AgentHeartbeat heartbeat_;
  OutputWindow window_;
};

}  // namespace pinwire::launch
