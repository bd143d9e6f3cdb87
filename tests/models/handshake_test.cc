// core/interrupts/handshake.h: client threads that hold and resume, lock and unlock, call the
// library and compute, while messages arrive and signals come between any two of their steps.
#include "core/interrupts/handshake.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "tests/models/memory.h"

namespace pinwire::model {
namespace {

void deliver_signal();
bool clears_late = false;  // a mutant: `arrived` is cleared after the drain
uint64_t late_bits = 0;

/// Before each access of a client thread its signal may be delivered.
struct SignalledMemory {
  template <typename T>
  class Atomic : public model::Atomic<T> {
    using Base = model::Atomic<T>;

   public:
    using Base::Base;
    T load(std::memory_order order) const noexcept { return deliver_signal(), Base::load(order); }
    T fetch_add(T by, std::memory_order order) noexcept {
      return deliver_signal(), Base::fetch_add(by, order);
    }
    T fetch_or(T bits, std::memory_order order) noexcept {
      return deliver_signal(), Base::fetch_or(bits, order);
    }
    T fetch_and(T bits, std::memory_order order) noexcept {
      deliver_signal();
      if (!clears_late) return Base::fetch_and(bits, order);
      late_bits = bits;
      return 0;
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order) noexcept {
      deliver_signal();
      if (late_bits != 0) {
        Base::fetch_and(static_cast<T>(late_bits), std::memory_order_acquire);
        late_bits = 0;
      }
      return Base::compare_exchange_strong(expected, value, order);
    }
  };
};

constexpr uint32_t kClientsMax = 3, kMessagesMax = 3;

struct Client {
  BasicHandshake<SignalledMemory> handshake;
  model::Atomic<uint32_t> signal;  ///< pending
  bool is_slow = false;            ///< of who finds messages
};
Client clients[kClientsMax];
model::Atomic<uint32_t> published[kMessagesMax];
model::Atomic<uint32_t> taken[kMessagesMax];
model::Atomic<uint32_t> taken_count;
uint32_t message_count;

/// Of the thread that is being run.
struct Self {
  Client* client = nullptr;  ///< nullptr: who finds messages
  bool is_masked = false;    ///< in its signal handler
  bool blocks = false;       ///< its signals
  bool is_handling = false;
  uint32_t reasons = 0;
};
Self self;

/// Runs the handlers of all that is there.
void drain() {
  for (uint32_t i = 0; i < message_count; ++i) {
    if (published[i].load(std::memory_order_acquire) == 0) continue;
    if (taken[i].exchange(1, std::memory_order_relaxed) != 0) continue;
    expect(!self.is_handling, "a handler interrupts no handler (C1-170)");
    expect(self.reasons == 0, "no handler runs on a thread in a No-Interrupt Section (C1-177)");
    self.is_handling = true;
    deliver_signal();
    self.is_handling = false;
    taken_count.fetch_add(1, std::memory_order_relaxed);
  }
}

void deliver_signal() {
  if (self.client == nullptr || self.is_masked || self.blocks) return;
  if (self.client->signal.load(std::memory_order_acquire) == 0) return;
  self.client->signal.exchange(0, std::memory_order_acquire);
  self.is_masked = true;
  self.client->handshake.on_signal(drain);
  self.is_masked = false;
}

void begin(Reason reason) {
  self.client->handshake.disable(reason);
  ++self.reasons;
  deliver_signal();
}
void end(Reason reason) {
  deliver_signal();
  --self.reasons;
  self.client->handshake.enable(reason, drain);
}
void poll() {
  self.client->handshake.disable(Reason::kLibrary);
  drain();
  self.client->handshake.enable(Reason::kLibrary, drain);
}

/// What a client thread does: h(old), r(esume), l(ock), u(nlock), p(oll), b(lock its signals),
/// a(dmit them again). Then it computes.
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
};

bool never_asks_another = false;  // a mutant

/// Who finds messages.
void run_finder(const Shape& shape) {
  const std::span all(clients, shape.clients.size());
  for (Client& client : all) client.is_slow = false;
  uint64_t done = 0;
  const auto ask = [&](bool asks_another) {
    notify_one(all, asks_another && !never_asks_another,
               [](Client& client) { client.signal.store(1, std::memory_order_release); });
    uint64_t digest = ++done;
    for (const Client& client : all) digest = 2 * digest + client.is_slow;
    settle(digest);
  };
  for (uint32_t i = 0; i < shape.messages; ++i) {
    published[i].store(1, std::memory_order_release);
    ask(false);
    for (uint32_t again = 0; again < shape.asks_again; ++again) ask(true);
  }
}

Report explore(const Shape& shape, const Mutation& mutation = {}) {
  const auto count = static_cast<uint32_t>(shape.clients.size());
  const auto prepare = [&] {
    message_count = shape.messages;
    for (uint32_t i = 0; i < count; ++i) {
      name_cell(&clients[i].handshake, "word");
      name_cell(&clients[i].signal, "signal");
    }
    for (uint32_t i = 0; i < message_count; ++i) {
      name_cell(&published[i], "published");
      name_cell(&taken[i], "taken");
    }
    name_cell(&taken_count, "taken_count");
  };
  const auto run = [&](uint32_t thread) {
    self = {};
    late_bits = 0;
    if (thread < count) {
      self.client = &clients[thread];
      return run_client(shape.clients[thread]);
    }
    run_finder(shape);
  };
  return model::explore(
      {.threads = count + 1, .prepare = prepare, .run = run, .mutation = mutation});
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

Mutation change_word(Action action, void (*change)(Access&)) {
  return Mutation{[action, change](Access& access, const std::string& cell) {
    if (cell == "word" && access.action == action) change(access);
  }};
}
void tear(Access& access) { access.is_torn = true; }
void relax(Access& access) { access.order = std::memory_order_relaxed; }
void relax_if_acquire(Access& access) {
  if (access.order == std::memory_order_acquire) relax(access);
}
void relax_if_release(Access& access) {
  if (access.order == std::memory_order_release) relax(access);
}

TEST(Handshake, PA_031_ItsMutantsAreCaught) {
  const Shape shape{{"hr"}, 2};
  // resume() tests, then clears
  EXPECT_NE(explore(shape, change_word(Action::kCompareExchange, tear)).failure, "");
  // hold() and arrive() are not one operation
  EXPECT_NE(explore(shape, change_word(Action::kModify, tear)).failure, "");
  // the messages are not seen by who sees that they arrived
  EXPECT_NE(explore(shape, change_word(Action::kModify, relax_if_acquire)).failure, "");
  EXPECT_NE(explore(shape, change_word(Action::kModify, relax_if_release)).failure, "");
  clears_late = true;
  EXPECT_NE(explore(shape).failure, "");
  clears_late = false;
}

}  // namespace
}  // namespace pinwire::model
