// The words of this process (core/base/log.h) become lines of a sink that its loop writes.
#pragma once

#include "core/launch/streams/line_sink.h"

namespace pinwire::launch {

/// One at a time, as long as it lives.
class LogToSink {
 public:
  explicit LogToSink(LineSink& sink) noexcept;
  ~LogToSink();
  LogToSink(const LogToSink&) = delete;
  LogToSink& operator=(const LogToSink&) = delete;
};

}  // namespace pinwire::launch
