#include "core/launch/streams/log_to_sink.h"

#include "core/base/log.h"

namespace pinwire::launch {
namespace {

LineSink* own_words = nullptr;  // a LogWriter has no state

}  // namespace

LogToSink::LogToSink(LineSink& sink) noexcept {
  own_words = &sink;
  log_through([](std::string_view line) { own_words->say(line); });
}

LogToSink::~LogToSink() { log_through(nullptr); }

}  // namespace pinwire::launch
