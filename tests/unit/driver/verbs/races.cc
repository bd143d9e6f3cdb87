// As tests/job/wake/races.cc, but over the fake network, where a thread is each of the two ranks: a
// lock around every call of verbs, so that messages come between any two of the driver's, and a
// completion channel that wakes for just what the specification has it wake for. An emulated RDMA
// device takes a hundred times as long.
// races CYCLES [SEED [SLEEP_ONE_IN]]
#include <poll.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/base/log.h"
#include "tests/job/wake/pauses.h"
#include "tests/support/verbs/sender_receiver.h"

namespace {

using namespace pinwire;
using namespace pinwire_test;

constexpr int kPatienceMs = 60'000;

/// Counts that either thread tells the other. Nothing but the counts is ordered by it.
struct Shared {
  std::atomic<uint64_t> received{0}, found{0}, woken{0}, asleep{0};
  std::atomic<bool> is_over{false};
  uint64_t cycles() const { return found.load() + woken.load(); }
};

class Receiver {
 public:
  Receiver(Driver& driver, uint64_t seed, uint64_t sleep_one_in, Shared& shared)
      : driver_(driver),
        random_(seed),
        late_arms_(seed),
        sleep_one_in_(sleep_one_in),
        shared_(shared) {}

  void run() {
    while (!shared_.is_over) {
      if (take() || !driver_.drained(0)) continue;
      late_arms_.maybe_wait();
      if (driver_.arm(0) != Armed::kArmed) {
        if (take()) ++shared_.found;
        continue;
      }
      ++shared_.woken;
      const bool sleeps = random_.below(sleep_one_in_) == 0;
      if (sleeps) ++shared_.asleep;
      if (!is_woken(sleeps)) fatal("no event came for message %lu", shared_.received.load());
    }
  }

 private:
  bool take() {
    const uint32_t count = turn(driver_);
    shared_.received += count;
    return count != 0;
  }
  bool is_woken(bool sleeps) {
    pollfd one{driver_.event_fd(0), POLLIN, 0};
    if (sleeps) return poll(&one, 1, kPatienceMs) == 1;
    for (Deadline deadline; poll(&one, 1, 0) == 0;) {
      if (!deadline.lasts()) return false;
    }
    return true;
  }

  Driver& driver_;
  Random random_;
  LateArms late_arms_;
  const uint64_t sleep_one_in_;
  Shared& shared_;
};

class Sender {
 public:
  Sender(Driver& driver, uint64_t seed, Shared& shared)
      : driver_(driver), pauses_(seed), shared_(shared) {}

  void run(uint64_t cycles) {
    constexpr uint64_t kMessagesBetweenLooks = 256;
    uint64_t found = 0, woken = 0;
    while (shared_.cycles() < cycles) {
      for (uint64_t i = 0; i < kMessagesBetweenLooks; ++i) send();
      pauses_.adapt(shared_.found - found, shared_.woken - woken);
      found = shared_.found;
      woken = shared_.woken;
    }
    shared_.is_over = true;
    send();  // it may sleep
  }

 private:
  void send() {
    Deadline deadline;
    while (!post_message(driver_, 1)) turn(driver_);
    ++sent_;
    while (shared_.received != sent_ && !shared_.is_over) {
      turn(driver_);
      if (!deadline.lasts()) fatal("message %lu did not arrive", sent_);
    }
    pauses_.pause([&] { turn(driver_); });
  }

  Driver& driver_;
  Pauses pauses_;
  Shared& shared_;
  uint64_t sent_ = 0;
};

void run(fake_verbs::Fabric& fabric, uint64_t cycles, uint64_t seed, uint64_t sleep_one_in) {
  SenderReceiver ranks(fabric);
  Shared shared;
  const int64_t since_ns = steady_ns();
  std::thread sender([&] { Sender(ranks.sender(), seed, shared).run(cycles); });
  Receiver(ranks.receiver(), seed + 1, sleep_one_in, shared).run();
  sender.join();
  std::printf(
      "{\"cycles\": %lu, \"found\": %lu, \"woken\": %lu, \"asleep\": %lu, \"seconds\": %.3f}\n",
      shared.cycles(), shared.found.load(), shared.woken.load(), shared.asleep.load(),
      1e-9 * static_cast<double>(steady_ns() - since_ns));
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 0) : otherwise;
  };
  const uint64_t cycles = number(1, 0), seed = number(2, 1), sleep_one_in = number(3, 256);
  if (cycles == 0 || sleep_one_in == 0) fatal("races CYCLES [SEED [SLEEP_ONE_IN]]");
  fake_verbs::Fabric fabric(seed);
  run(fabric, cycles, seed, sleep_one_in);
  for (const std::string& violation : fabric.violations()) fatal("%s", violation.c_str());
}
