// Output of many ranks to one descriptor, line by line, never mixed within a line. Never holds the
// launcher for much longer than kTurnMs: what the reader does not take yet is kept, and `full` asks
// to read no more from ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch/loop/loop.h"
#include "core/launch/streams/shared_file.h"
#include "driver/work.h"

namespace pinwire::launch {

class LineSink {
 public:
  /// `tagged`: every line begins with "[rank] ".
  LineSink(Loop& loop, SharedFile file, Rank rank_count, bool tagged);
  LineSink(const LineSink&) = delete;
  LineSink& operator=(const LineSink&) = delete;

  void feed(Rank rank, std::string_view text, int64_t now_ms);
  /// A line of the launcher's own.
  void say(std::string_view line);
  /// Writes what a rank left without an end of line.
  void finish(Rank rank);
  /// Rank 0 may ask its user something: an unfinished line of its waits only a moment, or longer
  /// where it ends a block, as a program that asks nobody writes whole blocks.
  int64_t deadline_ms() const noexcept { return prompt_due_ms_; }
  void due(int64_t now_ms);
  bool full() const noexcept { return pending_.size() > kPendingBytesMax; }
  /// The error of the write that failed (EPIPE, ECONNRESET: the reader is gone); 0: none has, or no
  /// rank has lost anything by it. Later output is dropped.
  int write_error() const noexcept { return is_fed_ ? write_error_ : 0; }
  /// How much the reader has not taken yet.
  size_t pending_bytes() const noexcept { return pending_.size(); }
  /// Whether all is written, or dropped.
  bool idle() const noexcept { return pending_.empty(); }

 private:
  static constexpr size_t kPendingBytesMax = 1 << 20;
  static constexpr size_t kLineBytesMax = 64 << 10;
  static constexpr int64_t kTurnMs = 20;  // then the loop sees to others, and to signals
  static constexpr int64_t kPromptMs = 50;
  static constexpr int64_t kBlockMs = 2000;
  static constexpr uint64_t kBlockBytes = 4096;  // of a C library's buffer for a pipe, at least

  void put_lines(Rank rank, std::string_view lines);
  void put_rest(Rank rank);
  void write_some();

  SharedFile file_;
  const bool tagged_;
  std::vector<std::string> unfinished_;  // per rank
  std::string pending_;
  int64_t prompt_due_ms_ = kNever;
  uint64_t bytes_of_0_ = 0;
  int64_t open_line_of_ = -1;  // the rank whose unfinished line the reader sees last
  int write_error_ = 0;
  bool is_fed_ = false;  // by a rank
  Loop::Watch watch_;
};

}  // namespace pinwire::launch
