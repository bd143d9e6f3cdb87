// Ports inside one process: net_ring hands frames straight over, net_null swallows and invents
// them. EAL runs in a child, once per test.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/threads/cpus.h"
#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/port/port.h"
#include "driver/dpdk/port/port_memory.h"
#include "driver/dpdk/port/vhost_notice.h"
#include "driver/dpdk/tsc_clock.h"
#include "tests/unit/driver/dpdk/local_port.h"

namespace pinwire {
namespace {

/// A ring port whose transmit queue feeds its own receive queue.
Result<std::unique_ptr<DpdkPort>> loop_port() { return open_dpdk_port(vdev("net_ring0", "")); }

TxFrame frame_of(const std::vector<std::byte>& head, const std::vector<std::byte>& body,
                 uint32_t key) {
  return {head.data(), static_cast<uint32_t>(head.size()), static_cast<uint32_t>(body.size()),
          body.data(), key};
}

TEST(PortLocal, LoopedFramesComeBackInOrderAndWhole) {
  with_eal([]() -> std::string {
    auto port = loop_port();
    if (!port) return port.sentence();
    const std::vector<std::byte> head(42, std::byte{7});
    for (uint32_t round = 0; round < 5000; ++round) {
      const std::vector<std::byte> body(round * 17 % 8900 + 1, static_cast<std::byte>(round));
      const TxFrame frame = frame_of(head, body, 0);
      if ((*port)->tx(0, {&frame, 1}) != 1) return "not taken";
      RxFrame got[4];
      if ((*port)->rx(0, got) != 1) return "not returned";
      if (got[0].bytes != head.size() + body.size()) return "wrong length";
      if (reinterpret_cast<uintptr_t>(got[0].data) % 16 != 0) return "misaligned";
      if (std::memcmp(got[0].data + 42, body.data(), body.size()) != 0) return "wrong body";
      (*port)->release(0, {got, 1});
    }
    const DpdkPortCounters counters = (*port)->counters();
    return counters.tx_frames == 5000 && counters.rx_frames == 5000 ? "" : "wrong counters";
  });
}

TEST(PortLocal, AFullDeviceIsBackPressureAndLosesNothing) {
  with_eal([]() -> std::string {
    auto port = loop_port();
    if (!port) return port.sentence();
    std::vector<std::byte> head(64);
    uint32_t sent = 0, seen = 0;
    RxFrame got[32];
    for (int round = 0; round < 50; ++round) {
      for (bool taken = true; taken;) {  // until it is full
        std::memcpy(head.data() + 20, &sent, 4);
        const TxFrame frame{head.data(), 64, 0, nullptr, 0};
        taken = (*port)->tx(0, {&frame, 1}) == 1;
        sent += taken;
        if (sent > 1'000'000) return "never full";
      }
      for (uint32_t count = 1; count != 0;) {
        count = (*port)->rx(0, got);
        for (uint32_t i = 0; i < count; ++i) {
          uint32_t number = 0;
          std::memcpy(&number, got[i].data + 20, 4);
          if (number != seen++) return "out of order";
        }
        (*port)->release(0, {got, count});
      }
    }
    if (seen != sent) return std::to_string(sent - seen) + " frames lost";
    return (*port)->counters().tx_refused_calls >= 50 ? "" : "back-pressure not counted";
  });
}

TEST(PortLocal, HoldingAllReceiveBuffersStopsButDoesNotBreak) {
  with_eal([]() -> std::string {
    auto port = loop_port();
    if (!port) return port.sentence();
    const uint32_t hold = (*port)->facts().rx_buffers;
    const std::vector<std::byte> head(64);
    const TxFrame frame{head.data(), 64, 0, nullptr, 0};
    for (int round = 0; round < 3; ++round) {
      std::vector<RxFrame> held(hold);
      for (uint32_t i = 0; i < hold; ++i) {
        if ((*port)->tx(0, {&frame, 1}) != 1)
          return "not taken while " + std::to_string(i) + " are held";
        if ((*port)->rx(0, {&held[i], 1}) != 1)
          return "not returned while " + std::to_string(i) + " are held";
      }
      (*port)->release(0, held);
    }
    return "";
  });
}

TEST(PortLocal, NullPortTakesAllAndAPollingOnlyDeviceSaysSo) {
  with_eal([]() -> std::string {
    auto port = open_dpdk_port(vdev("net_null0", "size=64,copy=0"));
    if (!port) return port.sentence();
    const PortFacts facts = (*port)->facts();
    if (facts.event_fd || (*port)->event_fd(0) != -1) return "claims interrupts";
    if ((*port)->arm(0) != PortArmed::kBusy) return "armed without interrupts";
    if (facts.zero_copy_tx || *(*port)->attach(&port, sizeof port) != 0) return "claims zero copy";
    if (facts.ip_checksum_offload || facts.udp_checksum_offload) return "claims checksums";
    const std::vector<std::byte> head(64);
    const std::vector<TxFrame> frames(100, TxFrame{head.data(), 64, 0, nullptr, 0});
    if ((*port)->tx(0, frames) != 100) return "more than a burst is not taken";
    RxFrame got[50];
    if ((*port)->rx(0, got) != 50) return "more than a burst is not given";
    (*port)->release(0, got);
    return "";
  });
}

TEST(PortLocal, SeveralQueuesAreIndependent) {
  with_eal([]() -> std::string {
    DpdkPortOptions options = vdev("net_ring0", "");
    options.queues = 4;
    auto port = open_dpdk_port(options);
    if (!port) return port.sentence();
    const uint32_t queues = (*port)->facts().queues;
    if (queues != 4) return "not 4 queues";
    for (uint32_t q = 0; q < queues; ++q) {
      std::vector<std::byte> head(64, static_cast<std::byte>(q));
      const TxFrame frame{head.data(), 64, 0, nullptr, 0};
      if ((*port)->tx(q, {&frame, 1}) != 1) return "queue does not send";
    }
    for (uint32_t q = 0; q < queues; ++q) {
      RxFrame got[2];
      if ((*port)->rx(q, got) != 1) return "queue does not receive";
      if (got[0].data[20] != static_cast<std::byte>(q)) return "a frame of another queue";
      (*port)->release(q, {got, 1});
    }
    return "";
  });
}

TEST(PortLocal, NoSuchDeviceIsASentence) {
  with_eal([]() -> std::string {
    auto made = open_dpdk_port(vdev("net_nonsense0", "a=b"));
    if (made) return "opened a device that does not exist";
    if (made.sentence().find("net_nonsense0") == std::string::npos) return made.sentence();
    DpdkPortOptions options;
    options.device = "0000:99:00.0";
    auto named = open_dpdk_port(options);
    if (named) return "found a device that does not exist";
    return named.sentence().find("0000:99:00.0") != std::string::npos ? "" : named.sentence();
  });
}

TEST(Eal, LeavesAffinitySignalsAndFilesAlone) {
  const ScratchDirectory scratch;
  const auto said = run_processes(1, 30, [&](uint32_t, Meeting&) -> std::string {
    cpu_set_t before, after;
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    sigset_t mask_before, mask_after;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
    if (Status started = eal_start(small_eal(scratch.path())); !started) return started.sentence();
    auto port = loop_port();
    if (!port) return port.sentence();
    pthread_getaffinity_np(pthread_self(), sizeof after, &after);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
    if (!CPU_EQUAL(&before, &after)) return "moved the caller";
    if (sigismember(&mask_before, SIGUSR1) != sigismember(&mask_after, SIGUSR1))
      return "changed the signal mask";
    // Every thread but ours must have all signals blocked: a client's handler may not run on EAL's
    // threads.
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      if (task.path().filename() == std::to_string(getpid())) continue;
      FILE* status = fopen((task.path() / "status").c_str(), "re");
      char line[256];
      unsigned long long blocked = 0;
      while (status != nullptr && fgets(line, sizeof line, status) != nullptr)
        sscanf(line, "SigBlk: %llx", &blocked);
      if (status != nullptr) fclose(status);
      if ((blocked & (1ull << (SIGUSR1 - 1))) == 0)
        return "a thread of DPDK's takes the client's signals";
    }
    port->reset();
    eal_stop();
    const Status again = eal_start(small_eal(scratch.path()));
    if (again || again.sentence().find("twice") == std::string::npos)
      return "no sentence about a second start";
    return "";
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

/// Where each thread of this process but the first may run.
std::vector<std::string> masks_of_others() {
  std::vector<std::string> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(getpid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Cpus_allowed_list:")) masks.push_back(line.substr(19));
  }
  return masks;
}

/// A caller that is bound keeps to its CPU and DPDK's threads off it, if there are others for them.
TEST(Eal, ItsThreadsKeepOffTheCallersCpu) {
  if (usable_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  const uint32_t mine = usable_cpus()[1], theirs = usable_cpus()[0];
  for (const bool has_others : {true, false}) {
    const ScratchDirectory scratch;
    const auto said = run_processes(1, 30, [&](uint32_t, Meeting&) -> std::string {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(mine, &one);
      sched_setaffinity(0, sizeof one, &one);
      EalOptions options = small_eal(scratch.path());
      if (has_others) options.private_cpus = {theirs};
      if (Status started = eal_start(options); !started) return started.sentence();
      auto port = open_dpdk_port(
          vdev("net_vhost0", ("iface=" + scratch.path() + "/v.sock,queues=1").c_str()));
      if (!port) return port.sentence();
      if (usable_cpus() != std::vector{mine}) return "moved the caller";
      const auto masks = masks_of_others();
      if (masks.size() < 2) return "vhost's thread and EAL's are not there";
      for (const std::string& mask : masks)
        if (mask != std::to_string(has_others ? theirs : mine)) return "a thread runs on " + mask;
      port->reset();
      eal_stop();
      return usable_cpus() == std::vector{mine} ? "" : "moved the caller at the end";
    });
    EXPECT_EQ(said[0], "");
  }
}

/// The answer to a peer that asks for a vhost port's features: "" for an answer.
std::string ask_for_features(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return "no listener";
  const uint32_t question[3] = {1, 1, 0};  // VHOST_USER_GET_FEATURES, version 1, nothing follows
  uint32_t answer[3] = {};
  if (write(fd, question, sizeof question) != sizeof question) return "not asked";
  const bool complete = recv(fd, answer, sizeof answer, MSG_WAITALL) == sizeof answer;
  close(fd);
  return complete && answer[0] == 1 && answer[2] == 8 ? "" : "no answer";
}

TEST(VhostNotice, IsGivenByThePortWhichThenAnswersAndLeavesItsSocketAlone) {
  const ScratchDirectory scratch;
  with_eal([&]() -> std::string {
    const std::string socket = scratch.path() + "/v.sock";
    auto port = open_dpdk_port(vdev("net_vhost0", ("iface=" + socket + ",queues=1").c_str()));
    if (!port) return port.sentence();
    if (scratch.entries() != std::vector<std::string>{"v.sock"}) return "more than the socket";
    return ask_for_features(socket);
  });
}

TEST(VhostNotice, OfNoSocketIsNothing) {
  const ScratchDirectory scratch;
  with_eal([&]() -> std::string {
    notice_vhost_socket(scratch.path() + "/no/such/v.sock");
    notice_vhost_socket(scratch.path() + "/" + std::string(200, 'v'));
    if (!scratch.entries().empty()) return "made something";
    std::ofstream(scratch.path() + "/v.sock+") << "another's";
    notice_vhost_socket(scratch.path() + "/v.sock");
    return scratch.entries() == std::vector<std::string>{"v.sock+"} ? "" : "took another's file";
  });
}

TEST(PortMemory, IsFromAnotherNodeWhereTheDevicesHasNone) {
  with_eal([]() -> std::string {
    int node = 7;  // no such
    rte_mempool* pool = make_pool("test", 2048, 0, 256, node);
    if (pool == nullptr) return "no memory at all";
    rte_mempool_free(pool);
    return node == SOCKET_ID_ANY ? "" : "claims to be on a node that does not exist";
  });
}

TEST(TscClock, RunsForwardAtTheRateItWasTold) {
  TscClock slow(1'000'000'000), fast(2'000'000'000);
  const uint64_t slow_start = slow.now_ns(), fast_start = fast.now_ns();
  uint64_t slow_now = slow_start;
  while (slow_now - slow_start < 10'000'000) {
    const uint64_t next = slow.now_ns();
    ASSERT_GE(next, slow_now);
    slow_now = next;
  }
  const uint64_t fast_passed = fast.now_ns() - fast_start;
  EXPECT_GE(fast_passed, 4'900'000u) << "half as many nanoseconds at twice the rate";
}

}  // namespace
}  // namespace pinwire
