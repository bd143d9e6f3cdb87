#include "tests/models/explorer.h"

#include <setjmp.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/check.h"

namespace pinwire::model {
namespace {

constexpr uint64_t kStatesMax = 40'000'000;
constexpr uint32_t kHistoryMax = 4096;
/// The beginning of a hash, or the kind of what is mixed in: no small number, as values are.
constexpr uint64_t kBegun = 0xb5ad4eceda1ce2a9, kSettled = 0x9216d5d98979fb1b,
                   kStored = 0xd1310ba698dfb5ac, kPassed = 0x2ffd72dbd01adfb7,
                   kFinished = 0xb8e1afed6a267e96, kRecalled = 0xba7c9045f12c7f99;
constexpr int kAtAccess = 1, kBroken = 2, kLearnt = 3;

uint64_t mix(uint64_t hash, uint64_t more) noexcept {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  return hash ^ (hash >> 29);
}
template <typename Plain>
uint64_t mix_in(uint64_t hash, const Plain& object) noexcept {
  static_assert(sizeof object % 8 == 0 && std::has_unique_object_representations_v<Plain>);
  for (size_t at = 0; at < sizeof object; at += 8) {
    uint64_t word;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&object) + at, sizeof word);
    hash = mix(hash, word);
  }
  return hash;
}
bool acquires(std::memory_order order) noexcept {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

const char* order_name(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

struct Result {
  uint64_t value;
  bool succeeded;
};

struct Step {
  uint32_t thread;
  Access access;
  Result result;
  uint32_t place;  ///< of what was read, or is waited for, in the modification order
};

class Explorer {
 public:
  explicit Explorer(const Program& program) : program_(program) {
    check(program.threads > 0 && program.threads <= kThreadsMax, "threads", program.threads);
    for (auto& history : histories_) history.resize(kHistoryMax);
  }

  Report run() {
    do {
      learnt_ = false;
      report_ = {};
      visited_.clear();
      path_.clear();
      State& first = node(0);
      first = State{};
      for (Thread& thread : first.threads) thread.history_hash = kBegun;
      state_ = &first;
      thread_ = kSetup;
      program_.prepare();
      for (uint32_t t = 0; t < program_.threads && !stopped(); ++t) advance(first, t);
      if (!stopped()) explore(0);
    } while (learnt_);
    return std::move(report_);
  }

  // Calls of the threads.

  Result perform(Access access) {
    if (replaying()) return replayed();
    if (program_.mutation.change && thread_ != kSetup) {
      program_.mutation.change(access, cell_name(access.at));
    }
    if (access.is_dropped) return record({0, true});
    if (access.action == Action::kWait || access.action == Action::kPassBarrier) leave(access);
    AtomicCell& cell = atomic_at(access.at);
    const uint32_t id = atomic_id(access.at);
    if (thread_ == kSetup) {
      append(cell, id, access.operand, View{});
      return {0, true};
    }
    if ((users_[id] & user_bit(thread_)) == 0) {
      const bool is_first = users_[id] == 0;
      users_[id] |= user_bit(thread_);
      if (!is_first) begin_again();
    }
    if (!is_shared(id)) return record(perform_privately(access, cell));
    leave(access);
  }

  void begin_attempt() {
    if (replaying()) {
      replayed();
      return;
    }
    Thread& thread = me();
    if (!thread.waited) thread.hash_before_attempt = thread.history_hash;
    thread.waited = false;
    std::fill_n(thread.attempt, kAtomicsMax, uint8_t{0});
    thread.attempts = true;
    record({0, true});
  }
  void end_attempt() {
    if (replaying()) {
      replayed();
      return;
    }
    me().attempts = false;
    record({0, true});
  }
  /// A past that the thread can go back to.
  uint64_t remember() {
    if (replaying()) return replayed().value;
    return record({me().history_hash, true}).value;
  }
  void settle(uint64_t digest) { set_past(mix(kSettled, digest)); }
  void recall(uint64_t past) { set_past(mix(past, kRecalled)); }
  void set_past(uint64_t past) {
    if (replaying()) {
      replayed();
      return;
    }
    me().history_hash = past;
    record({0, true});
  }

  uint64_t read_word(const void* at) {
    if (replaying()) return replayed().value;
    return record({touch(at, false, 0), true}).value;
  }
  void write_word(const void* at, uint64_t value) {
    if (program_.mutation.copies_after_store && !flushing_) {
      delayed_.emplace_back(at, value);
      return;
    }
    if (replaying()) {
      replayed();
      return;
    }
    touch(at, true, value);
    record({0, true});
  }
  /// The mutant whose copies come late: after this store.
  void flush_delayed() {
    flushing_ = true;
    for (const auto& [at, value] : delayed_) write_word(at, value);
    delayed_.clear();
    flushing_ = false;
  }

  void observe(uint32_t slot, uint64_t value) { state_->observed[slot] = value; }
  void fail(const std::string& what) {
    if (report_.failure.empty()) report_.failure = what;
    if (thread_ != kSetup) longjmp(back_, kBroken);
  }
  void name_cell(const void* at, const std::string& name) { names_[at] = name; }

 private:
  bool stopped() const { return learnt_ || !report_.failure.empty(); }
  /// The exploration, knowing more about the cells.
  [[noreturn]] void begin_again() {
    learnt_ = true;
    longjmp(back_, kLearnt);
  }
  static uint32_t user_bit(uint32_t thread) { return 1u << thread; }
  bool is_shared(uint32_t id) const { return !std::has_single_bit(users_[id]) && users_[id] != 0; }
  Thread& me() { return state_->threads[thread_]; }
  State& node(size_t depth) {
    while (nodes_.size() <= depth) nodes_.push_back(std::make_unique<State>());
    return *nodes_[depth];
  }

  // Depth first. A state is explored once for each set of stores that have happened: nobody notices
  // a load (unless it is sequentially consistent), and what it could read it can read later too, so
  // every thread's loads are done together with its next store, and the last ones at the very end.

  void explore(size_t depth) {
    State& here = node(depth);
    if (program_.merges_states && !visited_.insert(key_of(here)).second) return;
    ++report_.states;
    check(report_.states < kStatesMax, "the program is too large to be explored", report_.states);
    bool all_may_end = true;
    std::string stuck;
    for (uint32_t t = 0; t < program_.threads; ++t) {
      if (here.threads[t].finished) continue;
      Ends ends;
      step(depth, t, ends, [this](size_t at) { explore(at); });
      if (stopped()) return;
      all_may_end = all_may_end && (ends.finished || ends.waits);
      if (ends.waits) stuck = "thread " + std::to_string(t) + " waits for ever" + ends.trace;
    }
    if (!all_may_end) return;
    if (stuck.empty()) {
      finish(depth, 0);
    } else {
      stop(stuck);
    }
  }

  struct Ends {
    bool finished = false;  ///< without another store
    bool waits = false;     ///< for what is not there
    std::string trace;      ///< of how it came to wait
  };

  /// One thread, from here: over all that its loads may read, up to and with its next store. Calls
  /// `then` with the depth of each state after that.
  template <typename Then>
  void step(size_t depth, uint32_t t, Ends& ends, Then&& then) {
    const State& here = node(depth);
    const uint32_t count = choices(node(depth), t);
    if (count == 0 && !ends.waits) {
      ends.waits = true;
      ends.trace = trace();
    }
    for (uint32_t choice = 0; choice < count; ++choice) {
      State& there = node(depth + 1);
      there = here;
      path_.push_back(take(there, t, choice));
      const Step& taken = path_.back();
      ++report_.steps;
      advance(there, t);
      const bool is_quiet = is_load(taken);
      if (stopped()) return stop(report_.failure);
      if (!is_quiet) {
        then(depth + 1);
      } else if (there.threads[t].finished) {
        ends.finished = true;
      } else {
        step(depth + 1, t, ends, then);
      }
      if (stopped()) return;
      path_.pop_back();
    }
  }
  bool is_load(const Step& step) const {
    const Access& access = step.access;
    if (access.action == Action::kWait) return true;
    if (program_.barriers.loaded.contains(access.at)) return false;  // when it happens matters
    const bool stores = access.action == Action::kStore || access.action == Action::kModify ||
                        (access.action == Action::kCompareExchange && step.result.succeeded);
    const auto order = stores || step.result.succeeded ? access.order : access.order_on_failure;
    return !stores && order != std::memory_order_seq_cst;
  }

  /// Only loads are left: the threads end one after the other, in every way they can.
  void finish(size_t depth, uint32_t t) {
    while (t < program_.threads && node(depth).threads[t].finished) ++t;
    if (t == program_.threads) {
      ++report_.executions;
      const State& end = node(depth);
      report_.outcomes.emplace(end.observed, end.observed + kObservationsMax);
      return;
    }
    const State& here = node(depth);
    const uint32_t count = choices(node(depth), t);
    for (uint32_t choice = 0; choice < count; ++choice) {
      State& there = node(depth + 1);
      there = here;
      path_.push_back(take(there, t, choice));
      if (is_load(path_.back())) {
        advance(there, t);
        if (stopped()) return stop(report_.failure);
        finish(depth + 1, t);
      }
      path_.pop_back();
    }
  }

  void stop(const std::string& failure) {
    report_.failure = failure.substr(0, failure.find('\n'));
    if (report_.trace.empty()) {
      report_.trace = failure == report_.failure ? trace() : failure.substr(failure.find('\n'));
    }
  }

  /// Runs a thread anew to its next access that others could notice, or to its end.
  void advance(State& state, uint32_t thread) {
    state_ = &state;
    thread_ = thread;
    replay_at_ = 0;
    delayed_.clear();
    flushing_ = false;
    if (setjmp(back_) == 0) {
      program_.run(thread);
      state_->threads[thread_].finished = true;
    }
    thread_ = kSetup;
  }
  [[noreturn]] void leave(const Access& access) {
    me().pending = access;
    longjmp(back_, kAtAccess);
  }

  bool replaying() { return thread_ != kSetup && replay_at_ < me().history_count; }
  Result replayed() { return histories_[thread_][replay_at_++]; }
  Result record(const Result& result) {
    Thread& thread = me();
    check(thread.history_count < kHistoryMax, "a thread does too much");
    histories_[thread_][thread.history_count++] = result;
    replay_at_ = thread.history_count;
    return result;
  }

  /// How many ways the thread's next access can go; with `pick`, the pick-th's message.
  uint32_t choices(State& state, uint32_t t, uint32_t pick = ~0u, uint32_t* place_out = nullptr,
                   uint32_t* cell_out = nullptr) {
    Thread& thread = state.threads[t];
    const Access& access = thread.pending;
    uint32_t count = 0;
    const auto offer = [&](uint32_t id, uint32_t place) {
      if (count++ != pick) return;
      *place_out = place;
      *cell_out = id;
    };
    if (access.action == Action::kWait) {
      for (uint32_t id = 0; id < kAtomicsMax; ++id) {
        if (thread.attempt[id] == 0 || !is_shared(id)) continue;
        const uint32_t seen = thread.attempt[id] - 1u;
        const uint64_t value = message_at(state, id, seen).value;
        const uint32_t from = std::max<uint32_t>(seen + 1, thread.view.floor[id]);
        for (uint32_t place = from; place < state.atomics[id].count; ++place) {
          if (message_at(state, id, place).value == value) continue;
          offer(id, place);
          break;
        }
      }
      return count;
    }
    if (access.action == Action::kPassBarrier) {
      offer(0, 0);
      return count;
    }
    const uint32_t id = atomic_id(access.at);
    const AtomicCell& cell = state.atomics[id];
    uint32_t from = thread.view.floor[id];
    if (access.order == std::memory_order_seq_cst) from = std::max<uint32_t>(from, cell.sc_floor);
    const uint32_t last = cell.count - 1u;
    const bool reads_last =
        access.action == Action::kStore || (access.action == Action::kModify && !access.is_torn);
    for (uint32_t place = reads_last ? last : from; place <= last; ++place) {
      const bool exchanges = access.action == Action::kCompareExchange &&
                             message_at(state, id, place).value == access.expected;
      if (exchanges && place != last && !access.is_torn) continue;
      // A load that takes over no view may as well have read the oldest of equal values: what can
      // be read afterwards includes all else.
      const bool takes_nothing = access.action == Action::kLoad && !acquires(access.order);
      if (takes_nothing && is_repeated(state, id, from, place)) continue;
      offer(id, place);
    }
    return count;
  }

  /// Whether a place from `from` on and before `place` has the same value.
  bool is_repeated(const State& state, uint32_t id, uint32_t from, uint32_t place) const {
    const uint64_t value = message_at(state, id, place).value;
    for (uint32_t other = from; other < place; ++other) {
      if (message_at(state, id, other).value == value) return true;
    }
    return false;
  }

  /// Does the pick-th of the choices.
  Step take(State& state, uint32_t t, uint32_t pick) {
    uint32_t place = 0, id = 0;
    choices(state, t, pick, &place, &id);
    state_ = &state;
    thread_ = t;
    Thread& thread = state.threads[t];
    const Access access = thread.pending;
    Result result{0, true};
    if (access.action == Action::kWait) {
      thread.view.floor[id] = std::max<uint8_t>(thread.view.floor[id], static_cast<uint8_t>(place));
      thread.history_hash = thread.hash_before_attempt;  // of the failed attempt nothing is left
      thread.waited = true;
    } else if (access.action == Action::kPassBarrier) {
      pass_barrier(thread, state.threads[access.operand]);
    } else {
      result = access_shared(state, thread, access, id, place);
    }
    result.value += access.lie;
    replay_at_ = thread.history_count;
    record(result);
    thread_ = kSetup;
    return {t, access, result, place};
  }

  /// Not of their clocks: it orders no plain memory.
  void pass_barrier(Thread& caller, Thread& other) {
    caller.history_hash = mix(caller.history_hash, kPassed);
    check(!program_.barriers.cells.empty(), "a barrier for nothing");
    for (const void* at : program_.barriers.cells) {
      const uint32_t id = atomic_id(at);
      const uint8_t floor = std::max(caller.view.floor[id], other.view.floor[id]);
      caller.view.floor[id] = other.view.floor[id] = floor;
    }
  }

  Result access_shared(State& state, Thread& thread, const Access& access, uint32_t id,
                       uint32_t place) {
    AtomicCell& cell = state.atomics[id];
    note_access(cell.accesses, false, nullptr);
    Result result{0, true};
    View passed_on;  // by a store: what its release gives, and the release sequence it goes on with
    std::memory_order order = access.order;
    if (access.action != Action::kStore) {
      const Message& read = message_at(state, id, place);
      result.value = read.value;
      if (access.action == Action::kCompareExchange && read.value != access.expected) {
        result.succeeded = false;
        order = access.order_on_failure;
      }
      thread.history_hash = mix(mix(thread.history_hash, read.value), result.succeeded);
      passed_on = read.view;
      thread.view.floor[id] = std::max<uint8_t>(thread.view.floor[id], static_cast<uint8_t>(place));
      if (acquires(order)) thread.view.join(read.view);
      thread.attempt[id] = static_cast<uint8_t>(place + 1);
    }
    const bool stores = access.action == Action::kStore || access.action == Action::kModify ||
                        (access.action == Action::kCompareExchange && result.succeeded);
    if (stores) {
      const uint64_t value = access.action == Action::kModify
                                 ? access.modify(result.value, access.operand)
                                 : access.operand;
      thread.history_hash = mix(thread.history_hash, kStored);
      thread.view.floor[id] = cell.count;
      if (thread.attempt[id] != 0) thread.attempt[id] = static_cast<uint8_t>(cell.count + 1);
      if (releases(order)) {
        ++thread.view.clock[thread_];  // what the thread did up to here happened before
        passed_on.join(thread.view);
      }
      append(cell, id, value, passed_on);
    }
    if (order == std::memory_order_seq_cst) {
      cell.sc_floor = std::max(cell.sc_floor, thread.view.floor[id]);
    }
    return result;
  }

  /// Only this thread ever touches the cell: nobody can notice when.
  Result perform_privately(const Access& access, AtomicCell& cell) {
    Message& only = state_->messages[cell.last];
    const Result result{only.value,
                        access.action != Action::kCompareExchange || only.value == access.expected};
    if (access.action == Action::kStore ||
        (access.action == Action::kCompareExchange && result.succeeded)) {
      only.value = access.operand;
    } else if (access.action == Action::kModify) {
      only.value = access.modify(only.value, access.operand);
    }
    return result;
  }

  /// A plain access; the value read.
  uint64_t touch(const void* at, bool writes, uint64_t value) {
    if (thread_ == kSetup) {
      return plain_at(at).value = value;
    }
    if (!std::exchange(has_plains_, true)) begin_again();
    if (const auto found = atomic_ids_.find(at); found != atomic_ids_.end()) {
      AtomicCell& cell = atomic_at(at);
      note_access(cell.accesses, writes, at);
      if (!writes) return state_->messages[cell.last].value;
      me().view.floor[found->second] = cell.count;
      append(cell, found->second, value, View{});
      return value;
    }
    PlainCell& cell = plain_at(at);
    note_access(cell.accesses, writes, at);
    if (writes) cell.value = value;
    return cell.value;
  }

  /// A race, if an access that must not be beside this one did not happen before it. `plain`:
  /// where a plain access is; nullptr: it is an atomic one.
  void note_access(Accesses& accesses, bool writes, const void* plain) {
    const View& view = me().view;
    for (uint32_t other = 0; other < program_.threads; ++other) {
      if (other == thread_) continue;
      const bool after_writes = accesses.wrote[other] <= view.clock[other];
      const bool after_reads = accesses.read[other] <= view.clock[other];
      if (after_writes && (after_reads || !writes)) continue;
      const std::string who = std::to_string(thread_) + " and " + std::to_string(other);
      if (plain == nullptr) {
        report_.failure = "data race of threads " + who;
        return;  // this is no thread's frame: explore() sees the failure
      }
      fail("data race of threads " + who + (writes ? ", writing " : ", reading ") +
           cell_name(plain));
    }
    (writes ? accesses.wrote : accesses.read)[thread_] =
        static_cast<uint16_t>(view.clock[thread_] + 1);
  }

  void append(AtomicCell& cell, uint32_t id, uint64_t value, const View& view) {
    State& state = *state_;
    check(state.message_count < kMessagesMax && cell.count < 250, "too many stores", id);
    const auto index = state.message_count++;
    state.messages[index] = {value, view, kNoMessage};
    state.messages[index].view.floor[id] = cell.count;
    if (cell.last != kNoMessage) state.messages[cell.last].next = index;
    if (cell.first == kNoMessage) cell.first = index;
    cell.last = index;
    ++cell.count;
  }
  static const Message& message_at(const State& state, uint32_t id, uint32_t place) {
    uint16_t index = state.atomics[id].first;
    while (place-- > 0) index = state.messages[index].next;
    return state.messages[index];
  }

  /// All that decides what can happen from here on. A value before the floors of all threads that
  /// access a cell can be read by nobody any more: it is left out, places count from there, and so
  /// do the floors that anybody may hand on. Clocks are for plain memory.
  uint64_t key_of(const State& state) const {
    View base;
    for (uint32_t id = 0; id < atomic_ids_.size(); ++id) base.floor[id] = base_of(state, id);
    uint64_t key = kBegun;
    for (uint32_t t = 0; t < program_.threads; ++t) {
      const Thread& thread = state.threads[t];
      key = mix(mix(key, thread.history_hash), thread.finished ? kFinished : 0);
      key = mix_in(key, above(thread.view, base));
      for (uint32_t id = 0; id < atomic_ids_.size(); ++id) {
        const uint32_t place = thread.attempt[id];
        if (place == 0 || !thread.attempts) continue;
        key = mix(mix(key, id), message_at(state, id, place - 1).value);
        key = mix(key, place < base.floor[id] ? 0 : place - base.floor[id]);
      }
    }
    for (uint32_t id = 0; id < atomic_ids_.size(); ++id) {
      const AtomicCell& cell = state.atomics[id];
      if (cell.count == 0) continue;
      const uint32_t from = is_shared(id) ? base.floor[id] : cell.count - 1u;
      key = mix(mix(key, cell.count - from), std::max<uint32_t>(cell.sc_floor, from) - from);
      uint32_t place = 0;
      for (uint16_t at = cell.first; at != kNoMessage; at = state.messages[at].next) {
        if (place++ < from) continue;
        key = mix_in(mix(key, state.messages[at].value), above(state.messages[at].view, base));
      }
      if (has_plains_) key = mix_in(key, cell.accesses);
    }
    for (uint32_t id = 0; id < plain_ids_.size(); ++id) {
      key = mix_in(mix(key, state.plains[id].value), state.plains[id].accesses);
    }
    return key;
  }
  /// The first place that somebody can still read.
  uint8_t base_of(const State& state, uint32_t id) const {
    uint8_t least = 255;
    for (uint32_t t = 0; t < program_.threads; ++t) {
      const bool is_user = (users_[id] & user_bit(t)) != 0;
      if (is_user && !state.threads[t].finished) {
        least = std::min(least, state.threads[t].view.floor[id]);
      }
    }
    return least == 255 ? 0 : least;
  }
  View above(const View& view, const View& base) const {
    View rest = view;
    for (uint32_t id = 0; id < kAtomicsMax; ++id) {
      rest.floor[id] -= std::min(rest.floor[id], base.floor[id]);
    }
    if (!has_plains_) std::fill_n(rest.clock, kThreadsMax, uint16_t{0});
    return rest;
  }

  uint32_t atomic_id(const void* at) {
    const auto [found, is_new] = atomic_ids_.try_emplace(at, atomic_ids_.size());
    check(found->second < kAtomicsMax, "too many atomic cells");
    check(!is_new || !plain_ids_.contains(at), "an atomic cell that was plain before");
    return found->second;
  }
  AtomicCell& atomic_at(const void* at) {
    const uint32_t id = atomic_id(at);
    AtomicCell& cell = state_->atomics[id];
    if (cell.count == 0 && thread_ != kSetup) append(cell, id, 0, View{});
    return cell;
  }
  PlainCell& plain_at(const void* at) {
    const auto [found, is_new] = plain_ids_.try_emplace(at, plain_ids_.size());
    check(found->second < kPlainsMax, "too many plain cells");
    return state_->plains[found->second];
  }

  std::string cell_name(const void* at) const {
    const auto found = names_.find(at);
    return found == names_.end() ? "?" : found->second;
  }
  std::string trace() const {
    static constexpr const char* kWords[] = {"load", "store",       "modify", "compare_exchange",
                                             "wait", "pass_barrier"};
    std::string out = "\n";
    for (const Step& step : path_) {
      char line[200];
      const Access& access = step.access;
      std::snprintf(line, sizeof line, "  %u: %s %s (%s) read %#llx store %#llx%s\n", step.thread,
                    kWords[static_cast<int>(access.action)], cell_name(access.at).c_str(),
                    order_name(access.order), static_cast<unsigned long long>(step.result.value),
                    static_cast<unsigned long long>(access.operand),
                    step.result.succeeded ? "" : ", refused");
      out += line;
    }
    return out;
  }

  const Program& program_;
  Report report_;
  std::vector<std::unique_ptr<State>> nodes_;  // of the path
  std::vector<Step> path_;
  std::unordered_set<uint64_t> visited_;
  // Names of memory, the same in every execution.
  std::unordered_map<const void*, uint32_t> atomic_ids_;
  std::unordered_map<const void*, uint32_t> plain_ids_;
  std::unordered_map<const void*, std::string> names_;
  uint32_t users_[kAtomicsMax] = {};  ///< the threads that access the cell
  bool has_plains_ = false;           ///< memory that is accessed plainly
  bool learnt_ = false;               ///< something about the cells
  // The thread that is being run.
  State* state_ = nullptr;
  uint32_t thread_ = kSetup;
  uint32_t replay_at_ = 0;
  std::vector<Result> histories_[kThreadsMax];  // of the path's state; its history_count are valid
  std::vector<std::pair<const void*, uint64_t>> delayed_;
  bool flushing_ = false;
  jmp_buf back_;
};

Explorer* explorer = nullptr;

}  // namespace

Report explore(const Program& program) {
  Explorer now(program);
  explorer = &now;
  Report report = now.run();
  explorer = nullptr;
  return report;
}

void name_cell(const void* at, const std::string& name) { explorer->name_cell(at, name); }
void observe(uint32_t slot, uint64_t value) { explorer->observe(slot, value); }
void expect(bool holds, const char* promise) {
  if (!holds) explorer->fail(promise);
}
uint64_t perform(Access access, bool* succeeded) {
  const Result result = explorer->perform(access);
  if (succeeded != nullptr) *succeeded = result.succeeded;
  if (access.action == Action::kStore && access.order == std::memory_order_release) {
    explorer->flush_delayed();
  }
  return result.value;
}
uint64_t read_word(const void* at) { return explorer->read_word(at); }
void write_word(void* at, uint64_t value) { explorer->write_word(at, value); }
void settle(uint64_t digest) { explorer->settle(digest); }
uint64_t remember() { return explorer->remember(); }
void recall(uint64_t past) { explorer->recall(past); }
void begin_attempt() { explorer->begin_attempt(); }
void end_attempt() { explorer->end_attempt(); }
bool pass_barrier(const void* at, uint32_t thread) {
  return explorer->perform({.action = Action::kPassBarrier, .at = at, .operand = thread}).succeeded;
}
void wait_for_news() { explorer->perform({.action = Action::kWait}); }

}  // namespace pinwire::model
