// Interrupts: a sleeper wakes for a frame, whenever it comes, and for nothing else.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "driver/dpdk/bring_up.h"
#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {
namespace {

constexpr uint32_t kWakeFrames = 300;
constexpr int kPatienceMs = 10'000;
constexpr uint32_t kBytes = 100;
constexpr uint16_t kWakeEtherType = 0xb588;

/// Sends one frame that carries a number.
bool send_number(DpdkPort& port, uint32_t number) {
  std::byte frame[kBytes] = {};
  std::memset(frame, 0xff, 6);
  frame[6] = std::byte{2};
  std::memcpy(frame + 12, &kWakeEtherType, 2);
  std::memcpy(frame + 16, &number, 4);
  const TxFrame sent{frame, kBytes, 0, nullptr, 0};
  for (int tries = 0; tries < 1'000'000; ++tries) {
    if (port.tx(0, {&sent, 1}) == 1) return true;
  }
  return false;
}

/// The number of the frame that is there, or 0.
uint32_t receive_number(DpdkPort& port) {
  RxFrame frame;
  if (port.rx(0, {&frame, 1}) == 0) return 0;
  uint32_t number = 0;
  std::memcpy(&number, frame.data + 16, 4);
  port.release(0, {&frame, 1});
  return number;
}

struct Sleeper {
  DpdkPort& port;
  uint32_t sleeps = 0;
  uint32_t timeouts = 0;

  /// Level-triggered, as a careless caller would do it: the port must not storm.
  bool sleep(int timeout_ms) {
    pollfd waiting{port.event_fd(0), POLLIN, 0};
    ++sleeps;
    const bool woken = poll(&waiting, 1, timeout_ms) == 1;
    timeouts += !woken;
    return woken;
  }
  /// Waits for the frame with this number, asleep whenever nothing is there.
  std::string await(uint32_t number) {
    for (uint32_t empty = 0; empty < 100;) {
      const uint32_t got = receive_number(port);
      if (got == number) return "";
      if (got != 0) return "frame " + std::to_string(got) + " instead of " + std::to_string(number);
      if (port.arm(0) == PortArmed::kArmed && !sleep(kPatienceMs))
        return "slept through frame " + std::to_string(number);
      ++empty;
    }
    return "woken a hundred times for nothing";
  }
};

std::string ping(DpdkPort& port) {
  Sleeper sleeper{port};
  for (uint32_t i = 1; i <= kWakeFrames; ++i) {
    if (i % 3 == 0)
      usleep(i % 5 * 200);  // sometimes the peer sleeps already, sometimes it is about to
    if (!send_number(port, i)) return "could not send";
    if (std::string wrong = sleeper.await(i); !wrong.empty()) return wrong;
  }
  return sleeper.sleeps == 0 ? "never slept" : "";
}

std::string pong(DpdkPort& port) {
  Sleeper sleeper{port};
  for (uint32_t i = 1; i <= kWakeFrames; ++i) {
    if (std::string wrong = sleeper.await(i); !wrong.empty()) return wrong;
    if (!send_number(port, i)) return "could not send";
  }
  return sleeper.sleeps == 0 ? "never slept" : "";
}

/// Armed and left alone, the fd stays silent.
std::string silence(DpdkPort& port) {
  Sleeper sleeper{port};
  int quiet = 0;
  for (int i = 0; i < 10 && quiet < 3; ++i) {  // the first wake-up after arming may be spurious
    while (port.arm(0) == PortArmed::kBusy) receive_number(port);
    quiet += !sleeper.sleep(20);
  }
  return quiet == 3 ? "" : "wakes with nothing to receive";
}

/// A frame that arrived before arm() is never slept through.
std::string nothing_lost_before_arm(DpdkPort& port, uint32_t rank, Meeting& meeting) {
  for (uint32_t i = 1; i <= 20; ++i) {
    if (rank == 0) {
      if (!send_number(port, i)) return "could not send";
      if (!meeting.barrier(2)) return "alone";
    } else {
      if (!meeting.barrier(2)) return "alone";
      Sleeper sleeper{port};  // the frame is here, or on its way
      if (port.arm(0) == PortArmed::kArmed && !sleeper.sleep(kPatienceMs))
        return "slept through a frame that had arrived";
      if (std::string wrong = sleeper.await(i); !wrong.empty()) return wrong;
    }
    if (!meeting.barrier(2)) return "alone";
  }
  return "";
}

/// Arms until no wake-up of before is left: some devices make one whenever interrupts are enabled.
void arm_calmly(DpdkPort& port, Sleeper& sleeper) {
  for (int tries = 0; tries < 10; ++tries) {
    while (port.arm(0) == PortArmed::kBusy) receive_number(port);
    if (!sleeper.sleep(20)) return;
  }
}

/// Disarmed, a frame that comes does not wake, and is there; armed again, the next one wakes.
std::string quiet_when_disarmed(DpdkPort& port, uint32_t rank, Meeting& meeting) {
  constexpr int kQuietMs = 50;
  Sleeper sleeper{port};
  for (uint32_t i = 1; i <= 20; ++i) {
    if (rank == 1) {
      arm_calmly(port, sleeper);
      if (!port.disarm(0) || port.disarm(0)) return "disarms what is not armed";
    }
    if (!meeting.barrier(2)) return "alone";
    if (rank == 0 && !send_number(port, i)) return "could not send";
    if (rank == 1 && sleeper.sleep(i == 1 ? kQuietMs : 1)) return "woken though disarmed";
    if (rank == 1) {
      if (std::string wrong = sleeper.await(i); !wrong.empty()) return wrong;
    }
    if (!meeting.barrier(2)) return "alone";
  }
  return "";
}

std::string one_rank(DpdkOptions options, uint32_t rank, const std::string& directory,
                     Meeting& meeting) {
  options.rank = options.host_rank = rank;
  options.rank_count = options.host_rank_count = 2;
  options.job_directory = directory;
  auto device = bring_up_dpdk(options);
  if (!device) return device.sentence();
  DpdkPort& port = (*device)->port();
  if (!port.facts().event_fd || port.event_fd(0) < 0) return "no interrupts";
  if (!meeting.barrier(2)) return "alone";
  std::string wrong = rank == 0 ? ping(port) : pong(port);
  if (wrong.empty() && !meeting.barrier(2)) wrong = "alone";
  if (wrong.empty()) wrong = silence(port);
  if (wrong.empty() && !meeting.barrier(2)) wrong = "alone";
  if (wrong.empty()) wrong = nothing_lost_before_arm(port, rank, meeting);
  if (wrong.empty() && !meeting.barrier(2)) wrong = "alone";
  if (wrong.empty()) wrong = quiet_when_disarmed(port, rank, meeting);
  if (wrong.empty() && !meeting.barrier(2)) wrong = "alone";
  return wrong;
}

TEST(PortWake, SleepersAtBothEndsOfVhostAndVirtioUser) {
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 60, [&](uint32_t rank, Meeting& meeting) {
    return one_rank({.fabric = "pair"}, rank, scratch.path(), meeting);
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
}

TEST(PortWake, SleepersOnTwoNics) {
  const std::vector<std::string> nics = test_nics();
  if (nics.size() < 2) GTEST_SKIP() << "no NICs here: guest/ports gives it emulated ones";
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 240, [&](uint32_t rank, Meeting& meeting) {
    return one_rank({.fabric = "pci", .pci = nics, .pci_index = rank}, rank, scratch.path(),
                    meeting);
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
}

}  // namespace
}  // namespace pinwire
