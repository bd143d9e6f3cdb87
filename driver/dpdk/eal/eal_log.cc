#include "driver/dpdk/eal/eal_log.h"

#include <rte_log.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <mutex>

namespace pinwire {
namespace {

constexpr size_t kLinesKept = 4;
constexpr size_t kLineBytesMax = 200;

/// EAL, its threads and the PMDs write here; the control plane reads.
struct LogTail {
  std::mutex mutex;
  std::deque<std::string> lines;
  std::string partial;
  bool show = false;
};

LogTail& tail() {
  static LogTail* const instance =
      new LogTail;  // outlives static destructors: PMD threads may still log
  return *instance;
}

void keep_line(LogTail& log) {
  if (log.partial.size() > kLineBytesMax) log.partial.resize(kLineBytesMax);
  if (!log.partial.empty()) log.lines.push_back(log.partial);
  if (log.lines.size() > kLinesKept) log.lines.pop_front();
  log.partial.clear();
}

ssize_t write_tail(void*, const char* text, size_t bytes) {
  LogTail& log = tail();
  const std::lock_guard<std::mutex> hold(log.mutex);
  if (log.show) [[maybe_unused]]
    const auto shown = ::write(STDERR_FILENO, text, bytes);
  // Warnings and worse, or what has no level (a PMD's plain printf into the stream).
  const int level = rte_log_cur_msg_loglevel();
  if (level > static_cast<int>(RTE_LOG_WARNING)) return static_cast<ssize_t>(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    if (text[i] == '\n')
      keep_line(log);
    else
      log.partial += text[i];
  }
  return static_cast<ssize_t>(bytes);
}

}  // namespace

void eal_log_capture(bool show) {
  tail().show = show;
  static FILE* stream = nullptr;
  if (stream != nullptr) return;
  stream = fopencookie(nullptr, "w", cookie_io_functions_t{nullptr, write_tail, nullptr, nullptr});
  if (stream == nullptr) return;  // EAL then logs to stderr: noisy, not wrong
  setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
  rte_openlog_stream(stream);
}

std::string eal_log_tail() {
  LogTail& log = tail();
  const std::lock_guard<std::mutex> hold(log.mutex);
  std::string joined;
  for (const std::string& line : log.lines) joined += (joined.empty() ? "" : "; ") + line;
  return joined;
}

void eal_log_clear() {
  LogTail& log = tail();
  const std::lock_guard<std::mutex> hold(log.mutex);
  log.lines.clear();
  log.partial.clear();
}

}  // namespace pinwire
