// As races.cc, but both ranks are run by one thread, and the message is sent within a call of verbs
// that the seed chooses, counted from the receiver's first look: before, in or after the arm.
// Everything that the fake device does happens within calls, so this is every order that two
// threads could show, without waiting for them: ten times as many arms a second, on every core, and
// a message that nobody is woken for is known at once, with the seed that shows it again.
//
// arms CYCLES [SEED]; long_run.py gives a third, which the others take
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/log.h"
#include "core/base/random.h"
#include "tests/job/wake/pauses.h"
#include "tests/support/verbs/sender_receiver.h"

namespace {

using namespace pinwire;
using namespace pinwire_test;

/// Calls in a receiver's looks and its arm: what an idle one makes, and a few more.
constexpr uint64_t kCallsMax = 16;
constexpr uint64_t kTickOneIn = 4;
constexpr uint32_t kTurnsMax = 100'000;

class Arms {
 public:
  Arms(fake_verbs::Fabric& fabric, uint64_t seed) : fabric_(fabric), ranks_(fabric), random_(seed) {
    fabric_.set_before_calls([this] { before_call(); });
  }
  ~Arms() { fabric_.set_before_calls({}); }
  Arms(const Arms&) = delete;
  Arms& operator=(const Arms&) = delete;

  void run(uint64_t cycles) {
    const int64_t since_ns = steady_ns();
    while (found_ + woken_ < cycles) {
      ++messages_;
      calls_before_ = 1 + random_.below(kCallsMax);
      receive();
      settle();
    }
    std::printf(
        "{\"cycles\": %lu, \"found\": %lu, \"woken\": %lu, \"asleep\": %lu, \"seconds\": %.3f}\n",
        found_ + woken_, found_, woken_, asleep_,
        1e-9 * static_cast<double>(steady_ns() - since_ns));
  }

 private:
  /// The other rank and the network, between two of the receiver's calls.
  void before_call() {
    if (calls_before_ != 0 && --calls_before_ == 0) send();
    if (random_.below(kTickOneIn) == 0) fabric_.step();
  }
  void send() {
    calls_before_ = 0;
    if (!post_message(ranks_.sender(), SenderReceiver::kReceiver)) {
      fatal("no room for message %lu, with nothing under way", messages_);
    }
  }
  /// The receiver, until it has the message.
  void receive() {
    Driver& receiver = ranks_.receiver();
    for (uint32_t turns = 0; turn(receiver) == 0; ++turns) {
      if (turns == kTurnsMax) fatal("message %lu did not arrive", messages_);
      if (!receiver.drained(0)) continue;
      if (receiver.arm(0) != Armed::kArmed) {
        if (turn(receiver) == 0) continue;
        ++found_;
        return;
      }
      ++woken_;
      sleep();
    }
  }
  /// The receiver makes no call; asleep, it would see the fd alone.
  void sleep() {
    if (calls_before_ != 0) {
      if (is_woken()) fatal("woken before message %lu was sent", messages_);
      ++asleep_;
      send();
    }
    if (!fabric_.run()) fatal("the network does not come to rest at message %lu", messages_);
    if (!is_woken()) fatal("no event came for message %lu", messages_);
  }
  bool is_woken() {
    pollfd one{ranks_.receiver().event_fd(0), POLLIN, 0};
    return poll(&one, 1, 0) == 1;
  }
  /// Nothing is under way before the next.
  void settle() {
    for (uint32_t turns = 0; !ranks_.sender().drained(0) || !ranks_.receiver().drained(0);
         ++turns) {
      if (turns == kTurnsMax) fatal("message %lu is not acknowledged", messages_);
      turn(ranks_.sender());
      if (turn(ranks_.receiver()) != 0) fatal("message %lu came twice", messages_);
    }
    fabric_.run();
  }

  fake_verbs::Fabric& fabric_;
  SenderReceiver ranks_;
  Random random_;
  uint64_t calls_before_ = 0;  ///< until the message is sent; 0: it is
  uint64_t messages_ = 0;
  uint64_t found_ = 0;   ///< arms that found the message
  uint64_t woken_ = 0;   ///< arms that it made an event for
  uint64_t asleep_ = 0;  ///< of those: it was sent when the receiver had armed
};

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 0) : otherwise;
  };
  const uint64_t cycles = number(1, 0), seed = number(2, 1);
  if (cycles == 0) fatal("arms CYCLES [SEED]");
  fake_verbs::Fabric fabric(seed);
  Arms(fabric, seed).run(cycles);
  for (const std::string& violation : fabric.violations()) fatal("%s", violation.c_str());
}
