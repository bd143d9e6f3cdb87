#include "core/base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/check.h"
#include "core/base/no_cancel.h"

namespace pinwire {
namespace {

constexpr int kLineBytesMax = 2048;
char identity_text[128] = "pinwire";
pid_t speaker = 0;  ///< the process that `identity_text` names
std::atomic<void (*)() noexcept> fatal_hook{nullptr};

void write_to_stderr(std::string_view line) {
  // A full or closed stderr must not stop the job: there is nowhere left to say so.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::atomic<LogWriter> line_writer{nullptr}, stderr_writer{write_to_stderr};

/// "pinwire: process 12, a child of rank 0/2 on host"
int write_identity(char* line, size_t bytes) noexcept {
  if (!is_child_of_rank()) return std::snprintf(line, bytes, "%s", identity_text);
  return std::snprintf(line, bytes, "pinwire: process %d, a child of %s", getpid(),
                       identity_text + std::strlen("pinwire: "));
}

void write_line(LogWriter writer, const char* level, const char* format, va_list values) noexcept {
  const NoCancel whole;
  char line[kLineBytesMax];
  int used = write_identity(line, sizeof line);
  used += std::snprintf(line + used, sizeof line - static_cast<size_t>(used), ": %s", level);
  used += std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, values);
  if (used > kLineBytesMax - 2) used = kLineBytesMax - 2;
  line[used++] = '\n';
  if (writer == nullptr) writer = stderr_writer.load();
  writer(std::string_view(line, static_cast<size_t>(used)));
}

[[noreturn]] void end_process() noexcept {
  const NoCancel whole;
  auto hook = fatal_hook.exchange(nullptr);
  if (hook != nullptr && !is_child_of_rank()) hook();
  std::abort();
}

}  // namespace

void log_identity(uint32_t rank, uint32_t rank_count, const char* host) noexcept {
  std::snprintf(identity_text, sizeof identity_text, "pinwire: rank %u/%u on %s", rank, rank_count,
                host);
  speaker = getpid();
}

bool is_child_of_rank() noexcept { return speaker != 0 && getpid() != speaker; }

void log_through(LogWriter writer) noexcept { line_writer.store(writer); }

void log_to_stderr_through(LogWriter writer) noexcept {
  stderr_writer.store(writer == nullptr ? write_to_stderr : writer);
}

void log_note(const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  write_line(line_writer.load(), "", format, values);
  va_end(values);
}

void log_warning(const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  write_line(line_writer.load(), "warning: ", format, values);
  va_end(values);
}

void fatal(const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  write_line(nullptr, "fatal: ", format, values);
  va_end(values);
  end_process();
}

void on_fatal(void (*hook)() noexcept) noexcept { fatal_hook.store(hook); }

void check_failed(const char* text, const char* file, const char* function, unsigned line,
                  const int64_t* values, int value_count) noexcept {
  char list[256] = "";
  size_t used = 0;
  for (int i = 0; i < value_count && used + 24 < sizeof list; ++i) {
    used +=
        static_cast<size_t>(std::snprintf(list + used, sizeof list - used, "%s%lld",
                                          i == 0 ? " [" : ", ", static_cast<long long>(values[i])));
  }
  const char* close = value_count > 0 ? "]" : "";
  fatal("check failed: %s%s%s at %s:%u in %s", text, list, close, file, line, function);
}

}  // namespace pinwire
