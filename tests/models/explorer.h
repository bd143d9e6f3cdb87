// Tries every execution of a small program of several threads: each order of their accesses to
// shared atomic memory, and each value that each load may read under the memory model of state.h.
//
//   Program p{.threads = 2, .prepare = ..., .run = [&](uint32_t thread) { ... }};
//   const Report report = explore(p);
//
// The threads use model::Atomic<T> and ModelMemory (memory.h), so production code that is a
// template over its memory runs as it is. A thread is advanced by running it anew with the results
// that it has had so far, up to its next access that others could notice; there it is abandoned by
// a longjmp: a thread's code holds nothing that a destructor must free, and keeps its variables
// inside itself or in objects that it sets up itself. States that were reached before are not
// explored again.
//
// A loop that waits would make executions endless: retry() runs a new attempt only when it can read
// something that the last one did not. Every execution therefore ends, and one that ends with a
// thread that waits for ever is a failure: what it waits for was lost.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/models/state.h"

namespace pinwire::model {

/// A deliberate fault, to see that the exploration finds it. It sees each access first.
struct Mutation {
  std::function<void(Access&, const std::string& cell)> change;
  bool copies_after_store = false;  ///< plain copies happen after the store that publishes them
};

/// The barriers of a program that uses pass_barrier(), after which a load may no longer read what
/// it could before.
struct Barriers {
  /// The cells that a barrier is sure to make seen; in truth it is all memory.
  std::set<const void*> cells;
  /// Those of them that a thread loads which others have pass barriers, but does not write alone.
  std::set<const void*> loaded;
};

struct Program {
  uint32_t threads = 0;
  /// Names cells (for messages) and gives them their first values.
  std::function<void()> prepare;
  std::function<void(uint32_t thread)> run;
  Mutation mutation;
  Barriers barriers = {};
  bool merges_states = true;  ///< false: also explores again what it has explored, to be compared
};

using Outcome = std::vector<uint64_t>;

struct Report {
  uint64_t executions = 0;  ///< that were carried to their end; others joined a known state
  uint64_t states = 0;
  uint64_t steps = 0;
  std::string failure;  ///< empty: every execution kept every promise
  std::string trace;    ///< how it came to the failure
  std::set<Outcome> outcomes;
};

Report explore(const Program& program);

// For the code of threads, and for prepare().

void name_cell(const void* at, const std::string& name);
/// Part of the execution's outcome.
void observe(uint32_t slot, uint64_t value);
/// A promise; the first that is broken ends the exploration.
void expect(bool holds, const char* promise);
uint64_t perform(Access access, bool* succeeded = nullptr);
/// Has that thread pass a barrier (kPassBarrier). `at` names it for mutations. False: it did not.
bool pass_barrier(const void* at, uint32_t thread);
/// Plain memory in words of 8 bytes.
uint64_t read_word(const void* at);
void write_word(void* at, uint64_t value);

/// From here on, what the thread does depends on its past by no more than this: states that differ
/// in the rest are the same. (Cells that the thread alone uses, atomic ones, count as memory.)
void settle(uint64_t digest);
/// recall(remember()): what the thread did in between has left nothing in its variables; however it
/// went, the thread goes on alike.
uint64_t remember();
void recall(uint64_t past);

void begin_attempt();
void end_attempt();
void wait_for_news();
/// Repeats `attempt` until it returns true. One that fails leaves nothing in the thread's
/// variables.
template <typename Attempt>
void retry(Attempt&& attempt) {
  for (;;) {
    begin_attempt();
    if (attempt()) return end_attempt();
    wait_for_news();
  }
}

}  // namespace pinwire::model
