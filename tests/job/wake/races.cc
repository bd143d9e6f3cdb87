// Arms against messages that are just coming, over the drivers as a job has them: one of two ranks
// sends messages with small pauses, each once the one before is known to have arrived, as a later
// one would hide that nothing woke for an earlier. The other arms whenever it finds nothing, and
// each arm is a cycle: either it finds a message in the look after arming, or the event fd must
// become readable. Few of them sleep for that, a share drawn at random; the others look at the fd
// alone, and poll nothing meanwhile. The pauses are such that about half of the arms find a
// message. They change places every so often. cycles.cc sleeps in every cycle, which takes ten
// times as long.
// races CYCLES [SEED [SLEEP_ONE_IN]]
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "am/poll/poll.h"
#include "core/base/random.h"
#include "core/engine/client_usage.h"
#include "gasnet.h"
#include "tests/job/wake/lanes.h"
#include "tests/job/wake/pauses.h"

namespace {

using namespace pinwire;
using namespace pinwire_test;

enum : gasnet_handler_t { kMessage = 200, kReport };
constexpr uint32_t kBatchMessages = 256;
constexpr uint64_t kBatchesOfRole = 16;
constexpr int kPatienceMs = 60'000;

/// The results of a receiver's arms.
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

/// The sender's knowledge of its messages' arrival. Where a put needs nothing of the peer's CPU,
/// the receiver puts how many it has handled into a word of the sender's segment; elsewhere a put
/// would keep it from arming, and the driver's acknowledgement says as much.
class Arrivals {
 public:
  explicit Arrivals(gasnet_node_t peer) : peer_(peer) {
    std::vector<gasnet_seginfo_t> segments(gasnet_nodes());
    gasnet_getSegmentInfo(segments.data(), static_cast<int>(segments.size()));
    own_ = static_cast<uint64_t*>(segments[gasnet_mynode()].addr);
    peers_ = static_cast<uint64_t*>(segments[peer].addr);
    const DriverSlot& slot = engine.drivers[engine.routes[peer].driver_index];
    is_put_ = pinwire_reach[peer].size != 0 || slot.caps.hw_rdma;
  }
  /// Reports messages that any poll has found.
  void tell() {
    if (is_put_ && told_ != received) gasnet_put(peer_, peers_, &(told_ = received), sizeof told_);
  }
  bool has_all(uint64_t sent) const {
    return is_put_ ? __atomic_load_n(own_, __ATOMIC_RELAXED) == sent : is_drained();
  }

 private:
  const gasnet_node_t peer_;
  uint64_t *own_, *peers_;
  uint64_t told_ = 0;
  bool is_put_;
};

class Receiver {
 public:
  Receiver(uint64_t seed, uint64_t sleep_one_in, Arrivals& arrivals)
      : random_(seed), late_arms_(seed), sleep_one_in_(sleep_one_in), arrivals_(arrivals) {}

  Arms receive_batch() {
    arms_ = {};
    wanted_ += kBatchMessages;
    Deadline deadline;
    while (received < wanted_) {
      arrivals_.tell();
      if (poll_everything() != 0) continue;
      if (!is_drained()) {
        if (!deadline.lasts()) fail("the peer acknowledges nothing");
        continue;
      }
      late_arms_.maybe_wait();
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
    arrivals_.tell();
    return arms_;
  }

 private:
  void sleep() {
    ++arms_.asleep;
    if (poll(fds_.all, fds_.count, kPatienceMs) == 0) lost();
  }
  void watch() {
    Deadline deadline;
    while (poll(fds_.all, fds_.count, 0) == 0) {
      if (!deadline.lasts()) lost();
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
  LateArms late_arms_;
  const uint64_t sleep_one_in_;
  Arrivals& arrivals_;
  const EventFds fds_;
  uint64_t wanted_ = 0;
  Arms arms_;
};

class Sender {
 public:
  Sender(uint64_t seed, const Arrivals& arrivals) : pauses_(seed), arrivals_(arrivals) {}

  Arms send_batch(gasnet_node_t peer) {
    for (uint32_t i = 0; i < kBatchMessages; ++i) {
      gasnet_AMRequestShort0(peer, kMessage);
      await_arrival();
      pauses_.pause(poll_everything);
    }
    const uint64_t wanted = ++batches_;
    Deadline deadline;
    while (reports < wanted) {
      if (poll_everything() == 0 && !deadline.lasts()) fail("no report of a batch");
    }
    pauses_.adapt(reported.found, reported.woken);
    return reported;
  }

 private:
  /// A message on its way may need turns of this driver.
  void await_arrival() {
    ++sent_;
    for (Deadline deadline; !arrivals_.has_all(sent_);) {
      if (poll_everything() == 0 && !deadline.lasts()) fail("message %lu did not arrive", sent_);
    }
  }

  Pauses pauses_;
  const Arrivals& arrivals_;
  uint64_t sent_ = 0;
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
  Arrivals arrivals(peer);
  Receiver receiver(2 * seed + me, sleep_one_in, arrivals);
  Sender sender(2 * seed + me, arrivals);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  const int64_t since_ns = steady_ns();
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
  const double seconds = 1e-9 * static_cast<double>(steady_ns() - since_ns);
  if (me == 0) {
    std::printf(
        "{\"cycles\": %lu, \"found\": %lu, \"woken\": %lu, \"asleep\": %lu, \"seconds\": %.3f}\n",
        all.cycles(), all.found, all.woken, all.asleep, seconds);
    std::fflush(stdout);
  }
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
