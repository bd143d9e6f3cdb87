// core/interrupts/handshake.h: client threads that hold and resume, lock and unlock, call the
// library and compute, while messages arrive and signals come between any two of their steps. Each
// thread has the two words of the handshake for itself (PA-023): one in a section keeps no other
// from being signalled (PA-027) and from handling what the first was signalled for (PA-029).
#include "core/interrupts/handshake.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

void deliver_signal();
bool owner_passes_barrier(const void* reasons);
bool is_in_signal();
bool hands_over();

/// Mutants: what happens in another order than it is written.
enum class Order {
  kRight,
  kBeginsLate,  ///< a client thread is in its section before its reason begins
  kEndsLate,    ///< it looks for `arrived`, then ends its last reason
  kClearsLate,  ///< it clears `arrived` after the drain
  kSetsLate,    ///< `arrived` is set after the barrier
  kGivesEarly,  ///< it hands over what has arrived, then clears `arrived`
};
Order program_order = Order::kRight;
/// The steps that are yet to happen.
struct Late {
  model::Atomic<uint32_t>* cell = nullptr;
  uint32_t value = 0;
  bool in_signal = false;  ///< the thread was interrupted before
} late;
void do_what_is_late() {
  if (late.cell == nullptr || is_in_signal() != late.in_signal) return;
  std::exchange(late.cell, nullptr)->exchange(late.value, std::memory_order_acq_rel);
}

/// Before each access of a client thread its signal may be delivered.
struct SignalledMemory {
  template <typename T>
  class Atomic : public model::Atomic<T> {
    using Base = model::Atomic<T>;

   public:
    using Base::Base;
    T load(std::memory_order order) const noexcept {
      deliver_signal();
      if (program_order == Order::kBeginsLate) do_what_is_late();
      const T value = Base::load(order);
      if (program_order == Order::kEndsLate && late.cell != this) do_what_is_late();
      return value;
    }
    void store(T value, std::memory_order order) noexcept {
      deliver_signal();
      if (program_order == (value == 0 ? Order::kEndsLate : Order::kBeginsLate) && !is_in_signal())
        return postpone(value);
      do_what_is_late();
      Base::store(value, order);
    }
    T exchange(T value, std::memory_order order) noexcept {
      deliver_signal();
      const bool is_late = value != 0     ? program_order == Order::kSetsLate
                           : hands_over() ? program_order == Order::kGivesEarly
                                          : program_order == Order::kClearsLate;
      if (!is_late) return Base::exchange(value, order);
      postpone(value);
      return !value;
    }

   private:
    void postpone(T value) noexcept { late = {this, value, is_in_signal()}; }
  };
  static bool pass_barrier(const void* reasons) { return owner_passes_barrier(reasons); }
};

constexpr uint32_t kClientsMax = 3, kMessagesMax = 3;

struct Client {
  BasicHandshake<SignalledMemory> handshake;
  model::Atomic<uint32_t> signal;  ///< pending
  // State of the thread that finds messages.
  bool is_slow = false;
  bool is_unsent = false;
};
Client clients[kClientsMax];
bool has_barriers = true;  ///< of the kernel

// The words of its handshake, by their order.
const void* reasons_of(const Client& client) { return &client.handshake; }
const void* arrived_of(const Client& client) {
  return reinterpret_cast<const model::Atomic<uint32_t>*>(&client.handshake) + 1;
}

bool owner_passes_barrier(const void* reasons) {
  if (!has_barriers) return false;
  uint32_t i = 0;
  while (reasons_of(clients[i]) != reasons) ++i;
  const bool is_passed = pass_barrier(reasons, i);
  do_what_is_late();
  return is_passed;
}

model::Atomic<uint32_t> published[kMessagesMax];
model::Atomic<uint32_t> taken[kMessagesMax];
model::Atomic<uint32_t> taken_count;
model::Atomic<uint32_t> handed_over;
uint32_t message_count;
uint32_t drained_max;  ///< by one drain; 0: all that is there
model::Atomic<uint32_t> asked_again;

/// The thread that is being run.
struct Self {
  Client* client = nullptr;  ///< nullptr: who finds messages
  bool is_masked = false;    ///< in its signal handler
  bool blocks = false;       ///< its signals
  bool is_abroad = false;    ///< where it may run no handlers
  bool is_handling = false;
  uint32_t reasons = 0;
};
Self self;
bool is_in_signal() { return self.is_masked; }
bool hands_over() { return self.is_masked && self.is_abroad; }

/// Runs the handlers of what is there. False: there may be more.
bool drain() {
  const uint64_t past = remember();
  uint32_t drained = 0;
  for (uint32_t i = 0; i < message_count && (drained_max == 0 || drained < drained_max); ++i) {
    if (published[i].load(std::memory_order_acquire) == 0) continue;
    if (taken[i].exchange(1, std::memory_order_relaxed) != 0) continue;
    expect(!self.is_handling, "a handler interrupts no handler (C1-170)");
    expect(self.reasons == 0, "no handler runs on a thread in a No-Interrupt Section (C1-177)");
    self.is_handling = true;
    deliver_signal();
    self.is_handling = false;
    taken_count.fetch_add(1, std::memory_order_relaxed);
    ++drained;
  }
  recall(past);
  return drained_max == 0 || drained < drained_max;
}
void ask_again() { asked_again.exchange(1, std::memory_order_release); }

void deliver_signal() {
  if (self.client == nullptr || self.is_masked || self.blocks) return;
  const uint64_t past = remember();
  if (self.client->signal.load(std::memory_order_acquire) != 0) {
    self.client->signal.exchange(0, std::memory_order_acquire);
    self.is_masked = true;
    if (self.is_abroad) {
      self.client->handshake.hand_over([] { handed_over.store(1, std::memory_order_release); });
      do_what_is_late();
    } else {
      self.client->handshake.on_signal(drain, ask_again);
    }
    self.is_masked = false;
  }
  recall(past);
}

void begin(Reason reason) {
  self.client->handshake.disable(reason);
  ++self.reasons;
  deliver_signal();
}
void end(Reason reason) {
  deliver_signal();
  --self.reasons;
  self.client->handshake.enable(reason, drain, ask_again);
}
void poll() {
  self.client->handshake.disable(Reason::kLibrary);
  drain();
  self.client->handshake.enable(Reason::kLibrary, drain, ask_again);
}

/// The steps of a client thread: h(old), r(esume), l(ock), u(nlock), p(oll), b(lock its signals),
/// a(dmit them again), f(oreign text, where it may run no handlers), c(lient's text again). Then it
/// computes.
void run_client(const char* program) {
  for (const char* at = program; *at != '\0'; ++at) {
    switch (*at) {
      case 'h':
        begin(Reason::kSection);
        break;
      case 'r':
        end(Reason::kSection);
        break;
      case 'l':
        begin(Reason::kLock);
        break;
      case 'u':
        end(Reason::kLock);
        break;
      case 'p':
        poll();
        break;
      case 'b':
      case 'a':
        self.blocks = *at == 'b';
        break;
      case 'f':
      case 'c':
        self.is_abroad = *at == 'f';
        deliver_signal();
        break;
      default:
        expect(false, "a known letter");
    }
    settle(static_cast<uint64_t>(at - program) + 1);
  }
  retry([] {
    deliver_signal();
    return taken_count.load(std::memory_order_relaxed) == message_count;
  });
}

struct Shape {
  std::vector<const char*> clients;
  uint32_t messages;
  uint32_t asks_again = 0;  ///< after each message, whether or not it was taken by then
  uint32_t refused = 0;     ///< of the signals, the first so many
  uint32_t drained_max = 0;
  bool hands_over = false;  ///< a thread may be in foreign text
};

bool never_asks_another = false;   // a mutant
bool forgets_unsent = false;       // a mutant
bool forgets_handed_over = false;  // a mutant
bool forgets_the_rest = false;     // a mutant: of what was handed over

/// The finder runs the handlers that a thread in foreign text has left to it. True: there may be
/// more than it takes at once, and the client is to be asked again.
bool take_over() {
  const uint64_t past = remember();
  const bool is_more = !forgets_handed_over &&
                       handed_over.exchange(0, std::memory_order_acquire) != 0 && !drain() &&
                       !forgets_the_rest;
  recall(past);
  return is_more;
}

/// Waits until a client is to be asked again; false: all is taken.
bool is_asked_again(bool takes_over) {
  bool is_asked = false;
  retry([&] {
    is_asked = (takes_over && take_over()) || asked_again.load(std::memory_order_acquire) != 0;
    return is_asked || taken_count.load(std::memory_order_relaxed) == message_count;
  });
  if (is_asked) asked_again.exchange(0, std::memory_order_acquire);
  return is_asked;
}

/// The thread that finds messages.
void run_finder(const Shape& shape) {
  const std::span all(clients, shape.clients.size());
  for (Client& client : all) client.is_slow = client.is_unsent = false;
  uint64_t done = 0;
  uint32_t refused = 0;
  const auto ask = [&](bool asks_another) {
    notify_one(all, asks_another && !never_asks_another, [&](Client& client) {
      if (refused < shape.refused) return ++refused, forgets_unsent;
      client.signal.store(1, std::memory_order_release);
      return true;
    });
    uint64_t digest = (shape.refused + 1) * ++done + refused;
    for (const Client& client : all) {
      digest = 4 * digest + 2 * client.is_unsent + client.is_slow;
    }
    settle(digest);
  };
  for (uint32_t i = 0; i < shape.messages; ++i) {
    if (shape.hands_over && take_over()) ask(false);
    published[i].store(1, std::memory_order_release);
    ask(false);
    for (uint32_t again = 0; again < shape.asks_again; ++again) ask(true);
  }
  if (shape.drained_max == 0 && !shape.hands_over) return;
  while (is_asked_again(shape.hands_over)) ask(false);
}

Report explore(const Shape& shape, const Mutation& mutation = {}) {
  const auto count = static_cast<uint32_t>(shape.clients.size());
  Barriers barriers;
  for (uint32_t i = 0; has_barriers && i < count; ++i) {
    barriers.cells.insert({reasons_of(clients[i]), arrived_of(clients[i])});
    barriers.loaded.insert(arrived_of(clients[i]));
  }
  const auto prepare = [&] {
    message_count = shape.messages;
    drained_max = shape.drained_max;
    for (uint32_t i = 0; i < count; ++i) {
      name_cell(reasons_of(clients[i]), "reasons");
      name_cell(arrived_of(clients[i]), "arrived");
      name_cell(&clients[i].signal, "signal");
    }
    for (uint32_t i = 0; i < message_count; ++i) {
      name_cell(&published[i], "published");
      name_cell(&taken[i], "taken");
    }
    name_cell(&taken_count, "taken_count");
    name_cell(&handed_over, "handed_over");
    name_cell(&asked_again, "asked_again");
  };
  const auto run = [&](uint32_t thread) {
    self = {};
    late = {};
    if (thread < count) {
      self.client = &clients[thread];
      return run_client(shape.clients[thread]);
    }
    run_finder(shape);
  };
  return model::explore({.threads = count + 1,
                         .prepare = prepare,
                         .run = run,
                         .mutation = mutation,
                         .barriers = barriers});
}

void expect_kept(const Shape& shape) {
  const Report report = explore(shape);
  std::string name;
  for (const char* client : shape.clients) name += std::string(client) + " ";
  std::printf("%swith %u messages: %llu executions, %llu states, %llu steps\n", name.c_str(),
              shape.messages, static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.steps));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}

TEST(Handshake, PA_031_OneThreadLosesNothing) {
  for (const char* program : {"", "hr", "hrhr", "lu", "hlur", "lluu", "p", "hrp"}) {
    expect_kept({{program}, 2});
  }
  expect_kept({{"hr"}, 3});
}

TEST(Handshake, PA_036_TwoThreadsLoseNothing) {
  expect_kept({{"hr", ""}, 2});
  expect_kept({{"hr", "lu"}, 2});
  expect_kept({{"p", ""}, 2});
  expect_kept({{"p", "hr"}, 1});
}

TEST(Handshake, PA_036_ThreeThreadsLoseNothing) {
  expect_kept({{"hr", "lu", "p"}, 1});
  expect_kept({{"hr", "", ""}, 2});
}

/// More arrives than a thread drains at once.
TEST(Handshake, PA_031_AThreadThatLeavesMessagesForLaterIsAskedAgain) {
  for (const char* program : {"", "hr", "lu", "p", "hrhr"}) {
    expect_kept({{program}, 2, 0, 0, 1});
  }
  expect_kept({{"hr"}, 3, 0, 0, 1});
  expect_kept({{"hr", ""}, 1, 0, 0, 1});
  EXPECT_NE(explore({{"hr"}, 2, 0, 0, 1}, change("asked_again", Action::kModify, drop)).failure,
            "");
  EXPECT_NE(explore({{"hr"}, 2, 0, 0, 1}, change("arrived", Action::kStore, drop)).failure, "");
}

/// Each of those that block is passed over once.
const std::vector<Shape> kDeafShapes = {
    {{"b", ""}, 2, 1},      {{"b", "hr"}, 2, 1},     {{"b", "lu"}, 1, 1},
    {{"b", "p"}, 1, 1},     {{"ba", ""}, 1, 1},      {{"bhr", ""}, 1, 1},
    {{"b", "b", ""}, 1, 2}, {{"b", "hr", ""}, 1, 1}, {{"hr", ""}, 1, 1}};

TEST(Handshake, PA_036_ThreadsThatBlockTheirSignalsDelayNothingForEver) {
  for (const Shape& shape : kDeafShapes) expect_kept(shape);
}

TEST(Handshake, PA_036_WithoutAskingAnotherTheyDo) {
  never_asks_another = true;
  EXPECT_NE(explore(kDeafShapes[0]).failure, "");
  never_asks_another = false;
  EXPECT_NE(explore({{"b", ""}, 2, 0}).failure, "");
}

/// The queue of signals is full for a while (RLIMIT_SIGPENDING).
TEST(Handshake, PA_036_SignalsThatCannotBeSentAreSentAgain) {
  const Shape shapes[] = {{{""}, 1, 1, 1},     {{""}, 2, 1, 1},       {{""}, 1, 2, 2},
                          {{"hr"}, 1, 1, 1},   {{"hrlu"}, 1, 1, 1},   {{"p"}, 1, 1, 1},
                          {{"", ""}, 1, 1, 1}, {{"b", "hr"}, 1, 2, 1}};
  for (const Shape& shape : shapes) expect_kept(shape);
  has_barriers = false;
  for (const char* program : {"", "hr", "p"}) expect_kept({{program}, 1, 2, 1});
  has_barriers = true;
  forgets_unsent = true;
  EXPECT_NE(explore(shapes[0]).failure, "");
  EXPECT_NE(explore(shapes[3]).failure, "");
  forgets_unsent = false;
}

/// In malloc, say, or asleep in a system call.
std::vector<Shape> shapes_in_foreign_text() {
  std::vector<Shape> shapes = {{{"fc"}, 2},    {{"f"}, 2},        {{"fhr"}, 2},   {{"fhrc"}, 2},
                               {{"hrf"}, 2},   {{"flu"}, 1},      {{"fp"}, 2},    {{"fcfc"}, 2},
                               {{"f", ""}, 2}, {{"fc", "hr"}, 1}, {{"f", "f"}, 2}};
  for (Shape& shape : shapes) shape.hands_over = true;
  return shapes;
}
TEST(Handshake, PA_020_ThreadsInForeignTextHandOverAllThatArrives) {
  for (const Shape& shape : shapes_in_foreign_text()) expect_kept(shape);
  has_barriers = false;
  for (const char* program : {"f", "fc", "fhr"}) {
    expect_kept({.clients = {program}, .messages = 2, .hands_over = true});
  }
  has_barriers = true;
}
/// And more arrives than is drained at once, by the thread or by the one who takes over.
std::vector<Shape> shapes_of_floods() {
  std::vector<Shape> shapes = {{{"f"}, 2},    {{"fc"}, 2}, {{"fhr"}, 2},   {{"hrf"}, 2},
                               {{"fhrc"}, 2}, {{"fp"}, 2}, {{"f", ""}, 1}, {{"f"}, 3}};
  for (Shape& shape : shapes) {
    shape.hands_over = true;
    shape.drained_max = 1;
  }
  return shapes;
}
TEST(Handshake, PA_020_ThreadsInForeignTextAreAskedAgainForTheRest) {
  for (const Shape& shape : shapes_of_floods()) expect_kept(shape);
  const auto is_caught = [&](const Mutation& mutation) {
    for (const Shape& shape : shapes_of_floods()) {
      if (!explore(shape, mutation).failure.empty()) return true;
    }
    return false;
  };
  forgets_the_rest = true;
  EXPECT_TRUE(is_caught({}));
  forgets_the_rest = false;
  EXPECT_TRUE(is_caught(change("asked_again", Action::kModify, drop)));
  EXPECT_TRUE(is_caught(change("handed_over", Action::kStore, drop)));
}
TEST(Handshake, PA_020_ItsMutantsAreCaught) {
  const auto is_caught = [&](const Mutation& mutation) {
    for (const Shape& shape : shapes_in_foreign_text()) {
      if (!explore(shape, mutation).failure.empty()) return true;
    }
    return false;
  };
  // the finder is not told
  EXPECT_TRUE(is_caught(change("handed_over", Action::kStore, drop)));
  forgets_handed_over = true;
  EXPECT_TRUE(is_caught({}));
  forgets_handed_over = false;
  program_order = Order::kGivesEarly;
  EXPECT_TRUE(is_caught({}));
  program_order = Order::kRight;
}

/// Several are signalled for one message then: two threads with two messages take minutes.
TEST(Handshake, PA_031_NorWithoutBarriersOfTheKernel) {
  has_barriers = false;
  for (const char* program : {"", "hr", "hrhr", "lu", "hlur", "lluu", "p", "hrp"}) {
    expect_kept({{program}, 2});
  }
  for (const char* other : {"", "lu", "p", "b"}) expect_kept({{"hr", other}, 1});
  expect_kept({{"hr", "lu", ""}, 1});
  has_barriers = true;
}

TEST(Handshake, PA_031_ItsMutantsAreCaught) {
  const Shape shape{{"hr"}, 2};
  const auto is_caught = [&](const Mutation& mutation) {
    return !explore(shape, mutation).failure.empty();
  };
  // no barrier is passed
  EXPECT_TRUE(is_caught(change("reasons", Action::kPassBarrier, drop)));
  // who ends its last reason does not look for `arrived`
  EXPECT_TRUE(is_caught(change("arrived", Action::kLoad, drop)));
  // arrive(), and what clears after it, are not one operation
  EXPECT_TRUE(is_caught(change("arrived", Action::kModify, tear)));
  // the messages are not seen by who sees that they arrived
  EXPECT_TRUE(is_caught(change("arrived", Action::kModify, relax_if_acquire)));
  EXPECT_TRUE(is_caught(change("arrived", Action::kModify, relax_if_release)));
  for (const Order wrong :
       {Order::kBeginsLate, Order::kEndsLate, Order::kClearsLate, Order::kSetsLate}) {
    program_order = wrong;
    EXPECT_TRUE(is_caught({})) << static_cast<int>(wrong);
  }
  program_order = Order::kRight;
}

}  // namespace
}  // namespace pinwire::model
