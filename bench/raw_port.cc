// The floor under the dpdk driver: what the device itself does between two processes, as testpmd's
// txonly -> rxonly and a ping-pong would show it, once on the bare ethdev and once through
// DpdkPort.
//
//   raw_port [--fabric pair|memif|af_packet] [--seconds 0.5] [--sizes 64,1514,9014] [--json FILE]
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/bits.h"
#include "driver/dpdk/bring_up.h"
#include "driver/dpdk/tsc_clock.h"

namespace pinwire {
namespace {

constexpr uint32_t kBurst = 32;
constexpr uint32_t kHeadBytes = 64;
constexpr uint32_t kRunsMax = 64;
constexpr uint64_t kGiveUpNs = 5'000'000'000;
constexpr uint16_t kEtherType = 0xb588;  // 0x88b5, local experimental, in wire order

struct Settings {
  std::string fabric = "pair";
  std::string interface;
  std::vector<uint32_t> sizes = {64, 1514, 9014};
  double seconds = 0.5;
  uint32_t round_trips = 20'000;
  bool pin = true;
  bool consume = false;
  uint32_t ring = 256;
  std::string huge = "auto";
  std::string json;
};

/// One line of the result. Filled by the rank that measures.
struct Figures {
  double mpps;
  double bytes_per_s;
  double lost;  ///< share of the frames sent
  double p50_us;
  double p99_us;
};

/// Shared by the two processes.
struct Shared {
  std::atomic<uint32_t> arrived;
  std::atomic<uint32_t> phase;
  std::atomic<uint64_t> sent;
  std::atomic<uint32_t> sender_ended;
  std::atomic<uint32_t> failed;
  Figures figures[kRunsMax];
  char description[512];

  void barrier() {
    const uint32_t mine = phase.load();
    if (arrived.fetch_add(1) + 1 == 2) {
      arrived.store(0);
      phase.store(mine + 1);
    }
    while (phase.load() == mine && failed.load() == 0) sched_yield();
  }
};

struct Head {
  uint8_t to[6];
  uint8_t from[6];
  uint16_t type;
  uint16_t kind;
  uint32_t number;
  std::byte filler[kHeadBytes - 20];
};
static_assert(sizeof(Head) == kHeadBytes);

Head head_of(uint32_t number) {
  Head head{};
  std::memset(head.to, 0xff, 6);
  head.from[0] = 2;
  head.type = kEtherType;
  head.number = number;
  return head;
}

/// The bare ethdev, used as testpmd uses it.
class RawEthdev {
 public:
  explicit RawEthdev(DpdkPort& port) : ethdev_(port.ethdev()) {
    pool_ =
        rte_pktmbuf_pool_create("raw_port", 4095, 256, 0,
                                static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + 9216), SOCKET_ID_ANY);
    if (pool_ == nullptr) throw std::runtime_error("no memory for the raw pool");
  }
  static constexpr const char* kName = "ethdev";
  uint32_t send(uint32_t number, uint32_t bytes, uint32_t count) {
    rte_mbuf* mbufs[kBurst];
    if (rte_pktmbuf_alloc_bulk(pool_, mbufs, count) != 0) return 0;
    for (uint32_t i = 0; i < count; ++i) {
      const Head head = head_of(number + i);
      std::memcpy(rte_pktmbuf_mtod(mbufs[i], void*), &head, sizeof head);
      mbufs[i]->data_len = static_cast<uint16_t>(bytes);
      mbufs[i]->pkt_len = bytes;
    }
    const uint16_t sent = rte_eth_tx_burst(ethdev_, 0, mbufs, static_cast<uint16_t>(count));
    rte_pktmbuf_free_bulk(mbufs + sent, count - sent);
    return sent;
  }
  /// Calls `seen` for each of our frames.
  template <typename Seen>
  void receive(Seen seen) {
    rte_mbuf* mbufs[kBurst];
    const uint16_t got = rte_eth_rx_burst(ethdev_, 0, mbufs, kBurst);
    for (uint16_t i = 0; i < got; ++i) {
      const Head* head = rte_pktmbuf_mtod(mbufs[i], const Head*);
      if (head->type == kEtherType) seen(*head, mbufs[i]->data_len);
    }
    rte_pktmbuf_free_bulk(mbufs, got);
  }

 private:
  uint16_t ethdev_;
  rte_mempool* pool_;
};

/// The same through DpdkPort: the body lies in attached memory and is sent in place where the port
/// can.
class ThroughPort {
 public:
  explicit ThroughPort(DpdkPort& port) : port_(port) {
    body_ = static_cast<std::byte*>(mmap(nullptr, kBodyBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    auto key = port.attach(body_, kBodyBytes);
    if (!key) throw std::runtime_error(key.sentence());
    key_ = *key;
  }
  static constexpr const char* kName = "port";
  uint32_t send(uint32_t number, uint32_t bytes, uint32_t count) {
    Head heads[kBurst];
    TxFrame frames[kBurst];
    for (uint32_t i = 0; i < count; ++i) {
      heads[i] = head_of(number + i);
      frames[i] = {reinterpret_cast<const std::byte*>(&heads[i]), kHeadBytes, bytes - kHeadBytes,
                   body_, key_};
    }
    return port_.tx(0, {frames, count});
  }
  template <typename Seen>
  void receive(Seen seen) {
    RxFrame frames[kBurst];
    const uint32_t got = port_.rx(0, frames);
    for (uint32_t i = 0; i < got; ++i) {
      const auto* head = reinterpret_cast<const Head*>(frames[i].data);
      if (head->type == kEtherType) seen(*head, frames[i].bytes);
    }
    port_.release(0, {frames, got});
  }

 private:
  static constexpr size_t kBodyBytes = 1 << 16;
  DpdkPort& port_;
  std::byte* body_;
  uint32_t key_ = 0;
};

template <typename Side>
class Bench {
 public:
  Bench(DpdkPort& port, Shared& shared, const Settings& settings)
      : side_(port), port_(port), clock_(tsc_ticks_per_s()), shared_(shared), settings_(settings) {}

  void run(uint32_t rank, uint32_t& run) {
    for (uint32_t size : settings_.sizes) {
      const uint32_t bytes = std::min(size, port_.facts().frame_bytes_max);
      for (uint32_t sender : {0u, 1u}) {
        shared_.barrier();
        if (rank == 0) shared_.sent = shared_.sender_ended = 0;
        shared_.barrier();
        if (rank == sender)
          stream_out(bytes);
        else
          stream_in(shared_.figures[run]);
        shared_.barrier();
        ++run;
      }
      if (rank == 0)
        ping(bytes, shared_.figures[run]);
      else
        pong(bytes);
      shared_.barrier();
      ++run;
    }
  }

 private:
  void stream_out(uint32_t bytes) {
    const uint64_t end = clock_.now_ns() + static_cast<uint64_t>(settings_.seconds * 1e9);
    uint32_t sent = 0;
    while (clock_.now_ns() < end) {
      for (int i = 0; i < 16; ++i) sent += side_.send(sent, bytes, kBurst);
    }
    for (int i = 0; i < 1000; ++i)
      side_.receive([](const Head&, uint32_t) {});  // pushes out what waits
    shared_.sent = sent;
    shared_.sender_ended = 1;
  }

  void stream_in(Figures& figures) {
    uint64_t frames = 0, bytes = 0, first = 0, last = 0;
    const uint64_t give_up = clock_.now_ns() + kGiveUpNs;
    for (uint64_t empty = 0; empty < 100'000 || shared_.sender_ended == 0;) {
      const uint64_t before = frames;
      side_.receive([&](const Head& head, uint32_t length) {
        ++frames;
        bytes += length;
        if (settings_.consume) consume(head, length);
      });
      const bool got = frames != before;
      empty = got ? 0 : empty + 1;
      if (got) last = clock_.now_ns();
      if (got && first == 0) first = last;
      if (!got && clock_.now_ns() > give_up) break;
    }
    const double seconds = static_cast<double>(last - first) * 1e-9;
    const double sent = static_cast<double>(shared_.sent.load());
    figures = {.mpps = static_cast<double>(frames) / seconds * 1e-6,
               .bytes_per_s = static_cast<double>(bytes) / seconds,
               // More may arrive than the sender counted: not less than nothing is lost.
               .lost = sent > 0 ? std::max(0.0, 1 - static_cast<double>(frames) / sent) : 0,
               .p50_us = 0,
               .p99_us = 0};
  }

  /// The least that any user of the frames does: the testpmd way leaves them in the sender's cache.
  void consume(const Head& head, uint32_t length) {
    const uint32_t body = length - kHeadBytes;
    if (consumed_at_ + body > consumed_.size()) consumed_at_ = 0;
    std::memcpy(consumed_.data() + consumed_at_, &head + 1, body);
    consumed_at_ += body;
  }

  void send_one(uint32_t number, uint32_t bytes) {
    const uint64_t give_up = clock_.now_ns() + kGiveUpNs;
    while (side_.send(number, bytes, 1) == 0 && clock_.now_ns() < give_up) cpu_relax();
  }

  /// False when frame `number` did not come back in time.
  bool await(uint32_t number, uint64_t patience_ns) {
    const uint64_t give_up = clock_.now_ns() + patience_ns;
    bool came = false;
    do {
      for (int i = 0; i < 64 && !came; ++i) {
        side_.receive([&](const Head& head, uint32_t) { came |= head.number == number; });
      }
    } while (!came && clock_.now_ns() < give_up);
    return came;
  }

  void ping(uint32_t bytes, Figures& figures) {
    std::vector<double> samples;
    uint32_t lost = 0;
    for (uint32_t i = 0; i < settings_.round_trips && lost < 100; ++i) {
      const uint64_t start = clock_.now_ns();
      send_one(i + 1, bytes);
      if (await(i + 1, 20'000'000))
        samples.push_back(static_cast<double>(clock_.now_ns() - start) * 1e-3);
      else
        ++lost;
    }
    for (int i = 0; i < 20; ++i) send_one(UINT32_MAX, bytes);  // the end, said often enough
    std::sort(samples.begin(), samples.end());
    figures = {};
    figures.lost = static_cast<double>(lost) / settings_.round_trips;
    if (samples.empty()) return;
    figures.p50_us = samples[samples.size() / 2];
    figures.p99_us = samples[samples.size() * 99 / 100];
  }

  void pong(uint32_t bytes) {
    bool ended = false;
    const uint64_t give_up = clock_.now_ns() + 12 * kGiveUpNs;
    while (!ended && clock_.now_ns() < give_up) {
      for (int i = 0; i < 1024 && !ended; ++i) {
        side_.receive([&](const Head& head, uint32_t) {
          ended |= head.number == UINT32_MAX;
          if (!ended) send_one(head.number, bytes);
        });
      }
    }
  }

  Side side_;
  DpdkPort& port_;
  TscClock clock_;
  Shared& shared_;
  const Settings& settings_;
  std::vector<std::byte> consumed_ = std::vector<std::byte>(1 << 20);
  size_t consumed_at_ = 0;
};

HugePages huge_of(const std::string& text) {
  return text == "never"    ? HugePages::kNever
         : text == "always" ? HugePages::kAlways
                            : HugePages::kAuto;
}

int one_rank(uint32_t rank, const Settings& settings, const std::string& directory,
             Shared& shared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (settings.pin) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(rank % static_cast<uint32_t>(cpus), &mine);
    sched_setaffinity(0, sizeof mine, &mine);
  }
  DpdkOptions options;
  options.fabric = settings.fabric;
  options.interface = settings.interface;
  options.rank = options.host_rank = rank;
  options.rank_count = options.host_rank_count = 2;
  options.job_directory = directory;
  options.memory_mib = 160;  // the port's own pool and the bare ethdev's
  options.huge = huge_of(settings.huge);
  options.ring_frames = settings.ring;
  auto device = bring_up_dpdk(options);
  if (!device) {
    std::fprintf(stderr, "raw_port: %s\n", device.sentence().c_str());
    shared.failed = 1;
    return 1;
  }
  if (rank == 0)
    std::snprintf(shared.description, sizeof shared.description, "%s",
                  (*device)->description().c_str());
  uint32_t run = 0;
  Bench<RawEthdev>((*device)->port(), shared, settings).run(rank, run);
  Bench<ThroughPort>((*device)->port(), shared, settings).run(rank, run);
  shared.barrier();  // memif may crash a rank that polls while its peer closes
  return shared.failed == 0 ? 0 : 1;
}

void print_tables(const Settings& settings, const Shared& shared) {
  std::printf("%s\n\n%-7s %6s  %22s  %22s  %20s\n", shared.description, "level", "bytes",
              "0 -> 1: Mpps, GB/s, lost", "1 -> 0: Mpps, GB/s, lost", "round trip: p50, p99 us");
  uint32_t run = 0;
  for (const char* level : {RawEthdev::kName, ThroughPort::kName}) {
    for (uint32_t size : settings.sizes) {
      const Figures& there = shared.figures[run++];
      const Figures& back = shared.figures[run++];
      const Figures& trip = shared.figures[run++];
      std::printf("%-7s %6u  %9.2f %7.2f %5.1f%%  %9.2f %7.2f %5.1f%%  %10.2f %9.2f\n", level, size,
                  there.mpps, there.bytes_per_s * 1e-9, there.lost * 100, back.mpps,
                  back.bytes_per_s * 1e-9, back.lost * 100, trip.p50_us, trip.p99_us);
    }
  }
}

void write_json(const Settings& settings, const Shared& shared) {
  nlohmann::json rows = nlohmann::json::array();
  uint32_t run = 0;
  for (const char* level : {RawEthdev::kName, ThroughPort::kName}) {
    for (uint32_t size : settings.sizes) {
      for (const char* direction : {"0->1", "1->0"}) {
        const Figures& f = shared.figures[run++];
        rows.push_back({{"level", level},
                        {"fabric", settings.fabric},
                        {"test", "stream"},
                        {"direction", direction},
                        {"bytes", size},
                        {"packets_per_s", f.mpps * 1e6},
                        {"bytes_per_s", f.bytes_per_s},
                        {"lost", f.lost}});
      }
      const Figures& f = shared.figures[run++];
      rows.push_back({{"level", level},
                      {"fabric", settings.fabric},
                      {"test", "pingpong"},
                      {"bytes", size},
                      {"p50_us", f.p50_us},
                      {"p99_us", f.p99_us}});
    }
  }
  std::ofstream(settings.json) << rows.dump(1) << "\n";
}

int run_both(const Settings& settings) {
  char name[] = "/tmp/raw_port-XXXXXX";
  if (mkdtemp(name) == nullptr) return 1;
  void* page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (page) Shared{};
  pid_t ranks[2];
  for (uint32_t rank = 0; rank < 2; ++rank) {
    ranks[rank] = fork();
    if (ranks[rank] == 0) _exit(one_rank(rank, settings, name, *shared));
  }
  bool good = true;
  for (int left = 2; left > 0; --left) {
    int status = 0;
    wait(&status);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) good = false;
    if (!good) shared->failed = 1;
  }
  std::filesystem::remove_all(name);
  if (!good) return 1;
  print_tables(settings, *shared);
  if (!settings.json.empty()) write_json(settings, *shared);
  return 0;
}

}  // namespace
}  // namespace pinwire

int main(int argc, char** argv) {
  pinwire::Settings settings;
  CLI::App app{"What a DPDK device does between two processes: bare, and through DpdkPort"};
  app.add_option("--fabric", settings.fabric, "pair, memif or af_packet")->capture_default_str();
  app.add_option("--iface", settings.interface, "interface of the af_packet fabric");
  app.add_option("--sizes", settings.sizes, "frame sizes in bytes, 64 to 9014")
      ->delimiter(',')
      ->check(CLI::Range(64, 9014))
      ->expected(1, 10);
  app.add_option("--seconds", settings.seconds, "of each stream")->capture_default_str();
  app.add_option("--round-trips", settings.round_trips, "of each ping-pong")->capture_default_str();
  app.add_flag("--consume", settings.consume,
               "the receiver of a stream copies bodies to a 1 MiB buffer");
  app.add_option("--ring", settings.ring, "descriptors of a queue")->capture_default_str();
  app.add_flag("!--no-pin", settings.pin, "let the two processes float");
  app.add_option("--huge-pages", settings.huge, "auto, never or always")->capture_default_str();
  app.add_option("--json", settings.json, "also write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  return pinwire::run_both(settings);
}
