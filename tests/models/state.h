// One state of a program under exploration: the memory with its histories, and where each thread
// is. Plain data, copied for every branch.
//
// The memory model: every atomic cell keeps all values ever stored, in modification order. A thread
// has a floor in each cell, the oldest value that it may still read; a load picks any value from
// there on. A release store hands the storer's floors on, an acquire load takes them over. Stores
// go to the end of the modification order, and a load never reads a store that comes later (no load
// buffering). The part of C++'s model that this leaves out needs a data race on plain memory to do
// harm, and those are found: plain accesses carry vector clocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinwire::model {

/// kPassBarrier: membarrier(2), of one thread: it stands still while thread `operand` passes a full
/// barrier. A value that each of them stored before (into Barriers::cells), the other sees after
/// it.
enum class Action : uint8_t { kLoad, kStore, kModify, kCompareExchange, kWait, kPassBarrier };
using Modify = uint64_t (*)(uint64_t old, uint64_t operand);

/// An access to an atomic cell, before it happens.
struct Access {
  Action action = Action::kLoad;
  const void* at = nullptr;
  std::memory_order order = std::memory_order_seq_cst;
  std::memory_order order_on_failure = std::memory_order_seq_cst;  ///< kCompareExchange
  uint64_t operand = 0;                                            ///< to store
  uint64_t expected = 0;
  Modify modify = nullptr;
  bool is_torn = false;     ///< a mutant: load, then store, in two halves
  bool is_dropped = false;  ///< a mutant: does not happen
  uint64_t lie = 0;         ///< a mutant: what a load adds to the value
};

inline constexpr uint32_t kThreadsMax = 4;
inline constexpr uint32_t kAtomicsMax = 24;
inline constexpr uint32_t kPlainsMax = 64;
inline constexpr uint32_t kMessagesMax = 192;
inline constexpr uint32_t kObservationsMax = 8;
inline constexpr uint32_t kSetup = kThreadsMax;  ///< stored before the threads began
inline constexpr uint16_t kNoMessage = 0xffff;

/// The values that a thread is sure to see.
struct View {
  uint8_t floor[kAtomicsMax] = {};  ///< place in the modification order
  /// For each thread, the stretch (from one release to the next) up to which all happened before.
  uint16_t clock[kThreadsMax] = {};

  void join(const View& other) noexcept {
    for (uint32_t i = 0; i < kAtomicsMax; ++i) {
      if (floor[i] < other.floor[i]) floor[i] = other.floor[i];
    }
    for (uint32_t i = 0; i < kThreadsMax; ++i) {
      if (clock[i] < other.clock[i]) clock[i] = other.clock[i];
    }
  }
};

/// One store.
struct Message {
  uint64_t value;
  View view;      ///< what an acquire load of it takes over
  uint16_t next;  ///< in modification order
};

/// The accesses that a later plain access must come after, by 1 + the stretch of each thread.
struct Accesses {
  uint16_t wrote[kThreadsMax] = {};  ///< its last plain write
  uint16_t read[kThreadsMax] = {};   ///< its last plain read, or any atomic access
};

struct AtomicCell {
  uint16_t first = kNoMessage;
  uint16_t last = kNoMessage;
  uint8_t count = 0;
  uint8_t sc_floor = 0;  ///< what a sequentially consistent access sees at least
  Accesses accesses;
};

struct PlainCell {
  uint64_t value = 0;
  Accesses accesses;
};

struct Thread {
  View view;
  uint64_t history_hash = 0;  ///< of all that it has read since it settled
  uint64_t hash_before_attempt = 0;
  uint16_t history_count = 0;
  bool attempts = false;  ///< in retry()
  bool waited = false;
  bool finished = false;
  Access pending;                     ///< what it does next
  uint8_t attempt[kAtomicsMax] = {};  ///< 1 + place last read in this attempt, by cell; 0: not read
};

struct State {
  Thread threads[kThreadsMax];
  AtomicCell atomics[kAtomicsMax];
  PlainCell plains[kPlainsMax];
  uint64_t observed[kObservationsMax] = {};
  uint16_t message_count = 0;
  Message messages[kMessagesMax];

  State() = default;
  State(const State& other) { *this = other; }
  /// The unused messages are not worth copying.
  State& operator=(const State& other) {
    constexpr size_t kFixed = offsetof(State, messages);
    std::memcpy(static_cast<void*>(this), &other, kFixed + other.message_count * sizeof(Message));
    return *this;
  }
};

}  // namespace pinwire::model
