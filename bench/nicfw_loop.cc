// Measures the time that one core spends on reliable Short messages when the wire costs a memcpy:
// two NICs in one thread, joined by a loop port, so that a message pays for its sender, its
// receiver and its share of the acknowledgements. Prints million messages per second of CPU time
// and nanoseconds per message.
//
// The rows "receive" time the receiver alone: puts of frames of 9,014 bytes from a source and to a
// target larger than any cache, while the receive buffers of a window stay in one, as those that a
// NIC writes do. The row "copy" is the floor: memcpy() between the same buffers.
//
//   nicfw_loop [messages [row...]]   all rows if none is named
//   nicfw_loop --rows                prints the rows' names
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/base/clock.h"
#include "nicfw/nic.h"
#include "nicfw/wire/body_hash.h"
#include "nicfw/wire/frame_tag.h"
#include "tests/support/loop_port.h"

namespace pinwire {
namespace {

/// Time on the CPU: what else the machine runs does not count.
uint64_t cpu_ns() noexcept { return static_cast<uint64_t>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)); }

class MonotonicClock final : public Clock {
 public:
  uint64_t now_ns() noexcept override { return monotonic_ns(); }
};

struct Pair {
  struct Wire {
    uint32_t frame_bytes_max = 1514;
    bool is_memory = false;
    FrameAuth auth = FrameAuth::kFull;
  };
  LoopPort ports[2];
  MonotonicClock clock;
  std::unique_ptr<Driver> nics[2];

  explicit Pair(bool coalesce) : Pair(coalesce, Wire{}) {}
  Pair(bool coalesce, const Wire& wire)
      : ports{LoopPort(1, wire.frame_bytes_max), LoopPort(2, wire.frame_bytes_max)} {
    ports[1].join(ports[0]);
    for (uint32_t r = 0; r < 2; ++r) {
      ports[r].set_memory_medium(wire.is_memory);
      NicConfig config;
      config.coalesce = coalesce;
      config.auth = wire.auth;
      nics[r] = make_nic(ports[r], clock, config);
      OpenInfo info;
      info.rank = r;
      info.rank_count = 2;
      info.job_key = 42;
      check(nics[r]->open(info).ok(), "open");
    }
    for (uint32_t r = 0; r < 4; ++r) {
      check(nics[r / 2]->connect(r % 2, nics[r % 2]->address()).ok(), "connect");
    }
  }

  uint32_t poll(uint32_t rank) {
    Recv out[64];
    const uint32_t count = nics[rank]->recv(0, RecvFilter::kAll, out);
    nics[rank]->give_back(0, std::span(out, count));
    return count;
  }
};

Work short_message(Rank peer, MessageClass cls, const uint64_t* head) {
  Work work{};
  work.op = Op::kSend;
  work.cls = cls;
  work.flags = kWorkSilent | kWorkCopied;
  work.head_bytes = 16;
  work.peer = peer;
  work.head = head;
  return work;
}

void report(const char* what, uint64_t messages, uint64_t ns, Pair& pair) {
  struct Sink final : StatSink {
    uint64_t frames = 0, repeats = 0, acks = 0;
    void stat(const char* name, uint64_t value) noexcept override {
      if (std::strcmp(name, "frames_sent") == 0) frames += value;
      if (std::strcmp(name, "retransmits") == 0) repeats += value;
      if (std::strcmp(name, "acks_sent") == 0) acks += value;
    }
  } sink;
  for (auto& nic : pair.nics) nic->stats(sink);
  std::printf(
      "%-34s %7.2f M/s  %6.1f ns/message  %.3f frames/message  %.3f acks/message  %llu repeated\n",
      what, static_cast<double>(messages) * 1e3 / static_cast<double>(ns),
      static_cast<double>(ns) / static_cast<double>(messages),
      static_cast<double>(sink.frames) / static_cast<double>(messages),
      static_cast<double>(sink.acks) / static_cast<double>(messages),
      static_cast<unsigned long long>(sink.repeats));
}

/// Requests one way; `batch` works for one post().
void flood(const char* what, bool coalesce, uint32_t batch, uint64_t messages) {
  Pair pair(coalesce);
  uint64_t head[2] = {0x1122334455667788, 7};
  Work works[64];
  for (Work& work : works) work = short_message(1, MessageClass::kRequest, head);
  uint64_t posted = 0;
  uint64_t received = 0;
  const uint64_t start = cpu_ns();
  while (received < messages) {
    for (uint32_t i = 0; i < 64 && posted < messages; i += batch) {
      const uint32_t taken = pair.nics[0]->post(0, std::span(works, batch));
      posted += taken;
      if (taken < batch) break;
    }
    received += pair.poll(1);
    pair.poll(0);
  }
  report(what, messages, cpu_ns() - start, pair);
}

/// Requests that are each answered by a reply; counts round trips.
void round_trips(const char* what, uint32_t depth, uint64_t count) {
  Pair pair(false);
  uint64_t head[2] = {0x1122334455667788, 7};
  const Work request = short_message(1, MessageClass::kRequest, head);
  const Work reply = short_message(0, MessageClass::kReply, head);
  uint64_t done = 0;
  uint64_t posted = 0;
  const uint64_t start = cpu_ns();
  while (done < count) {
    while (posted < count && posted - done < depth && pair.nics[0]->post(0, {&request, 1}) == 1)
      ++posted;
    Recv out[64];
    const uint32_t requests = pair.nics[1]->recv(0, RecvFilter::kAll, out);
    for (uint32_t i = 0; i < requests;) i += pair.nics[1]->post(0, {&reply, 1});
    pair.nics[1]->give_back(0, std::span(out, requests));
    done += pair.poll(0);
  }
  report(what, 2 * count, cpu_ns() - start, pair);
}

/// Posts `total` times the same one-sided operation between two pinned pieces of memory, 64 at a
/// time; returns how long it took.
uint64_t one_sided_flood(Pair& pair, Work work, uint64_t total) {
  std::vector<std::byte> near(work.bytes), far(work.bytes);
  const Region local = *pair.nics[0]->pin(near.data(), work.bytes, -1, 0);
  const Region remote = *pair.nics[1]->pin(far.data(), work.bytes, -1, 0);
  work.peer = 1;
  work.local = near.data();
  work.remote = remote.base;
  work.remote_key = remote.remote_key;
  work.local_key = local.local_key;
  uint64_t posted = 0;
  uint64_t finished = 0;
  const uint64_t start = cpu_ns();
  while (finished < total) {
    while (posted < total && posted - finished < 64 && pair.nics[0]->post(0, {&work, 1}) == 1)
      ++posted;
    pair.poll(1);
    pair.poll(0);
    Done done[64];
    finished += pair.nics[0]->done(0, done);
  }
  return cpu_ns() - start;
}

void put_flood(uint64_t bytes, uint64_t total) {
  Pair pair(true);
  Work work{};
  work.op = Op::kPut;
  work.bytes = bytes;
  const uint64_t puts = total / bytes;
  const uint64_t ns = one_sided_flood(pair, work, puts);
  std::printf("put flood of %-8llu bytes          %7.2f GB/s  %.1f ns/put\n",
              static_cast<unsigned long long>(bytes),
              static_cast<double>(puts * bytes) / static_cast<double>(ns),
              static_cast<double>(ns) / static_cast<double>(puts));
}

/// Gets and atomics of eight bytes: each is answered by a record.
void ask_flood(const char* what, Op op, uint64_t asks) {
  Pair pair(true);
  const AtomicOperands operands{AtomicCode::kAdd, 1, 0};
  Work work{};
  work.op = op;
  work.bytes = sizeof(uint64_t);
  work.head = &operands;
  const uint64_t ns = one_sided_flood(pair, work, asks);
  report(what, asks, ns, pair);
}

constexpr uint32_t kLargeFrame = 9014;
constexpr uint64_t kFarBytes = uint64_t{128} << 20;  ///< more than any cache
constexpr uint64_t kPutBytes = uint64_t{1} << 20;
constexpr uint64_t kPayload = 8880;  ///< of a put, in one such frame

/// Memory that is mapped before the clock runs.
struct FarMemory {
  explicit FarMemory(uint64_t total)
      : bytes(std::min(kFarBytes, total)), source(bytes, std::byte{5}), target(bytes) {}
  uint64_t bytes;
  std::vector<std::byte> source;
  std::vector<std::byte> target;
};

void report_received(const char* what, uint64_t bytes, uint64_t ns) {
  const double rate = static_cast<double>(bytes) / static_cast<double>(ns);
  std::printf("%-34s %7.1f Gb/s  %6.2f GB/s  %6.1f ns/frame\n", what, 8 * rate, rate,
              static_cast<double>(kPayload) / rate);
}

/// Streams `total` bytes, a multiple of kPutBytes, by puts, and times recv() of the target.
void receive(const char* what, const Pair::Wire& wire, uint64_t total) {
  Pair pair(true, wire);
  FarMemory memory(total);
  const Region local = *pair.nics[0]->pin(memory.source.data(), memory.bytes, -1, 0);
  const Region remote = *pair.nics[1]->pin(memory.target.data(), memory.bytes, -1, 0);
  uint64_t posted = 0;
  uint64_t finished = 0;
  uint64_t ns = 0;
  Work work{};
  work.op = Op::kPut;
  work.peer = 1;
  work.bytes = kPutBytes;
  work.local_key = local.local_key;
  work.remote_key = remote.remote_key;
  while (finished < total) {
    for (; posted < total && posted - finished < 4 * kPutBytes; posted += kPutBytes) {
      work.local = memory.source.data() + posted % memory.bytes;
      work.remote = remote.base + posted % memory.bytes;
      if (pair.nics[0]->post(0, {&work, 1}) != 1) break;
    }
    while (pair.ports[1].waiting() != 0) {
      const uint64_t start = cpu_ns();
      pair.poll(1);
      ns += cpu_ns() - start;
    }
    pair.poll(0);
    Done done[64];
    finished += kPutBytes * pair.nics[0]->done(0, done);
  }
  report_received(what, total, ns);
}

/// The floor of receive(): it copies the same bytes, a window of frames at a time, and does nothing
/// else.
void copy_floor(const char* what, uint64_t total) {
  constexpr uint64_t kFrames = 256;
  constexpr uint64_t kStride = 9088;
  FarMemory memory(std::max(total, kFrames * kPayload));
  std::vector<std::byte> buffers(kFrames * kStride);
  uint64_t copied = 0;
  uint64_t ns = 0;
  for (uint64_t at = 0; copied < total; at += kFrames * kPayload) {
    if (at + kFrames * kPayload > memory.bytes) at = 0;
    for (uint64_t f = 0; f < kFrames; ++f) {
      std::memcpy(&buffers[f * kStride], &memory.source[at + f * kPayload], kPayload);
    }
    const uint64_t start = cpu_ns();
    for (uint64_t f = 0; f < kFrames; ++f) {
      std::memcpy(&memory.target[at + f * kPayload], &buffers[f * kStride], kPayload);
    }
    ns += cpu_ns() - start;
    copied += kFrames * kPayload;
  }
  report_received(what, copied, ns);
}

void primitives() {
  std::vector<std::byte> data(8192, std::byte{7});
  const FrameKey key(42, 0);
  const BodyHash hash(key.hash_point());
  uint64_t sum = 0;
  uint64_t start = cpu_ns();
  for (uint64_t i = 0; i < 10'000'000; ++i) sum += key.tag(i, sum, i, i);
  std::printf("tag %.1f ns", static_cast<double>(cpu_ns() - start) / 1e7);
  for (const size_t bytes : {size_t{16}, size_t{64}, size_t{1408}, size_t{8192}}) {
    start = cpu_ns();
    for (uint64_t i = 0; i < 1'000'000; ++i)
      sum += hash.of(static_cast<uint32_t>(sum), data.data(), bytes);
    std::printf("  hash of %zu bytes %.1f ns", bytes, static_cast<double>(cpu_ns() - start) / 1e6);
  }
  std::printf("  (%llx)\n", static_cast<unsigned long long>(sum & 1));
}

struct Row {
  const char* name;
  void (*run)(const char* name, uint64_t messages);
};

template <uint64_t kBytes>
void put_flood_row(const char*, uint64_t messages) {
  put_flood(kBytes, std::min(messages * kBytes, messages * 400));
}

template <bool kIsMemory, FrameAuth kAuth>
void receive_row(const char* name, uint64_t messages) {
  const Pair::Wire wire{kLargeFrame, kIsMemory, kAuth};
  receive(name, wire, (messages * 400 / kPutBytes + 1) * kPutBytes);
}

constexpr Row kRows[] = {
    {"primitives", [](const char*, uint64_t) { primitives(); }},
    {"flood, a frame each", [](const char* name, uint64_t n) { flood(name, false, 1, n); }},
    {"flood, a frame each, 16 per post",
     [](const char* name, uint64_t n) { flood(name, false, 16, n); }},
    {"flood, coalesced", [](const char* name, uint64_t n) { flood(name, true, 1, n); }},
    {"flood, coalesced, 16 per post",
     [](const char* name, uint64_t n) { flood(name, true, 16, n); }},
    {"ping-pong, depth 1 (2 messages)",
     [](const char* name, uint64_t n) { round_trips(name, 1, n / 2); }},
    {"ping-pong, depth 64 (2 messages)",
     [](const char* name, uint64_t n) { round_trips(name, 64, n / 2); }},
    {"put flood of 8", put_flood_row<8>},
    {"put flood of 1024", put_flood_row<1024>},
    {"put flood of 65536", put_flood_row<65536>},
    {"put flood of 1048576", put_flood_row<1048576>},
    {"get flood of 8", [](const char* name, uint64_t n) { ask_flood(name, Op::kGet, n); }},
    {"atomic flood", [](const char* name, uint64_t n) { ask_flood(name, Op::kFetchOp, n); }},
    {"receive, memory medium", receive_row<true, FrameAuth::kFull>},
    {"receive, auth=full", receive_row<false, FrameAuth::kFull>},
    {"receive, auth=header", receive_row<false, FrameAuth::kHeader>},
    {"copy", [](const char* name, uint64_t n) { copy_floor(name, n * 400); }},
};

bool is_wanted(const Row& row, std::span<char*> names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const char* name) {
           return std::strcmp(name, row.name) == 0;
         });
}

}  // namespace
}  // namespace pinwire

int main(int argc, char** argv) {
  using namespace pinwire;
  if (argc == 2 && std::strcmp(argv[1], "--rows") == 0) {
    for (const Row& row : kRows) std::puts(row.name);
    return 0;
  }
  const uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 5'000'000;
  if (messages == 0) return 1;
  const std::span<char*> names(argv + std::min(argc, 2), argv + argc);
  for (const Row& row : kRows) {
    if (is_wanted(row, names)) row.run(row.name, messages);
  }
  return 0;
}
