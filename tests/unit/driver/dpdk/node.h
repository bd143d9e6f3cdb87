// One rank of a job over the dpdk driver alone: numbered messages to everyone, puts and gets.
#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "driver/dpdk/driver.h"
#include "tests/unit/driver/dpdk/options.h"
#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {

inline constexpr uint32_t kRegionBytes = 1 << 20;
inline constexpr uint32_t kAddressBytesMax = 64;
inline constexpr uint32_t kMessages = 5000;
inline constexpr double kPatience = 40;

/// Facts that the ranks trade before the network is up: a page shared by all of them.
struct Board {
  struct Entry {
    uint32_t address_bytes;
    std::byte address[kAddressBytesMax];
    Region region;
  } entries[8];
};

/// One rank's driver, its memory and the loop that moves them.
class Node {
 public:
  Node(uint32_t rank, uint32_t ranks, Meeting& meeting, Board& board)
      : rank_(rank), ranks_(ranks), meeting_(meeting), board_(board) {}

  std::string start(const DpdkOptions& options) {
    auto made = make_dpdk_driver(options);
    if (!made) return made.sentence();
    driver_ = std::move(*made);
    OpenInfo info;
    info.rank = rank_;
    info.rank_count = ranks_;
    info.job_key = 0x1234567890abcdef;
    if (Status opened = driver_->open(info); !opened) return opened.sentence();
    memory_ = static_cast<std::byte*>(mmap(nullptr, 2 * kRegionBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (uint32_t i = 0; i < kRegionBytes; ++i) memory_[i] = original(rank_, i);
    auto region = driver_->pin(memory_, 2 * kRegionBytes, -1, 0);
    if (!region) return region.sentence();
    region_ = *region;
    const std::vector<std::byte> address = driver_->address();
    Board::Entry& mine = board_.entries[rank_];
    mine.address_bytes = static_cast<uint32_t>(address.size());
    std::memcpy(mine.address, address.data(), address.size());
    mine.region = region_;
    if (!meeting_.barrier(ranks_, kPatience)) return "others did not come up";
    for (uint32_t peer = 0; peer < ranks_; ++peer) {
      const Board::Entry& other = board_.entries[peer];
      if (peer == rank_) continue;
      Status ok = driver_->connect(peer, {other.address, other.address_bytes});
      if (!ok) return ok.sentence();
    }
    if (!meeting_.barrier(ranks_, kPatience)) return "others did not connect";
    return "";
  }

  /// Everyone to everyone: kMessages numbered messages with payloads of many sizes.
  std::string all_to_all() {
    std::map<uint32_t, uint32_t> sent;
    const double begin = monotonic_s();
    uint32_t left = (ranks_ - 1) * kMessages;
    while (left > 0 || received_ < (ranks_ - 1) * kMessages) {
      for (uint32_t peer = 0; peer < ranks_; ++peer) {
        if (peer == rank_ || sent[peer] == kMessages) continue;
        if (send(peer, sent[peer])) {
          ++sent[peer];
          --left;
        }
      }
      if (std::string wrong = poll(); !wrong.empty()) return wrong;
      if (monotonic_s() - begin > kPatience) return "stuck: received " + std::to_string(received_);
    }
    return "";
  }

  /// Puts a pattern into the right neighbour's second half, gets its first half back.
  std::string put_and_get() {
    const uint32_t peer = (rank_ + 1) % ranks_;
    const Region& remote = board_.entries[peer].region;
    std::vector<Work> works;
    std::vector<std::byte> landed(kRegionBytes);
    const uint32_t step = 100'000;  // not a multiple of anything
    for (uint32_t at = 0; at < kRegionBytes; at += step) {
      const uint32_t bytes = std::min(step, kRegionBytes - at);
      Work put{};
      put.op = Op::kPut;
      put.peer = peer;
      put.local = memory_ + at;
      put.bytes = bytes;
      put.remote = remote.base + kRegionBytes + at;
      put.remote_key = remote.remote_key;
      put.local_key = region_.local_key;
      works.push_back(put);
      Work get = put;
      get.op = Op::kGet;
      get.local = landed.data() + at;
      get.local_key = kNoRegion;
      get.remote = remote.base + at;
      works.push_back(get);
    }
    const double begin = monotonic_s();
    uint32_t posted = 0;
    while (completed_ < works.size()) {
      if (posted < works.size()) {
        posted += driver_->post(0, {works.data() + posted, works.size() - posted});
      }
      if (std::string wrong = poll(); !wrong.empty()) return wrong;
      if (monotonic_s() - begin > kPatience) return "puts and gets stuck";
    }
    for (uint32_t i = 0; i < kRegionBytes; ++i) {
      if (landed[i] != original(peer, i)) return "got a wrong byte at " + std::to_string(i);
    }
    if (std::string wrong = settle(); !wrong.empty()) return wrong;
    const uint32_t left = (rank_ + ranks_ - 1) % ranks_;
    for (uint32_t i = 0; i < kRegionBytes; ++i) {
      if (memory_[kRegionBytes + i] != original(left, i)) return "was put a wrong byte";
    }
    return "";
  }

  /// A barrier during which the driver keeps answering its peers.
  std::string settle() {
    std::atomic_ref<uint64_t> arrived(meeting_.words[phase_++ % 8]);
    arrived.fetch_add(1);
    const double begin = monotonic_s();
    while (arrived.load() < ranks_) {
      if (std::string wrong = poll(); !wrong.empty()) return wrong;
      if (monotonic_s() - begin > kPatience) return "others did not settle";
    }
    for (int i = 0; i < 50; ++i) {
      if (std::string wrong = poll(); !wrong.empty()) return wrong;
    }
    return "";
  }

  /// Polls until the driver has counted some of `name`.
  std::string await_stat(const char* name) {
    struct Reader final : StatSink {
      void stat(const char* stat_name, uint64_t value) noexcept override {
        if (std::strcmp(stat_name, wanted) == 0) found = value;
      }
      const char* wanted;
      uint64_t found = 0;
    } reader;
    reader.wanted = name;
    for (const double begin = monotonic_s(); reader.found == 0; driver_->stats(reader)) {
      if (std::string wrong = poll(); !wrong.empty()) return wrong;
      if (monotonic_s() - begin > kPatience) return std::string("never counted: ") + name;
    }
    return "";
  }

  Driver& driver() { return *driver_; }

 private:
  struct Head {
    uint32_t number;
    uint32_t bytes;
  };

  static std::byte original(uint32_t rank, uint32_t at) {
    return static_cast<std::byte>((rank * 37 + at * 11 + (at >> 9)) & 0xff);
  }

  /// Bodies are shorter than this: than 3,000 bytes, and than what the port takes in one message.
  uint32_t body_bytes_end() const {
    return static_cast<uint32_t>(
        std::min<uint64_t>(3000, driver_->caps().send_bytes_max - sizeof(Head)));
  }

  bool send(uint32_t peer, uint32_t number) {
    const Head head{number, number * 13 % body_bytes_end()};
    Work work{};
    work.op = Op::kSend;
    work.flags = kWorkCopied | kWorkSilent;
    work.head_bytes = sizeof head;
    work.peer = peer;
    work.head = &head;
    work.local = memory_ + number;
    work.bytes = head.bytes;
    return driver_->post(0, {&work, 1}) == 1;
  }

  std::string check_message(const Recv& message) {
    Head head;
    std::memcpy(&head, message.data, sizeof head);
    uint32_t& expected = next_[message.peer];
    if (head.number >= kMessages || seen_[message.peer].contains(head.number))
      return "a message twice";
    seen_[message.peer][head.number] = true;
    ++expected;
    if (message.bytes != sizeof head + head.bytes) return "a message of a wrong length";
    for (uint32_t i = 0; i < head.bytes; ++i) {
      if (message.data[sizeof head + i] != original(message.peer, head.number + i))
        return "a wrong byte";
    }
    ++received_;
    return "";
  }

  std::string poll() {
    Recv messages[16];
    const uint32_t got = driver_->recv(0, RecvFilter::kAll, messages);
    std::string wrong;
    for (uint32_t i = 0; i < got && wrong.empty(); ++i) wrong = check_message(messages[i]);
    driver_->give_back(0, {messages, got});
    Done finished[16];
    const uint32_t done = driver_->done(0, finished);
    for (uint32_t i = 0; i < done; ++i) {
      if (finished[i].status != WorkStatus::kOk) wrong = "an operation failed";
    }
    completed_ += done;
    if (driver_->failure() != nullptr) wrong = driver_->failure()->sentence;
    if (got + done == 0) sched_yield();
    return wrong;
  }

  uint32_t rank_, ranks_;
  Meeting& meeting_;
  Board& board_;
  std::unique_ptr<Driver> driver_;
  std::byte* memory_ = nullptr;
  Region region_{};
  uint32_t received_ = 0, phase_ = 0;
  size_t completed_ = 0;
  std::map<uint32_t, uint32_t> next_;
  std::map<uint32_t, std::map<uint32_t, bool>> seen_;
};

/// Messages, puts and gets of one rank with all others; "" if all was right.
inline std::string run_rank(const DpdkOptions& options, Meeting& meeting, Board& board) {
  const uint32_t ranks = options.rank_count;
  Node node(options.rank, ranks, meeting, board);
  if (std::string wrong = node.start(options); !wrong.empty()) return "start: " + wrong;
  for (auto step : {&Node::all_to_all, &Node::put_and_get, &Node::settle}) {
    if (std::string wrong = (node.*step)(); !wrong.empty()) return wrong;
  }
  if (!meeting.barrier(ranks, kPatience)) return "others did not finish";
  node.driver().close();
  return "";
}

/// A board that all processes see.
class SharedBoard {
 public:
  SharedBoard()
      : board_(new (mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0)) Board{}) {}
  ~SharedBoard() { munmap(board_, sizeof(Board)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board& operator*() const { return *board_; }

 private:
  Board* board_;
};

}  // namespace pinwire
