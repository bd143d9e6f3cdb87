// Standard output and error of one rank, read from the pipes that it writes to.
#pragma once

#include <functional>
#include <string_view>

#include "core/launch/loop/fd.h"
#include "core/launch/loop/loop.h"

namespace pinwire::launch {

class RankOutput {
 public:
  /// `stream` is 1 or 2.
  using Said = std::function<void(int stream, std::string_view text)>;
  /// `out` and `err` are the reading ends. Turns of the loop read them until the rank ends them.
  RankOutput(Loop& loop, Fd out, Fd err, Said said);
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  /// While it is paused, only drain() reads.
  void pause(bool pause);
  /// Reads what is there now, and no more: a process that outlives its rank may hold the other end,
  /// and write as fast as this reads.
  void drain();
  /// No process reads this stream any more: a rank that writes to it gets SIGPIPE.
  void stop(int stream);

 private:
  struct Stream {
    Fd fd;  // none: it has ended, or was stopped
    Loop::Watch watch;
  };
  Stream& of(int stream) noexcept { return stream == 1 ? out_ : err_; }
  void watch(Loop& loop, int stream);
  void read_unless_paused(int stream);
  size_t read(int stream, size_t bytes_max);
  void drain(int stream);

  const Said said_;
  Stream out_, err_;
  bool is_paused_ = false;
};

}  // namespace pinwire::launch
