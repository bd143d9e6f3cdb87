#include "core/base/breach.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "core/base/log.h"

namespace pinwire {
namespace {

constexpr int kSentenceBytesMax = 1536;

struct Sentence {
  char text[kSentenceBytesMax];
};
Sentence written(const char* format, va_list values) noexcept {
  Sentence sentence;
  std::vsnprintf(sentence.text, sizeof sentence.text, format, values);
  return sentence;
}

/// The name of the calling thread; the dispatcher has one, a client may give others.
struct ThreadName {
  char text[17] = "";
  ThreadName() noexcept { prctl(PR_GET_NAME, text); }
  explicit ThreadName(int thread_id) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread_id);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[bytes > 0 ? bytes - 1 : 0] = '\0';  // a line
    if (bytes <= 0) std::snprintf(text, sizeof text, "which has ended");
  }
};

}  // namespace

PlaceText::PlaceText(const Place& place) noexcept {
  if (place.file == nullptr) {
    std::snprintf(text_, sizeof text_, "an unknown place (by a pointer to the function)");
  } else {
    std::snprintf(text_, sizeof text_, "%s:%d", place.file, place.line);
  }
}

void breach(const char* rule, const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  const Sentence sentence = written(format, values);
  va_end(values);
  fatal("%s [%s, thread %d \"%s\"]", sentence.text, rule, gettid(), ThreadName().text);
}

void warn_of_breach(const char* rule, const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  const Sentence sentence = written(format, values);
  va_end(values);
  log_warning("%s [%s, thread %d \"%s\"]", sentence.text, rule, gettid(), ThreadName().text);
}

void warn_of_breach_by(int thread_id, const char* rule, const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  const Sentence sentence = written(format, values);
  va_end(values);
  log_warning("%s [%s, thread %d \"%s\"]", sentence.text, rule, thread_id,
              ThreadName(thread_id).text);
}

}  // namespace pinwire
