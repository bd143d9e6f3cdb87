// A record of what a process did, for people: a trace with a line for each event, and statistics at
// the end (GASNET_TRACEFILE, GASNET_STATSFILE and their kin). Events are calls of the API and runs
// of handlers, named by the letters that GASNet users know:
//
//   G gets   P puts and memsets   S synchronisation   B barriers   L handler-safe locks
//   A active messages and runs of their handlers   X polls   I the job's settings   C drivers'
//   counters   O segments, handlers, drivers   D the bytes that are sent   H, U lines of the client
//   N the client's source line before each of its thread's   R remote atomics   (W: no
//   collectives yet)
//
// Off, an event costs one predictable branch. Puts and gets that the headers inline pass by here:
// while G, P, R or D is watched, the table that they read stays empty
// (extended/segments/publish.cc).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace pinwire {

using TraceLetters = uint32_t;  ///< letter 'A' + n is bit n
constexpr TraceLetters letter_bit(char letter) noexcept { return 1u << (letter - 'A'); }

inline constexpr const char* kTraceLetters = "GPRSWBLAXIOCDNHU";

enum class Event : uint8_t {
  kGet,
  kGetNb,
  kGetNbi,
  kPut,
  kPutNb,
  kPutNbi,
  kMemset,
  kMemsetNb,
  kMemsetNbi,
  kAtomic,
  kSyncWait,
  kSyncTry,
  kBarrierNotify,
  kBarrierWait,
  kBarrierTry,
  kHslLock,
  kHslTryLock,
  kHslUnlock,
  kRequestShort,
  kRequestMedium,
  kRequestLong,
  kReplyShort,
  kReplyMedium,
  kReplyLong,
  kHandler,
  kPoll,
  kCount
};

struct TraceRequest {
  std::string trace_file, stats_file;  ///< empty: none; "-", stderr, stdout; % stands for the rank
  TraceLetters trace_letters = 0, stats_letters = 0;
  bool flush = false;  ///< after every line
  bool local = true;   ///< also gets and puts of this rank's own memory
  uint32_t rank = 0;
};

/// Opens the files, empty. Ranks that share one open it before any of them writes.
Status open_trace(const TraceRequest& request);
/// From here on events are recorded. Before the first of them, in the thread that opened.
void start_trace() noexcept;
/// Writes what is left and the statistics; nothing is recorded afterwards. May be called in a
/// signal handler: what another thread holds just then is lost.
void finish_trace() noexcept;

/// The letters of trace and statistics together.
inline constinit std::atomic<TraceLetters> watched_letters{0};
inline bool watches_any() noexcept { return watched_letters.load(std::memory_order_relaxed) != 0; }
inline bool watches(char letter) noexcept {
  return (watched_letters.load(std::memory_order_relaxed) & letter_bit(letter)) != 0;
}

/// `value`: bytes, or nanoseconds of what takes time. `data`: the bytes, where they are there.
void record_event(Event event, uint32_t node, uint64_t value, uint32_t detail,
                  const void* data = nullptr) noexcept;

/// `detail`: the handler of a message, the name of a barrier; bytes: payload.
inline void note_event(Event event, uint32_t node = 0, uint64_t bytes = 0, uint32_t detail = 0,
                       const void* data = nullptr) noexcept {
  if (watches_any()) [[unlikely]]
    record_event(event, node, bytes, detail, data);
}

/// An event that takes time: recorded at its end.
class TimedEvent {
 public:
  explicit TimedEvent(Event event, uint32_t detail = 0) noexcept : event_(event), detail_(detail) {
    if (watches_any()) [[unlikely]]
      begin();
  }
  ~TimedEvent() {
    if (watches_any()) [[unlikely]]
      end();
  }
  TimedEvent(const TimedEvent&) = delete;

 private:
  void begin() noexcept;
  void end() noexcept;
  Event event_;
  uint32_t detail_;
  uint64_t begin_ns_ = 0;
};

/// A line of letter C, I or O.
[[gnu::format(printf, 2, 3)]] void trace_line(char letter, const char* format, ...) noexcept;

}  // namespace pinwire
