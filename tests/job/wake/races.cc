// Arms against messages that are just coming, over the drivers as a job has them: one of two ranks
// streams messages with small pauses, the other arms whenever it finds nothing, and each arm is a
// cycle: either it finds a message in the look after arming, or the event fd must become readable.
// Few of them sleep for that, a share drawn at random; the others look at the fd alone, and poll
// nothing meanwhile. The pauses are such that about half of the arms find a message. They change
// places every so often. cycles.cc sleeps in every cycle, which takes ten times as long.
// races CYCLES [SEED [SLEEP_ONE_IN]]
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/random.h"
#include "core/engine/client_usage.h"
#include "gasnet.h"
#include "tests/job/wake/lanes.h"

namespace {

using namespace pinwire;
using namespace pinwire_test;

enum : gasnet_handler_t { kMessage = 200, kReport };
constexpr uint32_t kBatchMessages = 256;
constexpr uint64_t kBatchesOfRole = 16;
constexpr int64_t kPatienceNs = 60'000'000'000;

/// What a receiver's arms came to.
struct Arms {
  uint64_t found = 0;   ///< a message was there already
  uint64_t woken = 0;   ///< the event fd became readable
  uint64_t asleep = 0;  ///< of those: this rank slept meanwhile
  uint64_t cycles() const { return found + woken; }
  void add(const Arms& more) {
    found += more.found;
    woken += more.woken;
    asleep += more.asleep;
  }
};

uint64_t received = 0, reports = 0;
Arms reported;
void on_message(gasnet_token_t) { ++received; }
void on_report(gasnet_token_t, gasnet_handlerarg_t found, gasnet_handlerarg_t woken,
               gasnet_handlerarg_t asleep) {
  reported = {static_cast<uint32_t>(found), static_cast<uint32_t>(woken),
              static_cast<uint32_t>(asleep)};
  ++reports;
}

/// Every so many turns of a loop that waits for the other rank: it may want this core.
class Patience {
 public:
  /// False: it is at its end.
  bool lasts() {
    constexpr uint32_t kTurnsBeforeYield = 200;
    if (++turns_ % kTurnsBeforeYield != 0) return true;
    sched_yield();
    return clock_ns(CLOCK_MONOTONIC) < until_ns_;
  }

 private:
  uint32_t turns_ = 0;
  const int64_t until_ns_ = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
};

class Receiver {
 public:
  Receiver(uint64_t seed, uint64_t sleep_one_in) : random_(seed), sleep_one_in_(sleep_one_in) {}

  Arms receive_batch() {
    arms_ = {};
    wanted_ += kBatchMessages;
    Patience patience;
    while (received < wanted_) {
      if (poll_everything() != 0) continue;
      if (!is_drained()) {
        if (!patience.lasts()) fail("the peer acknowledges nothing");
        continue;
      }
      if (!arm_all()) {
        if (poll_everything() != 0) ++arms_.found;
        continue;
      }
      ++arms_.woken;
      if (random_.below(sleep_one_in_) == 0) {
        sleep();
      } else {
        watch();
      }
    }
    return arms_;
  }

 private:
  void sleep() {
    ++arms_.asleep;
    if (poll(fds_.all, fds_.count, kPatienceNs / 1'000'000) == 0) lost();
  }
  void watch() {
    Patience patience;
    while (poll(fds_.all, fds_.count, 0) == 0) {
      if (!patience.lasts()) lost();
    }
  }
  [[noreturn]] void lost() {
    const uint64_t before = received;
    const uint32_t found = poll_everything();
    fail("no event came for message %llu: arm %llu of its batch, and %u there",
         static_cast<unsigned long long>(before), static_cast<unsigned long long>(arms_.cycles()),
         found);
  }

  Random random_;
  const uint64_t sleep_one_in_;
  const EventFds fds_;
  uint64_t wanted_ = 0;
  Arms arms_;
};

class Sender {
 public:
  explicit Sender(uint64_t seed) : random_(seed) {}

  Arms send_batch(gasnet_node_t peer) {
    for (uint32_t i = 0; i < kBatchMessages; ++i) {
      gasnet_AMRequestShort0(peer, kMessage);
      pause_a_while();
    }
    const uint64_t wanted = ++batches_;
    Patience patience;
    while (reports < wanted) {
      if (poll_everything() == 0 && !patience.lasts()) fail("no report of a batch");
    }
    constexpr double kLonger = 1.1, kShorter = 0.9, kNsMin = 50, kNsMax = 1e6;
    const double factor = reported.woken > reported.found ? kShorter : kLonger;
    pause_max_ns_ = std::clamp(pause_max_ns_ * factor, kNsMin, kNsMax);
    return reported;
  }

 private:
  /// What is on its way may need turns of this driver.
  void pause_a_while() {
    const int64_t until = clock_ns(CLOCK_MONOTONIC) +
                          static_cast<int64_t>(random_.below(static_cast<uint64_t>(pause_max_ns_)));
    do {
      poll_everything();
    } while (clock_ns(CLOCK_MONOTONIC) < until);
  }

  Random random_;
  double pause_max_ns_ = 1000;
  uint64_t batches_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  gasnet_handlerentry_t table[] = {{kMessage, reinterpret_cast<void (*)()>(on_message)},
                                   {kReport, reinterpret_cast<void (*)()>(on_report)}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 2;
  if (gasnet_attach(table, 2, GASNET_PAGESIZE, 0) != GASNET_OK) return 3;
  const auto number = [&](int at, uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 0) : otherwise;
  };
  const uint64_t wanted = number(1, 0), seed = number(2, 1), sleep_one_in = number(3, 256);
  if (gasnet_nodes() != 2 || wanted == 0 || sleep_one_in == 0) {
    fail("takes two ranks: races CYCLES [SEED [SLEEP_ONE_IN]]");
  }
  const gasnet_node_t me = gasnet_mynode(), peer = 1 - me;
  Receiver receiver(2 * seed + me, sleep_one_in);
  Sender sender(2 * seed + me);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  const int64_t since_ns = clock_ns(CLOCK_MONOTONIC);
  // Both count all arms, and so end after the same batch.
  Arms all;
  for (uint64_t batch = 0; all.cycles() < wanted; ++batch) {
    if (batch / kBatchesOfRole % 2 == me) {
      all.add(sender.send_batch(peer));
    } else {
      const Arms arms = receiver.receive_batch();
      gasnet_AMRequestShort3(peer, kReport, static_cast<gasnet_handlerarg_t>(arms.found),
                             static_cast<gasnet_handlerarg_t>(arms.woken),
                             static_cast<gasnet_handlerarg_t>(arms.asleep));
      all.add(arms);
    }
  }
  const double seconds = 1e-9 * static_cast<double>(clock_ns(CLOCK_MONOTONIC) - since_ns);
  if (me == 0) {
    std::printf(
        "{\"cycles\": %lu, \"found\": %lu, \"woken\": %lu, \"asleep\": %lu, \"seconds\": %.3f}\n",
        all.cycles(), all.found, all.woken, all.asleep, seconds);
    std::fflush(stdout);
  }
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
