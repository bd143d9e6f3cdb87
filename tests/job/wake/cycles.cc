// Arm, sleep, wake, over the drivers as a job has them: one of two ranks sends messages now and
// then, the other sleeps over the event fds, with no other way to wake, and answers; they change
// places every so often. The pauses are such that the sleeper is about to arm, or just has, when a
// message comes. A lost wake-up leaves it asleep, and the job ends with a sentence. Any driver that
// has event fds.
// cycles SLEEPS [SEED]
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "am/poll/poll.h"
#include "core/base/random.h"
#include "core/engine/client_usage.h"
#include "gasnet.h"
#include "tests/job/wake/lanes.h"

namespace {

using namespace pinwire;
using namespace pinwire_test;

constexpr gasnet_handler_t kMessage = 200;
constexpr int kPatienceMs = 60'000;

uint64_t received = 0;
/// The sender's sleeps before its message; of a ping also whether it is the last.
uint64_t peer_sleeps = 0;
uint64_t last_turn = ~uint64_t{0};
void on_message(gasnet_token_t, gasnet_handlerarg_t sleeps, gasnet_handlerarg_t last) {
  ++received;
  peer_sleeps += static_cast<uint32_t>(sleeps);
  if (last != 0) last_turn = received;
}

class Sleeper {
 public:
  explicit Sleeper(uint64_t sleeps_wanted) : report_every_(sleeps_wanted / 20) {}
  uint64_t sleeps() const { return sleeps_; }
  uint64_t busy() const { return busy_; }

  /// Until this many messages have come in all, asleep whenever nothing is there and the peer has
  /// acknowledged what was sent to it: before that, arm() says kTimed at best.
  void await(uint64_t wanted) {
    while (received < wanted) {
      if (poll_everything() != 0 || !is_drained()) continue;
      if (arm_all()) {
        sleep(wanted);
      } else {
        ++busy_;
      }
    }
  }

 private:
  void sleep(uint64_t wanted) {
    ++sleeps_;
    if (poll(fds_.all, fds_.count, kPatienceMs) == 0) {
      const uint32_t found = poll_everything();
      fail("slept through message %llu: sleep %llu, and %u there", to_print(wanted),
           to_print(sleeps_), found);
    }
    if (report_every_ > 1'000'000 && sleeps_ % report_every_ == 0) {
      std::fprintf(stderr, "rank %u: %llu sleeps\n", gasnet_mynode(), to_print(sleeps_));
    }
  }
  static unsigned long long to_print(uint64_t number) { return number; }

  const EventFds fds_;
  uint64_t sleeps_ = 0, busy_ = 0;
  uint64_t report_every_;
};

/// The work of the rank that is awake.
class Awake {
 public:
  explicit Awake(uint64_t seed) : random_(seed) {}

  /// The sleeper finds time to arm about every other time.
  void pause_a_while(bool has_slept) {
    constexpr double kLonger = 1.2, kShorter = 0.85, kNsMin = 100, kNsMax = 1e6;
    pause_max_ns_ = std::clamp(pause_max_ns_ * (has_slept ? kShorter : kLonger), kNsMin, kNsMax);
    const int64_t until = clock_ns(CLOCK_MONOTONIC) +
                          static_cast<int64_t>(random_.below(static_cast<uint64_t>(pause_max_ns_)));
    while (clock_ns(CLOCK_MONOTONIC) < until) poll_everything();
  }
  void await(uint64_t wanted) {
    uint32_t empty_polls = 0;
    while (received < wanted) {
      constexpr uint32_t kPollsBeforeYield = 1000;
      if (poll_everything() == 0 && ++empty_polls % kPollsBeforeYield == 0) sched_yield();
    }
  }

 private:
  Random random_;
  double pause_max_ns_ = 1000;
};

}  // namespace

int main(int argc, char** argv) {
  gasnet_handlerentry_t table[] = {{kMessage, reinterpret_cast<void (*)()>(on_message)}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 2;
  if (gasnet_attach(table, 1, GASNET_PAGESIZE, 0) != GASNET_OK) return 3;
  if (gasnet_nodes() != 2 || argc < 2) fail("takes two ranks, and how often to sleep");
  constexpr uint64_t kTurnsOfRole = 100;
  const uint64_t wanted = std::strtoull(argv[1], nullptr, 0);
  const gasnet_node_t me = gasnet_mynode(), peer = 1 - me;
  Awake awake((argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1) + me);
  Sleeper sleeper(wanted);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  uint64_t turn = 1;
  for (; turn <= last_turn; ++turn) {
    const uint64_t sleeps_before = sleeper.sleeps(), peers_before = peer_sleeps;
    if (turn / kTurnsOfRole % 2 == me) {
      if (sleeper.sleeps() + peer_sleeps >= wanted) last_turn = turn;
      gasnet_AMRequestShort2(peer, kMessage, 0, turn == last_turn);
      awake.await(turn - 1);  // one message ahead: it comes when it comes
      awake.pause_a_while(peer_sleeps != peers_before);
    } else {
      sleeper.await(turn);
      const auto sleeps = static_cast<gasnet_handlerarg_t>(sleeper.sleeps() - sleeps_before);
      gasnet_AMRequestShort2(peer, kMessage, sleeps, 0);
    }
  }
  awake.await(turn - 1);
  std::printf("rank %u: woken from each of %lu sleeps, %lu times too busy for one, %lu messages\n",
              me, sleeper.sleeps(), sleeper.busy(), received);
  std::fflush(stdout);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
