#include "core/launch/streams/line_sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

#include <algorithm>
#include <utility>

namespace pinwire::launch {

LineSink::LineSink(Loop& loop, SharedFile file, Rank rank_count, bool tagged)
    : file_(std::move(file)), tagged_(tagged), unfinished_(rank_count) {
  watch_ = loop.watch(file_.fd(), 0, [this](short) { write_some(); });
}

void LineSink::feed(Rank rank, std::string_view text, int64_t now_ms) {
  is_fed_ = true;
  auto& rest = unfinished_[rank];
  const auto last_end = text.rfind('\n');
  if (last_end != std::string_view::npos) {
    rest.append(text.substr(0, last_end + 1));
    put_lines(rank, rest);
    rest.assign(text.substr(last_end + 1));
  } else {
    rest.append(text);
  }
  if (rest.size() > kLineBytesMax) put_rest(rank);
  if (rank == 0) {
    bytes_of_0_ += text.size();
    const bool ends_block = bytes_of_0_ % kBlockBytes == 0;
    prompt_due_ms_ = rest.empty() ? kNever : now_ms + (ends_block ? kBlockMs : kPromptMs);
  }
  write_some();
}

void LineSink::say(std::string_view line) {
  if (std::exchange(open_line_of_, -1) >= 0) pending_ += '\n';
  pending_ += line;
  write_some();
}

void LineSink::finish(Rank rank) {
  if (!unfinished_[rank].empty()) put_rest(rank);
  if (rank == 0) prompt_due_ms_ = kNever;
  write_some();
}

void LineSink::due(int64_t now_ms) {
  if (now_ms >= prompt_due_ms_) finish(0);
}

void LineSink::put_lines(Rank rank, std::string_view lines) {
  const bool continues = open_line_of_ == int64_t{rank};
  if (open_line_of_ >= 0 && !continues) pending_ += '\n';
  if (!tagged_) {
    pending_ += lines;
  } else {
    bool tag = !continues;
    while (!lines.empty()) {
      const auto end = lines.find('\n');
      const auto line = lines.substr(0, end == std::string_view::npos ? end : end + 1);
      if (tag) (pending_ += '[').append(std::to_string(rank)).append("] ");
      pending_ += line;
      tag = true;
      lines.remove_prefix(line.size());
    }
  }
  open_line_of_ = -1;
}

void LineSink::put_rest(Rank rank) {
  put_lines(rank, unfinished_[rank]);
  unfinished_[rank].clear();
  open_line_of_ = rank;
}

void LineSink::write_some() {
  if (write_error_ != 0) pending_.clear();
  size_t done = 0;
  for (const int64_t until_ms = now_ms() + kTurnMs;
       done < pending_.size() && now_ms() <= until_ms;) {
    // A pipe that polls writable has room for PIPE_BUF bytes, unless another process was faster.
    const size_t bytes = std::min<size_t>(pending_.size() - done, PIPE_BUF);
    const ssize_t wrote = file_.write(pending_.data() + done, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0) {
      write_error_ = errno;
      done = pending_.size();
      break;
    }
    done += static_cast<size_t>(wrote);
  }
  pending_.erase(0, done);
  watch_.set_events(pending_.empty() ? 0 : POLLOUT);
  watch_.rest(file_.rests_until_ms());
}

}  // namespace pinwire::launch
